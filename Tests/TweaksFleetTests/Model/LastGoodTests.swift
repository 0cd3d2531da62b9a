// Tests the files of the last good state and of the instance ID: complete, damaged, missing.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct LastGoodTests {
    private let keys = FleetKeys(name: "api")
    private let directory: TemporaryDirectory
    private var file: LastGoodFile { LastGoodFile(directory: directory.path, keys: keys) }

    init() throws { directory = try TemporaryDirectory() }

    private func pair(_ key: [UInt8], _ value: [UInt8], lease: Int64 = 0) -> EtcdKeyValue {
        EtcdKeyValue(key: key, value: value, createRevision: 5, modRevision: 6, lease: lease)
    }

    private func desired() throws -> DesiredState {
        let head = FleetHead(counter: FleetHead.maxCounter, by: "ana \"a\"", what: "set", at: RecordTests.at)
        let values = [("C ü", .min), ("Bad", 99), ("Worse", 98)] as [(String, Int64)]
        let rollouts: [(String, Rollout.State, Int64)] = [
            ("open", .open, 0), ("paused", .paused, 0), ("standing", .done, 0), ("leased", .done, 7),
        ]
        let pairs = try values.map { name, value in
            pair(try key("A/B/\(name)"), DesiredValue(value: .int(value), by: "ana", at: 0).bytes)
        }
        let records = try rollouts.map { id, state, lease in
            var rollout = try Rollout(id, ["A/B/C": .int(1)])
            rollout.state = state
            return pair(keys.rollout(id), rollout.bytes, lease: lease)
        }
        var state = DesiredState(keys: keys)
        state.replace(with: [pair(keys.head, head.bytes)] + pairs + records)
        #expect(state.problems.isEmpty)
        return state
    }

    private func key(_ path: String) throws -> [UInt8] { keys.value(try TweakPath(path)) }

    private func state() throws -> LastGood {
        let desired = try desired()
        let position = FleetPosition(clusterID: .max, revision: .max - 1, head: desired.head?.value)
        let good = ComposedValue(value: .int(7), by: "bob", at: 1, rollout: nil, revision: 4)
        var instead: [TweakPath: ComposedValue?] = [:]
        instead.updateValue(good, forKey: try TweakPath("A/B/Bad"))
        instead.updateValue(nil, forKey: try TweakPath("A/B/Worse"))
        return LastGood(position: position, desired: desired, instead: instead)
    }

    @Test func `The state contains values, standing rules, and the previous values of refused ones`() throws {
        let state = try state()
        let names = state.keys.map { String(decoding: $0.key.dropFirst(keys.desired.count), as: UTF8.self) }
        #expect(names == ["head", "rollouts/standing", "values/A/B/Bad", "values/A/B/C ü"])
        let bad = try #require(state.keys.dropFirst(2).first)
        #expect(try DesiredValue(bad.value) == DesiredValue(value: .int(7), by: "bob", at: 1) && bad.modRevision == 4)
        var read = DesiredState(keys: keys)
        read.replace(with: state.keys)
        #expect(read.problems.isEmpty && read.values.count == 2 && read.rollouts.keys.map(\.self) == ["standing"])
    }

    @Test func `A state survives encoding, also an empty and the largest one`() throws {
        let state = try state()
        #expect(try LastGood(state.bytes, keys) == state)
        let empty = LastGood(position: FleetPosition(clusterID: 0, revision: 0, head: nil), keys: [])
        #expect(try LastGood(empty.bytes, keys) == empty)
        let value = DesiredValue(value: .int(1), by: "ana", at: 0).bytes
        let pairs = try (0..<DesiredState.maxKeys).map { pair(try key("A/B/\($0)"), value) }
        let largest = LastGood(position: FleetPosition(clusterID: 1, revision: 1, head: nil), keys: pairs)
        #expect(try LastGood(largest.bytes, keys) == largest)
    }

    @Test func `A state is saved in a file that only the user can read, and loaded from it`() throws {
        #expect(try file.load() == nil)
        let state = try state()
        try file.save(state)
        try file.save(state)
        #expect(try file.load() == state)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["fleet-api.json"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("fleet-api.json"))
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
    }

    @Test func `A truncated file and a file with any changed byte are damaged`() throws {
        let bytes = try state().bytes
        for length in 0..<(bytes.count - 1) {
            #expect(throws: FleetProblem.self) { try LastGood(Array(bytes[..<length]), keys) }
        }
        for index in 0..<(bytes.count - 1) {
            var other = bytes
            other[index] ^= 1
            #expect(throws: FleetProblem.self) { try LastGood(other, keys) }
        }
        #expect(throws: FleetProblem.self) { try LastGood(bytes + bytes, keys) }
    }

    @Test(arguments: [
        #"{}"#, #"[]"#, #"{"cluster":"x","revision":1,"keys":[]}"#, #"{"cluster":"1","revision":-1,"keys":[]}"#,
        #"{"cluster":"1","revision":1,"keys":7}"#, #"{"cluster":"1","revision":1,"keys":[7]}"#,
        #"{"cluster":"1","revision":1,"keys":[{"key":"/tweaks/api/desired/head","value":"x","created":1,"modified":1}]}"#,
        #"{"cluster":"1","revision":1,"keys":[{"key":"/tweaks/apis/desired/x","value":"x","created":1,"modified":1}]}"#,
        #"{"cluster":"1","revision":1,"keys":[{"key":"/tweaks/api/desired/x","value":"x","created":1}]}"#,
    ])
    func `A malformed state with a correct checksum is a problem, too`(_ text: String) {
        let sum = String(FleetHash.fnv(text.utf8), radix: 16)
        #expect(throws: FleetProblem.self) { try LastGood(utf8("tweaks fleet 1 \(sum)\n\(text)\n"), keys) }
    }

    @Test func `The error for a damaged file contains its path; the next save replaces it`() throws {
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: directory.file("fleet-api.json")))
        let problem = #expect(throws: FleetProblem.self) { try file.load() }
        let text = "\(directory.path)/fleet-api.json: it is cut short; it is written again"
        #expect(problem?.text.contains(text) == true)
        try file.save(try state())
        #expect(try file.load() == state())
    }

    @Test func `In a missing directory loading returns nil, and saving fails`() throws {
        let file = LastGoodFile(directory: directory.file("none"), keys: keys)
        #expect(try file.load() == nil)
        let problem = #expect(throws: FleetProblem.self) { try file.save(try state()) }
        #expect(problem?.text.contains(directory.file("none")) == true)
    }
}

