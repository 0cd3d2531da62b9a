// Tests the stream of commits: what each follower reads, when it is woken, and what is retained for it.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct CommitStreamTests {
    private let registry = TweakRegistry()
    private let number: Tweak<Int>

    init() {
        // The history would retain tweaks.
        registry.historyLimit = 0
        number = Tweak("A", "B", "Number", 0, registry: registry)
    }

    // MARK: Reading

    @Test func eachFollowerReadsEachRecordOnceInOrder() {
        let followers = [CommitStream.Overflow.folds, .restarts, .drops].map { registry.follow($0) {} }
        var read = [[UInt64]](repeating: [], count: followers.count)
        for value in 1...300 {
            number.value = value
            for (index, pace) in [1, 7, 50].enumerated() where value.isMultiple(of: pace) {
                read[index] += followers[index].drain().records.map(\.revision)
            }
        }
        for (index, follower) in followers.enumerated() {
            read[index] += follower.drain().records.map(\.revision)
            #expect(!follower.hasUpdates && follower.drain().isEmpty)
        }
        #expect(read.allSatisfy { $0 == Array(1...300) })
    }

    @Test func aRecordDescribesItsCommit() throws {
        let follower = registry.follow(.drops) {}
        number.value = 1
        try registry.commit(origin: .user(7)) { batch in
            batch.reset(number)
            batch.set(Tweak("Texts", "Long", "T", "", registry: registry), "x")
        }
        let records = follower.drain().records
        #expect(records.map(\.sequence) == [records[0].sequence, records[0].sequence + 1])
        #expect(records.map(\.revision) == [1, 2] && records.map(\.origin) == [.code, .user(7)])
        #expect(records.map { $0.parts.map(\.subject.path.name) } == [["Number"], ["Number", "T"]])
        #expect(records[1].parts.map(\.old) == [.int(1), .string("")])
        #expect(records[1].parts.map(\.new) == [.int(0), .string("x")])
        #expect(records[1].parts.map(\.layer) == [.default, .override])
    }

    @Test func aFollowerReadsWhatIsCommittedAfterItsStart() {
        var early: CommitFollower? = registry.follow(.folds) {}
        number.value = 1
        let late = registry.follow(.folds) {}
        #expect(late.drain().isEmpty)
        number.value = 2
        #expect(late.drain().records.map(\.revision) == [2] && early?.drain().records.count == 2)
        // A new follower in the slot of an ended one starts anew.
        number.value = 3
        early = nil
        let third = registry.follow(.folds) {}
        #expect(!third.hasUpdates && registry.followerCount == 2)
        number.value = 4
        #expect(third.drain().records.map(\.revision) == [4] && late.drain().records.map(\.revision) == [3, 4])
    }

    // MARK: Waking

    /// A follower that notes the revision at each wake.
    private func wokenFollower() -> (CommitFollower, Recorder<UInt64>) {
        let wakes = Recorder<UInt64>()
        return (registry.follow(.folds) { [registry] in wakes.note(registry.revision) }, wakes)
    }

    @Test func aFollowerIsWokenOnceUntilItReads() {
        let (follower, wakes) = wokenFollower()
        for value in 1...10 { number.value = value }
        #expect(wakes.all == [1])
        #expect(follower.drain().records.count == 10)
        for value in 11...20 { number.value = value }
        #expect(wakes.all == [1, 11])
        // Reading nothing enables the next wake, too.
        _ = (follower.drain(), follower.drain())
        number.value = 21
        #expect(wakes.all == [1, 11, 21])
    }

    @Test func aFollowerThatStaysAwakeIsNotWoken() {
        let (follower, wakes) = wokenFollower()
        #expect(follower.drain(staysAwake: true).isEmpty)
        number.value = 1
        #expect(follower.drain(staysAwake: true).records.count == 1)
        number.value = 2
        #expect(wakes.all.isEmpty && follower.drain().records.count == 1)
        number.value = 3
        #expect(wakes.all == [3])
    }

    // MARK: Memory

    /// Declares, sets and removes a tweak; returns what retains it only if the stream does.
    private func removedNode() -> WeakBox<TweakNode> {
        let (tweak, weak) = (Tweak("A", "B", "Removed", 0, registry: registry), WeakBox<TweakNode>())
        weak.value = tweak.node
        tweak.value = 1
        registry.remove(tweak.path)
        return weak
    }

    @Test func withoutAFollowerNothingIsRetained() {
        #expect(removedNode().value == nil)
        #expect(registry.follow(.folds) {}.drain().isEmpty)
        #expect(removedNode().value == nil)
    }

    @Test func aRecordIsReleasedWhenAllHaveReadIt() {
        let (first, second) = (registry.follow(.drops) {}, registry.follow(.restarts) {})
        let node = removedNode()
        #expect(node.value != nil && first.drain().records.count == 1)
        #expect(node.value != nil && second.drain().records.count == 1)
        #expect(node.value == nil)
    }

    @Test(arguments: [CommitStream.Overflow.folds, .restarts, .drops])
    func recordsAreReleasedWithTheLastFollowerThatHasNotReadThem(_ overflow: CommitStream.Overflow) {
        let reader = registry.follow(.folds) {}
        var ended: CommitFollower? = registry.follow(overflow) {}
        let node = removedNode()
        #expect(reader.drain().records.count == 1 && node.value != nil && ended?.hasUpdates == true)
        ended = nil
        #expect(node.value == nil && registry.followerCount == 1)
    }

    @Test func aFoldIsReleasedWithItsFollower() {
        var follower: CommitFollower? = registry.follow(.folds) {}
        let node = removedNode()
        let text = Tweak("Texts", "Long", "T", "", registry: registry)
        for round in 1...6 { text.value = String(repeating: "\(round)", count: 200_000) }
        #expect(node.value != nil && follower?.hasUpdates == true)
        follower = nil
        #expect(node.value == nil)
    }

    @Test func pendingRecordsOutliveTheRegistry() throws {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        let wakes = Recorder<Int>()
        let follower = try #require(registry?.follow(.folds) { wakes.note(1) })
        let other = try #require(registry?.follow(.drops) {})
        _ = try registry?.register("A", "B", "C", 0)
        for value in 1...3 { _ = try registry?.commit { $0.set("A/B/C", .int(Int64(value))) } }
        registry = nil
        #expect(reference == nil && wakes.all.count == 2)
        let batch = other.drain()
        #expect(batch.isLast && batch.records.map(\.revision) == [1, 2, 3])
        #expect(other.drain().isLast && other.drain().isEmpty)
        var reader = CommitReader(follower)
        for value in 1...3 as ClosedRange<Int64> { #expect(reader.next()?.changes.map(\.new) == [.int(value)]) }
        #expect(!reader.hasEnded && reader.next() == nil && reader.hasEnded)
    }

    // MARK: Snapshots

    @Test func aSnapshotTellsEarlierRecordsFromLaterOnes() {
        number.value = 1
        let follower = registry.follow(.folds) {}
        number.value = 2
        let snapshot = registry.snapshot()
        number.value = 3
        let records = follower.drain().records
        #expect(records.map { $0.sequence > snapshot.sequence } == [false, true])
        #expect(snapshot[number] == 2 && records.last?.parts.first?.old == .int(2))
    }

    /// By its sequence number: values from files raise no revision.
    @Test func aSnapshotTellsWhetherAValueFromAFileCameLater() throws {
        number.value = 1
        // Otherwise it would be stored, with a new revision.
        number.reset()
        let follower = registry.follow(.folds) {}
        let text = Tweak("Texts", "Long", "T", "", registry: registry)
        let before = registry.snapshot()
        StubStore().attach(to: registry, overrides: [try .override("Texts/Long/T", .string("stored"))], revision: 0)
        let after = registry.snapshot()
        #expect(after.revision == before.revision && after.sequence > before.sequence)
        #expect(before[text] == "" && after[text] == "stored")
        let news = follower.drain().records.filter { $0.parts.contains(where: \.isReported) }
        #expect(news.map { $0.parts.map(\.new) } == [[.string("stored")]])
        #expect(news.allSatisfy { $0.revision == 2 && $0.sequence > before.sequence && $0.sequence <= after.sequence })
    }
}
