// Tests processes whose store was restored while they did not see it, and operators who write to such a store.

import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.prompt) struct PastTests {
    private let harness = OperatorHarness()
    private let time = ManualClock(wall: 1_700_000_000_000)
    private let partition = Partition()
    private var etcd: MemoryEtcd { harness.etcd }
    private var keys: FleetKeys { harness.keys }
    private var fleet: FleetOperator { harness.fleet() }

    private func start(_ directory: TemporaryDirectory? = nil) throws -> FollowingProcess {
        let process = try FollowingProcess(
            InterposedEtcd.behind(partition, etcd), keys, directory: directory?.path, time: time)
        process.start()
        return process
    }

    private func set(_ value: Double) async throws {
        _ = try await fleet.set([try harness.assignment("A/B/Size", .number(value))])
    }

    /// Cuts the process off, and ends its watch.
    private func cut() {
        partition.isCut = true
        etcd.setFaults { $0.isUnreachable = true }
        etcd.setFaults { $0.isUnreachable = false }
    }

    /// Waits for a status of the process.
    private func wait(_ isMatch: @escaping @Sendable (FleetStatus) -> Bool) async throws {
        try await time.pass { [etcd, keys] in
            try await etcd.wait(keys.instances) { (try? FleetStatus($0.pair.value)).map(isMatch) ?? false }
        }
    }

    /// Starts a process that has applied 61 and 62 after the snapshot that a store is restored from, unseen by the
    /// process; then operators write this many times.
    private func diverged(writes: Int, _ directory: TemporaryDirectory? = nil) async throws -> FollowingProcess {
        try await set(60)
        let snapshot = etcd.snapshot
        try await set(61)
        try await set(62)
        let process = try start(directory)
        await process.wait(process.size, 62)
        try await wait { $0.head == 3 }
        partition.isCut = true
        let alive = etcd.all(keys.instances)
        etcd.restore(snapshot)
        #expect(alive.count == 1 && etcd.all(keys.instances).isEmpty)
        for number in 0..<writes { try await set(Double(70 + number)) }
        return process
    }

    @Test(arguments: [1, 2, 3, 4])
    func `A store that was restored unseen, and written to, is not applied until it is adopted`(
        writes: Int
    ) async throws {
        let process = try await diverged(writes: writes)
        partition.isCut = false
        try await time.pass { await process.log.wait(for: "other past: ") }
        try await wait { $0.isApart && $0.trouble?.hasPrefix("other past: ") == true && $0.held != nil }
        #expect(process.size.value == 62)
        // Nothing is written that the process would not follow.
        let text = await refusal { try await set(99) }
        #expect(text.contains("1 process holds writes that this etcd does not have, such as i1 (write 3, and here"))
        #expect(text.contains("adopt"))
        let live = try await fleet.instanceStatuses().live
        let adoption = FleetAdoption(try await fleet.readState(), live)
        let last = TweakValue.number(Double(69 + writes))
        #expect(
            adoption.changes
                == [.init(path: try TweakPath("A/B/Size"), old: .number(62), new: last, count: 1)])
        let distribution = ValueDistribution(
            try await fleet.readState(), live, try await fleet.builds(), keys: keys, where: { _ in true })
        #expect(
            distribution.of(try TweakPath("A/B/Size"))
                == [.init(count: 1, text: "62, kept from another past", isReported: true)])
        _ = try await fleet.adopt()
        try await time.pass { await process.wait(process.size, Double(69 + writes)) }
        try await wait { !$0.isApart && $0.trouble == nil && $0.held == nil }
        try await set(99)
        try await time.pass { await process.wait(process.size, 99) }
    }

    @Test func `A process that starts again knows its past`() async throws {
        let directory = try TemporaryDirectory()
        let first = try await diverged(writes: 4, directory)
        await first.stop()
        partition.isCut = false
        let second = try start(directory)
        #expect(second.size.value == 62)
        try await time.pass {
            await second.log.wait(for: "other past: write 3 of etcd is not the one that was applied")
        }
        #expect(second.size.value == 62)
    }

    @Test func `A store that no longer has the record of a process's past is not applied`() async throws {
        try await set(60)
        let process = try start()
        await process.wait(process.size, 60)
        cut()
        etcd.compact()
        try await set(61)
        try await set(62)
        etcd.delete(.key(keys.chain(1)))
        etcd.compact()
        partition.isCut = false
        try await time.pass { await process.log.wait(for: "unproven: ") }
        #expect(process.size.value == 60)
        _ = try await fleet.adopt()
        try await time.pass { await process.wait(process.size, 62) }
    }

    @Test func `A process that missed writes follows without being adopted`() async throws {
        try await set(60)
        let process = try start()
        await process.wait(process.size, 60)
        cut()
        for number in 61...65 { try await set(Double(number)) }
        etcd.compact()
        partition.isCut = false
        try await time.pass { await process.wait(process.size, 65) }
        #expect(!process.log.contains("past"), "\(process.log.all)")
    }

    @Test func `A temporary value that expired in a partition does not come back`() async throws {
        try await set(60)
        let process = try start()
        await process.wait(process.size, 60)
        let seen = Mutex<[Double]>([])
        let observation = process.size.observe { change in seen.withLock { $0.append(change.new) } }
        _ = try await fleet.set([try harness.assignment("A/B/Size", .number(99))], seconds: 60)
        await process.wait(process.size, 99)
        // The watch delivers nothing, and requests have no answer; etcd removes the value meanwhile.
        etcd.setFaults { $0.isSilent = true }
        partition.isCut = true
        try await time.pass { await process.wait(process.size, 60) }
        etcd.advance(seconds: 75)
        partition.isCut = false
        try await time.pass(.seconds(60))
        etcd.setFaults { $0.isSilent = false }
        try await set(61)
        try await time.pass { await process.wait(process.size, 61) }
        #expect(seen.withLock { $0 } == [99, 60, 61])
        observation.cancel()
    }

    @Test func `A temporary value that is still there is applied again after a partition`() async throws {
        try await set(60)
        let process = try start()
        await process.wait(process.size, 60)
        _ = try await fleet.set([try harness.assignment("A/B/Size", .number(99))], seconds: 60)
        await process.wait(process.size, 99)
        etcd.setFaults { $0.isSilent = true }
        partition.isCut = true
        try await time.pass { await process.wait(process.size, 60) }
        partition.isCut = false
        etcd.setFaults { $0.isSilent = false }
        try await time.pass { await process.wait(process.size, 99) }
    }

    @Test func `A temporary value whose end a dead watch does not deliver is left at the next heartbeat`() async throws
    {
        try await set(60)
        let process = try start()
        await process.wait(process.size, 60)
        _ = try await fleet.set([try harness.assignment("A/B/Size", .number(99))], seconds: 3_600)
        await process.wait(process.size, 99)
        etcd.setFaults { $0.isSilent = true }
        etcd.delete(.prefix(keys.rollouts))
        let began = time.now
        try await time.pass { await process.wait(process.size, 60) }
        // By a heartbeat: the watch is reopened, and everything read, only much later.
        #expect(time.now - began < .seconds(1_000))
    }
}