@Suite struct FleetIdentityTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func identity(_ given: String? = nil) -> FleetIdentity {
        FleetIdentity(given, labels: ["zone": "eu"], directory: directory.path)
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file("instance-id")))
    }

    @Test func `A configured ID is used and not saved`() throws {
        let identity = identity("pod-7")
        #expect(identity.instance == FleetInstance(id: "pod-7", labels: ["zone": "eu"]) && !identity.isUnstable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `A generated ID is saved in the directory and loaded from it`() throws {
        let first = identity()
        #expect(!first.isUnstable && first == identity() && FleetInstance.isID(first.instance.id))
        try write("web-1\n")
        #expect(identity().instance.id == "web-1")
        try write("web-2")
        #expect(identity().instance.id == "web-2")
    }

    @Test(arguments: ["", "\n", "a b\n", "a\nb\n", "a\r\n", String(repeating: "a", count: 64), "\u{0}"])
    func `An invalid ID is replaced by a new one`(_ text: String) throws {
        try write(text)
        let identity = identity()
        #expect(!identity.isUnstable && FleetInstance.isID(identity.instance.id) && identity.instance.id.count == 16)
        #expect(self.identity() == identity)
    }

    @Test func `Without a directory the ID is different each time, and marked as unstable`() {
        for directory in [nil, directory.file("none")] {
            let identities = (0..<2).map { _ in FleetIdentity(nil, labels: [:], directory: directory) }
            #expect(identities.allSatisfy(\.isUnstable) && identities[0].instance.id != identities[1].instance.id)
        }
    }
}
