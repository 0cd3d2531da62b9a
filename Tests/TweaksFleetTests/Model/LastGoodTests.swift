// Checks the file of the last good state, and the ID of an instance: whole, damaged, foreign, missing.

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
        var (open, paused) = (try Rollout("open", ["A/B/C": .int(1)]), try Rollout("paused", ["A/B/C": .int(2)]))
        var (standing, leased) = (
            try Rollout("standing", ["A/B/D": .int(3)]), try Rollout("leased", ["A/B/E": .int(4)])
        )
        (open.state, paused.state, standing.state, leased.state) = (.open, .paused, .done, .done)
        var state = DesiredState(keys: keys)
        state.replace(
            with: [
                pair(keys.head, FleetHead(counter: .max, by: "ana \"a\"", what: "set", at: RecordTests.at).bytes),
                pair(try value("A/B/C ü"), DesiredValue(value: .int(.min), by: "ana", at: 0).bytes),
                pair(try value("A/B/Bad"), DesiredValue(value: .int(99), by: "ana", at: 0).bytes),
                pair(try value("A/B/Worse"), DesiredValue(value: .int(98), by: "ana", at: 0).bytes),
            ]
                + [open, paused, standing].map { pair(keys.rollout($0.id), $0.bytes) }
                + [pair(keys.rollout("leased"), leased.bytes, lease: 7)])
        #expect(state.problems.isEmpty)
        return state
    }

    private func value(_ path: String) throws -> [UInt8] { keys.value(try TweakPath(path)) }

    private func state() throws -> LastGood {
        let desired = try desired()
        let position = FleetPosition(clusterID: .max, revision: .max - 1, head: desired.head?.value)
        let good = ComposedValue(value: .int(7), by: "bob", at: 1, rollout: nil, revision: 4)
        var instead: [TweakPath: ComposedValue?] = [:]
        instead.updateValue(good, forKey: try TweakPath("A/B/Bad"))
        instead.updateValue(nil, forKey: try TweakPath("A/B/Worse"))
        return LastGood(position: position, desired: desired, instead: instead)
    }

    @Test func `It holds values and standing rules, and of refused values what was good before`() throws {
        let state = try state()
        #expect(
            state.keys.map { String(decoding: $0.key.dropFirst(keys.desired.count), as: UTF8.self) }
                == ["head", "rollouts/standing", "values/A/B/Bad", "values/A/B/C ü"])
        let bad = try #require(state.keys.first { $0.key.ends(with: "Bad") })
        #expect(try DesiredValue(bad.value) == DesiredValue(value: .int(7), by: "bob", at: 1) && bad.modRevision == 4)
        var read = DesiredState(keys: keys)
        read.replace(with: state.keys)
        #expect(read.problems.isEmpty && read.values.count == 2 && read.rollouts.keys.map(\.self) == ["standing"])
    }

    @Test func `It is read back as it was written, also without a head or any key`() throws {
        let state = try state()
        #expect(try LastGood(state.bytes, keys) == state)
        let empty = LastGood(position: FleetPosition(clusterID: 0, revision: 0, head: nil), keys: [])
        #expect(try LastGood(empty.bytes, keys) == empty)
    }

    @Test func `It is saved in a file that only its user reads, and loaded from there`() throws {
        #expect(try file.load() == nil)
        let state = try state()
        try file.save(state)
        try file.save(state)
        #expect(try file.load() == state)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["fleet-api.json"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("fleet-api.json"))
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
    }

    @Test func `A file that is cut short anywhere, or has any byte changed, is known for damaged`() throws {
        let bytes = try state().bytes
        for length in 0..<(bytes.count - 1) {
            #expect(throws: FleetProblem.self) { try LastGood(Array(bytes[..<length]), keys) }
        }
        for place in 0..<(bytes.count - 1) {
            var other = bytes
            other[place] ^= 1
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
    func `What has the right sum and is no state is a problem, too`(_ text: String) {
        let sum = String(FleetHash.fnv(text.utf8), radix: 16)
        #expect(throws: FleetProblem.self) { try LastGood(Array("tweaks fleet 1 \(sum)\n\(text)\n".utf8), keys) }
    }

    @Test func `A damaged file is named, with what comes of it, and replaced by the next save`() throws {
        try Data("garbage".utf8).write(to: URL(fileURLWithPath: directory.file("fleet-api.json")))
        let problem = #expect(throws: FleetProblem.self) { try file.load() }
        #expect(
            problem?.text.contains("\(directory.path)/fleet-api.json: it is cut short; it is written again") == true)
        try file.save(try state())
        #expect(try file.load() == state())
    }

    @Test func `A directory that is not there is a file that is not there, and cannot be saved in`() throws {
        let file = LastGoodFile(directory: directory.file("none"), keys: keys)
        #expect(try file.load() == nil)
        let problem = #expect(throws: FleetProblem.self) { try file.save(try state()) }
        #expect(problem?.text.contains(directory.file("none")) == true)
    }

    @Test func `The largest fleet there can be is kept`() throws {
        let value = DesiredValue(value: .int(1), by: "ana", at: 0).bytes
        let pairs = try (0..<DesiredState.mostKeys).map { pair(try self.value("A/B/\($0)"), value) }
        let state = LastGood(position: FleetPosition(clusterID: 1, revision: 1, head: nil), keys: pairs)
        #expect(try LastGood(state.bytes, keys) == state)
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

    @Test func `An ID that is given counts, and is not kept`() throws {
        let identity = identity("pod-7")
        #expect(identity.instance == FleetInstance(id: "pod-7", labels: ["zone": "eu"]) && !identity.isUnstable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `An ID is made once for a directory, and read from there`() throws {
        let first = identity()
        #expect(!first.isUnstable && first == identity() && FleetInstance.isID(first.instance.id))
        try write("web-1\n")
        #expect(identity().instance.id == "web-1")
        try write("web-2")
        #expect(identity().instance.id == "web-2")
    }

    @Test(arguments: ["", "\n", "a b\n", "a\nb\n", "a\r\n", String(repeating: "a", count: 64), "\u{0}"])
    func `An ID that there cannot be is replaced by a new one`(_ text: String) throws {
        try write(text)
        let identity = identity()
        #expect(!identity.isUnstable && FleetInstance.isID(identity.instance.id) && identity.instance.id.count == 16)
        #expect(self.identity() == identity)
    }

    @Test func `Without a directory the ID is another one each time, and said to be`() {
        for place in [nil, directory.file("none")] {
            let identities = (0..<2).map { _ in FleetIdentity(nil, labels: [:], directory: place) }
            #expect(identities.allSatisfy(\.isUnstable) && identities[0].instance.id != identities[1].instance.id)
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
