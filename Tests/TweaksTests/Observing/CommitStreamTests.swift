// The stream of commits: what each of its followers has of it, when it is woken, and what is kept for it.

import Testing

@testable import Tweaks

struct CommitStreamTests {
    private let registry = TweakRegistry()
    private let number: Tweak<Int>

    init() {
        // What the history remembers would keep tweaks alive.
        registry.historyLimit = 0
        number = Tweak("A", "B", "Number", 0, registry: registry)
    }

    // MARK: Reading

    @Test func eachHasEachRecordOnceAndInOrder() {
        let followers = [CommitStream.Overflow.folds, .restarts, .drops].map { registry.follow($0) {} }
        var read = [[UInt64]](repeating: [], count: followers.count)
        for value in 1...300 {
            number.value = value
            for (index, pace) in [1, 7, 50].enumerated() where value.isMultiple(of: pace) {
                read[index] += followers[index].take().records.map(\.revision)
            }
        }
        for (index, follower) in followers.enumerated() {
            read[index] += follower.take().records.map(\.revision)
            #expect(!follower.hasNews && follower.take().isEmpty)
        }
        #expect(read.allSatisfy { $0 == Array(1...300) })
    }

    @Test func aRecordSaysWhatItsCommitWas() throws {
        let follower = registry.follow(.drops) {}
        number.value = 1
        try registry.commit(origin: .user(7)) { batch in
            batch.reset(number)
            batch.set(Tweak("Texts", "Long", "T", "", registry: registry), "x")
        }
        let records = follower.take().records
        #expect(records.map(\.sequence) == [records[0].sequence, records[0].sequence + 1])
        #expect(records.map(\.revision) == [1, 2] && records.map(\.origin) == [.code, .user(7)])
        #expect(records.map { $0.parts.map(\.subject.path.name) } == [["Number"], ["Number", "T"]])
        #expect(records[1].parts.map(\.old) == [.int(1), .string("")])
        #expect(records[1].parts.map(\.new) == [.int(0), .string("x")])
        #expect(records[1].parts.map(\.layer) == [.default, .override])
    }

    @Test func whoComesLaterHasWhatComesLater() {
        var early: CommitFollower? = registry.follow(.folds) {}
        number.value = 1
        let late = registry.follow(.folds) {}
        #expect(late.take().isEmpty)
        number.value = 2
        #expect(late.take().records.map(\.revision) == [2] && early?.take().records.count == 2)
        // The place of one that has left begins anew.
        number.value = 3
        early = nil
        let third = registry.follow(.folds) {}
        #expect(!third.hasNews && registry.followerCount == 2)
        number.value = 4
        #expect(third.take().records.map(\.revision) == [4] && late.take().records.map(\.revision) == [3, 4])
    }

    // MARK: Waking

    @Test func oneWakeForAllThatComesMeanwhile() {
        let wakes = Recorder<UInt64>()
        let follower = registry.follow(.folds) { [registry] in wakes.note(registry.revision) }
        for value in 1...10 { number.value = value }
        #expect(wakes.all == [1])
        #expect(follower.take().records.count == 10)
        for value in 11...20 { number.value = value }
        #expect(wakes.all == [1, 11])
        // A look that finds nothing new lets it sleep, too.
        _ = (follower.take(), follower.take())
        number.value = 21
        #expect(wakes.all == [1, 11, 21])
    }

    @Test func whoStaysAwakeIsNotWoken() {
        let wakes = Recorder<UInt64>()
        let follower = registry.follow(.folds) { [registry] in wakes.note(registry.revision) }
        #expect(follower.take(staysAwake: true).isEmpty)
        number.value = 1
        #expect(follower.take(staysAwake: true).records.count == 1)
        number.value = 2
        #expect(wakes.all.isEmpty && follower.take().records.count == 1)
        number.value = 3
        #expect(wakes.all == [3])
    }

    // MARK: Letting go

    /// Declares a tweak, sets and removes it.
    private func passing(_ name: String = "Passing") -> WeakNode {
        let tweak = Tweak("A", "B", name, 0, registry: registry)
        tweak.value = 1
        registry.remove(tweak.path)
        return WeakNode(tweak.node)
    }

