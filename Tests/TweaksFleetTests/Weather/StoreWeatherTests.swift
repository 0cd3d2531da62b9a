// Stores that are emptied, restored, full, or hold what is no fleet's.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .serialized, .tags(.process)) struct StoreWeatherTests {
    // MARK: Not what it was

    enum Loss: CaseIterable { case wiped, restored, deleted }

    @Test(arguments: Loss.allCases) func `A store that has lost what was applied changes nothing until it is adopted`(
        loss: Loss
    ) async throws {
        let weather = try await Weather.start()
        try await weather.set("A/B/Size", .number(60))
        if loss == .restored { try await weather.server.saveData() }
        try await weather.set("A/B/Size", .number(70))
        let directory = try TemporaryDirectory()
        let process = try weather.process(directory: directory)
        await process.wait(process.size, 70)
        switch loss {
        case .wiped: try await weather.server.wipe()
        case .restored: try await weather.server.restoreData()
        case .deleted: try await weather.delete(.prefix(weather.keys.desired))
        }
        await process.log.wait(for: "tweakctl fleet api adopt")
        await weather.wait { $0.first?.status.trouble != nil }
        // Somebody who has not looked writes on it, and nothing comes of that.
        try await weather.set("A/B/Count", .int(5))
        // A process that starts anew sees what the old one saw.
        await process.stop()
        let second = try weather.process(directory: directory)
        await second.log.wait(for: "tweakctl fleet api adopt")
        await weather.wait { $0.first?.status.trouble != nil }
        #expect(second.size.value == 70 && second.count.value == 1)
        _ = try await weather.fleet().adopt(atLeast: 10)
        await second.wait(second.count, 5)
        #expect(second.size.value == (loss == .restored ? 60 : 50))
        await weather.wait { $0.first.map { $0.status.trouble == nil } ?? false }
        await second.stop()
    }

    // MARK: Full

    @Test func `A full store can be followed and aborted on, and takes writes again when there is room`() async throws {
        let weather = try await Weather.start(flags: ["--quota-backend-bytes=1048576"])
        try await weather.set("A/B/Size", .number(60))
        let process = try weather.process()
        await process.wait(process.size, 60)
        _ = try await weather.fleet().begin(weather.plan("A/B/Size", .number(80)))
        await process.wait(process.size, 80)
        await weather.wait { $0.count == 1 }
        let junk = [UInt8](repeating: 0x41, count: 100_000)
        await #expect(throws: EtcdError.self) {
            for number in 0..<100 { try await weather.put(Array("/junk/\(number)".utf8), junk) }
        }
        let refusal = await #expect(throws: FleetRefusal.self) {
            _ = try await weather.fleet().set([FleetAssignment(try TweakPath("A/B/Count"), .int(2))])
        }
        guard case .noSpace? = refusal?.etcd else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        let receipt = try await weather.fleet().abort("r1")
        #expect(receipt.sequence == nil && receipt.notes.count == 1)
        await process.wait(process.size, 60)
        // It holds on to its lease, so that its status is not lost.
        #expect(try await weather.etcd.range(EtcdRange(.prefix(weather.keys.instances))).keys.count == 1)
        try await makeRoom(weather, receipt.header.revision)
        try await weather.set("A/B/Count", .int(3))
        await process.wait(process.count, 3)
        let revision = try await weather.fleet().look().head?.modRevision ?? 0
        await weather.wait { $0.first.map { $0.status.revision >= revision } ?? false }
        await process.stop()
    }

    private func makeRoom(_ weather: Weather, _ revision: Int64) async throws {
        try await weather.delete(.prefix(Array("/junk/".utf8)))
        let now = try await weather.fleet().look().header.revision
        try await weather.server.post("kv/compaction", "{\"revision\":\"\(now)\",\"physical\":true}")
        try await weather.server.post("maintenance/defragment", "{}")
        // By member, as `etcdctl alarm disarm` does.
        let list = try await weather.server.post("maintenance/alarm", "{\"action\":\"GET\"}").body
        for alarm in list["alarms"]?.elements ?? [] {
            let member = alarm["memberID"]?.string ?? "0"
            try await weather.server.post(
                "maintenance/alarm",
                "{\"action\":\"DEACTIVATE\",\"memberID\":\"\(member)\",\"alarm\":\"NOSPACE\"}")
        }
    }

    // MARK: Keys that are none

    @Test func `Garbage, foreign and huge keys harm themselves alone`() async throws {
        let weather = try await Weather.start()
        try await weather.set("A/B/Size", .number(60))
        let process = try weather.process()
        await process.wait(process.size, 60)
        let keys = weather.keys
        let huge = [UInt8](repeating: 0x20, count: 1_400_000)
        let longName = String(repeating: "n", count: 30_000)
        try await weather.put(keys.value(try TweakPath("A/B/Size")), Array("{\"kind\":".utf8))
        try await weather.put(keys.desired + [0xFF, 0x00, 0x0A], [0xFF, 0x00])
        try await weather.put(keys.desired + Array("other/program".utf8), huge)
        try await weather.put(keys.values + Array("X/Y/Huge".utf8), huge)
        try await weather.put(keys.values + Array(longName.utf8), [])
        try await weather.put(keys.rollouts + Array("bad".utf8), huge)
        try await weather.put(keys.instances + Array("i9/not-a-time".utf8), huge)
        try await weather.put(keys.builds + Array("beef".utf8), huge)
        try await weather.put(keys.log + Array("garbage".utf8), [0x00])
        try await weather.set("A/B/Count", .int(2))
        await process.wait(process.count, 2)
        #expect(process.size.value == 60)
        // And so it is to one that reads all of it.
        let second = try weather.process("i2")
        await second.wait(second.count, 2)
        await process.log.wait(for: "/tweaks/api/desired/other/program: it is not a key of a fleet")
        await process.log.wait(for: "/tweaks/api/desired/values/A/B/Size: ")
        let population = try await weather.fleet().population()
        #expect(population.garbage.count == 1)
        _ = try await weather.fleet().abort("bad")
        for process in [process, second] { await process.stop() }
    }

    @Test func `More keys than a fleet has are not followed, until they are fewer`() async throws {
        let weather = try await Weather.start()
        try await weather.set("A/B/Size", .number(60))
        let process = try weather.process()
        await process.wait(process.size, 60)
        let value = DesiredValue(value: .int(1), by: "script", at: 0).bytes
        for batch in 0..<101 {
            let puts = (0..<100).map {
                EtcdTransaction.Operation.put(
                    key: weather.keys.values + Array("Many/B\(batch)/V\($0)".utf8), value: value)
            }
            _ = try await weather.etcd.commit(EtcdTransaction(then: puts))
        }
        await process.log.wait(for: "more than 10000 keys")
        try await weather.set("A/B/Size", .number(61))
        await weather.wait { $0.first?.status.trouble != nil }
        #expect(process.size.value == 60)
        try await weather.delete(.prefix(weather.keys.values + Array("Many/B7".utf8)))
        try await weather.delete(.prefix(weather.keys.values + Array("Many/B8".utf8)))
        await process.wait(process.size, 61)
        await process.stop()
    }
}
