// Tests the files of the last good state: changes after a whole state, cut lines, other bases, and when they are saved.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.prompt) struct LastGoodFileTests {
    private let keys = FleetKeys(name: "api")
    private let directory: TemporaryDirectory
    private var file: LastGoodFile { LastGoodFile(directory: directory.path, keys: keys) }
    private var changes: URL { URL(fileURLWithPath: directory.file("fleet-api.changes")) }

    init() throws { directory = try TemporaryDirectory() }

    private func pair(_ name: String, _ value: Int64, revision: Int64) throws -> EtcdKeyValue {
        EtcdKeyValue(
            key: keys.value(try TweakPath("A/B/\(name)")),
            value: DesiredValue(value: .int(value), by: "ana", at: 0).bytes,
            createRevision: 1, modRevision: revision)
    }

    private func head(_ counter: UInt64, revision: Int64) -> EtcdKeyValue {
        let head = FleetHead(counter: counter, by: "ana", what: "set", at: 0)
        return EtcdKeyValue(key: keys.head, value: head.bytes, createRevision: 1, modRevision: revision)
    }

    private func position(_ revision: Int64, _ head: EtcdKeyValue) throws -> FleetPosition {
        FleetPosition(clusterID: 7, revision: revision, head: try FleetHead(head.value))
    }

    /// A state with two values at revision 2.
    private func base() throws -> LastGood {
        let head = head(1, revision: 2)
        return LastGood(
            position: try position(2, head), keys: [head, try pair("C", 1, revision: 2), try pair("D", 2, revision: 2)])
    }

    /// Sets C to a number, and removes D.
    private func change(_ value: Int64, revision: Int64) throws -> LastGoodUpdate {
        let head = head(UInt64(revision), revision: revision)
        var changes: [[UInt8]: EtcdKeyValue?] = [head.key: head]
        let (c, d) = (try pair("C", value, revision: revision), try pair("D", 0, revision: 0))
        changes[c.key] = c
        changes.updateValue(nil, forKey: d.key)
        return .changes(try position(revision, head), changes)
    }

    private func append(_ updates: LastGoodUpdate..., to log: inout LastGoodLog) throws {
        for update in updates {
            if case .changes(let position, let changes) = update { try log.append(LastGood.line(changes, position)) }
        }
    }

    private func texts(_ state: LastGood?) throws -> [String] {
        let state = try #require(state)
        return ["\(state.position.head?.counter ?? 0) at \(state.position.revision)"]
            + state.keys.dropFirst().map { "\(String(decoding: $0.key.suffix(1), as: UTF8.self)) \($0.modRevision)" }
    }

    @Test func `Changes are appended, and loaded with what they follow`() throws {
        var log = try file.save(try base())
        #expect(try texts(file.load()) == ["1 at 2", "C 2", "D 2"])
        try append(try change(3, revision: 3), try change(4, revision: 4), to: &log)
        #expect(try texts(file.load()) == ["4 at 4", "C 4"])
        let attributes = try FileManager.default.attributesOfItem(atPath: changes.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
        // A whole state removes them.
        try file.save(try base())
        #expect(!FileManager.default.fileExists(atPath: changes.path))
    }

    @Test func `A cut or damaged line and all after it are left out`() throws {
        var log = try file.save(try base())
        try append(try change(3, revision: 3), to: &log)
        let short = try Data(contentsOf: changes).count
        try append(try change(4, revision: 4), to: &log)
        let whole = try Data(contentsOf: changes)
        for length in 0...whole.count {
            try whole.prefix(length).write(to: changes)
            let expected = length < short - 1 ? "1 at 2" : length < whole.count - 1 ? "3 at 3" : "4 at 4"
            #expect(try texts(file.load()).first == expected, "\(length) of \(whole.count) bytes")
        }
        for index in whole.indices where index != short - 1 && index != whole.count - 1 {
            var other = whole
            other[index] ^= 1
            try other.write(to: changes)
            #expect(try ["1 at 2", "3 at 3"].contains(texts(file.load()).first), "byte \(index)")
        }
    }

    @Test func `Changes to another file are ignored`() throws {
        var log = try file.save(try base())
        try append(try change(3, revision: 3), to: &log)
        let kept = try Data(contentsOf: changes)
        var other = try base()
        other.position.revision = 9
        try file.save(other)
        try kept.write(to: changes)
        #expect(try texts(file.load()).first == "1 at 9")
    }

    @Test func `Changes with keys of another fleet are left out`() throws {
        var log = try file.save(try base())
        let foreign = EtcdKeyValue(key: utf8("/tweaks/web/desired/values/A/B/C"), value: utf8("{}"))
        try log.append(LastGood.line([foreign.key: foreign], try position(3, head(3, revision: 3))))
        #expect(try texts(file.load()).first == "1 at 2")
    }

    // MARK: Saving

    /// A keeper, and the results of its writes.
    private func keeper(
        _ file: LastGoodFile
    ) -> (LastGoodKeeper, AsyncStream<Result<FleetPosition, FleetProblem>>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Result<FleetPosition, FleetProblem>.self)
        let own = Mutex<LastGoodKeeper?>(nil)
        let keeper = LastGoodKeeper(file, interval: .zero) {
            if let result = own.withLock({ $0?.takeResult() }) { continuation.yield(result) }
        }
        own.withLock { $0 = keeper }
        return (keeper, stream)
    }

    @Test func `Each update is saved at once, and the last one is on disk when its keeper has finished`() async throws {
        let (keeper, saved) = keeper(file)
        var iterator = saved.makeAsyncIterator()
        #expect(keeper.needsWhole)
        keeper.save(.whole(try base()))
        #expect(try await iterator.next()?.get().revision == 2)
        #expect(!keeper.needsWhole)
        keeper.save(try change(3, revision: 3))
        #expect(try await iterator.next()?.get().revision == 3)
        #expect(try texts(file.load()) == ["3 at 3", "C 3"])
        for revision in 4...20 as ClosedRange<Int64> { keeper.save(try change(revision, revision: revision)) }
        await keeper.finish()
        #expect(try texts(file.load()) == ["20 at 20", "C 20"])
    }

    @Test func `After many changes the whole state is saved again`() async throws {
        let (keeper, saved) = keeper(file)
        var iterator = saved.makeAsyncIterator()
        keeper.save(.whole(try base()))
        _ = await iterator.next()
        var revision: Int64 = 3
        while !keeper.needsWhole {
            keeper.save(try change(revision, revision: revision))
            _ = await iterator.next()
            revision += 1
        }
        #expect(try Data(contentsOf: changes).count < 300_000 && revision > 100)
        keeper.save(.whole(try base()))
        _ = await iterator.next()
        #expect(!keeper.needsWhole && !FileManager.default.fileExists(atPath: changes.path))
    }

    @Test func `After a failure nothing is appended until the whole state is saved`() async throws {
        let (keeper, saved) = keeper(LastGoodFile(directory: directory.file("later"), keys: keys))
        var iterator = saved.makeAsyncIterator()
        keeper.save(.whole(try base()))
        #expect(await iterator.next()?.problem?.contains("later") == true)
        try FileManager.default.createDirectory(
            atPath: directory.file("later"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        keeper.save(try change(3, revision: 3))
        #expect(await iterator.next()?.problem != nil && keeper.needsWhole)
        keeper.save(.whole(try base()))
        #expect(await iterator.next()?.problem == nil)
        #expect(try texts(LastGoodFile(directory: directory.file("later"), keys: keys).load()).first == "1 at 2")
    }

    @Test func `A process reports what it has applied once that is on disk`() async throws {
        let (etcd, time) = (MemoryEtcd(), ManualClock(wall: 1_700_000_000_000))
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try FollowingProcess(etcd, keys, directory: directory.path, time: time)
        // Another program's directory is in the place of the file.
        try FileManager.default.createDirectory(
            atPath: directory.file("fleet-api.json"), withIntermediateDirectories: false)
        process.start()
        await process.wait(process.size, 60)
        await process.log.wait(for: "the last good state on disk is an older one")
        func wait(_ isMatch: @escaping @Sendable (FleetStatus) -> Bool) async throws {
            try await time.pass { [keys] in
                try await etcd.wait(keys.instances) { (try? FleetStatus($0.pair.value)).map(isMatch) ?? false }
            }
        }
        try await wait { $0.revision == 0 && $0.head == 0 && $0.trouble?.contains("fleet-api.json") == true }
        try FileManager.default.removeItem(atPath: directory.file("fleet-api.json"))
        try await wait { $0.revision > 0 && $0.head == 1 && $0.trouble == nil }
        #expect(try file.load()?.position.head?.counter == 1)
        await process.stop()
    }
}

extension Result<FleetPosition, FleetProblem> {
    fileprivate var problem: String? { if case .failure(let problem) = self { problem.text } else { nil } }
}