    private struct WeakNode {
        weak var node: TweakNode?

        init(_ node: TweakNode) { self.node = node }
    }

    @Test func withoutAFollowerNothingIsKept() {
        #expect(passing().node == nil)
        #expect(registry.follow(.folds) {}.take().isEmpty)
        #expect(passing().node == nil)
    }

    @Test func whatAllHaveReadIsReleased() {
        let (first, second) = (registry.follow(.drops) {}, registry.follow(.restarts) {})
        let weak = passing()
        #expect(weak.node != nil && first.take().records.count == 1)
        #expect(weak.node != nil && second.take().records.count == 1)
        #expect(weak.node == nil)
    }

    @Test(arguments: [CommitStream.Overflow.folds, .restarts, .drops])
    func whoLeavesKeepsNothing(_ overflow: CommitStream.Overflow) {
        let reader = registry.follow(.folds) {}
        var leaving: CommitFollower? = registry.follow(overflow) {}
        let weak = passing()
        #expect(reader.take().records.count == 1 && weak.node != nil && leaving?.hasNews == true)
        leaving = nil
        #expect(weak.node == nil && registry.followerCount == 1)
    }

    @Test func aFoldIsReleasedWithItsFollower() {
        var follower: CommitFollower? = registry.follow(.folds) {}
        let weak = passing()
        let text = Tweak("Texts", "Long", "T", "", registry: registry)
        for round in 1...6 { text.value = String(repeating: "\(round)", count: 200_000) }
        #expect(weak.node != nil && follower?.hasNews == true)
        follower = nil
        #expect(weak.node == nil)
    }

    @Test func itOutlivesTheRegistryUntilItIsRead() throws {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        let wakes = Recorder<Int>()
        let follower = try #require(registry?.follow(.folds) { wakes.note(1) })
        let other = try #require(registry?.follow(.drops) {})
        _ = try registry?.register("A", "B", "C", 0)
        for value in 1...3 { _ = try registry?.commit { $0.set("A/B/C", .int(Int64(value))) } }
        registry = nil
        #expect(reference == nil && wakes.all.count == 2)
        let batch = other.take()
        #expect(batch.isLast && batch.records.map(\.revision) == [1, 2, 3])
        #expect(other.take().isLast && other.take().isEmpty)
        var reader = CommitReader(follower)
        for value in 1...3 as ClosedRange<Int64> { #expect(reader.next()?.changes.map(\.new) == [.int(value)]) }
        #expect(!reader.hasEnded && reader.next() == nil && reader.hasEnded)
    }

    // MARK: Snapshots

    @Test func aSnapshotSaysWhatIsNewsBehindIt() {
        number.value = 1
        let follower = registry.follow(.folds) {}
        number.value = 2
        let snapshot = registry.snapshot()
        number.value = 3
        let records = follower.take().records
        #expect(records.map { $0.sequence > snapshot.sequence } == [false, true])
        #expect(snapshot[number] == 2 && records.last?.parts.first?.old == .int(2))
    }

    /// Revisions would not tell: values that are taken over from files raise none.
    @Test func whatIsTakenOverIsNewsToo() throws {
        number.value = 1
        // What is set already would be stored, with a revision of its own.
        number.reset()
        let follower = registry.follow(.folds) {}
        let text = Tweak("Texts", "Long", "T", "", registry: registry)
        let before = registry.snapshot()
        StubStore().attach(to: registry, overrides: [try .override("Texts/Long/T", .string("stored"))], revision: 0)
        let after = registry.snapshot()
        #expect(after.revision == before.revision && after.sequence > before.sequence)
        #expect(before[text] == "" && after[text] == "stored")
        let news = follower.take().records.filter { $0.parts.contains(where: \.isNews) }
        #expect(news.map { $0.parts.map(\.new) } == [[.string("stored")]])
        #expect(news.allSatisfy { $0.revision == 2 && $0.sequence > before.sequence && $0.sequence <= after.sequence })
    }
}
