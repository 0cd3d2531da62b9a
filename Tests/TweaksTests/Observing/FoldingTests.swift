// Slow readers: what waits for them is bounded, and nothing is swallowed but a tweak's own older values.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct FoldingTests {
    private let registry = TweakRegistry()

    private func tweaks(_ count: Int) -> [Tweak<Int>] {
        (0..<count).map { Tweak("A", "B", "\($0)", 0, registry: registry) }
    }

    // MARK: The queue

    /// Follows a queue by the book: what each tweak showed last, and how many changes were accounted for.
    private struct Reader {
        var shown: [TweakPath: TweakValue] = [:]
        var accounted = 0
        var lastRevision: UInt64 = 0

        mutating func read(_ change: WatchedChange) {
            #expect(change.old == shown[change.node.path] ?? .int(0))
            #expect(change.revision >= lastRevision)
            shown[change.node.path] = change.new
            accounted += 1 + change.folded
            lastRevision = change.revision
        }
    }

    private func change(_ tweak: Tweak<Int>, from old: Int, to new: Int, revision: UInt64) -> WatchedChange {
        WatchedChange(
            node: tweak.node, old: .int(Int64(old)), new: .int(Int64(new)), origin: .code, revision: revision)
    }

    @Test(.tags(.quantity), arguments: [1, 8, 64])
    func aHundredThousandChangesStayBoundedAndNoneIsLost(_ threshold: Int) {
        let tweaks = tweaks(5)
        var (queue, reader, random) = (FoldingQueue(threshold: threshold), Reader(), SeededGenerator(seed: 31))
        var current = [Int](repeating: 0, count: tweaks.count)
        let changes = quantity(100_000)
        for revision in 1...UInt64(changes) {
            let number = Int.random(in: tweaks.indices, using: &random)
            queue.append(change(tweaks[number], from: current[number], to: Int(revision), revision: revision))
            current[number] = Int(revision)
            #expect(queue.count <= threshold + tweaks.count)
            // The reader wakes up now and then, and does not always finish.
            if UInt8.random(in: 0..<100, using: &random) == 0 {
                for _ in 0..<Int.random(in: 0..<(threshold + 5), using: &random) {
                    if let next = queue.popFirst() { reader.read(next) }
                }
            }
        }
        while let next = queue.popFirst() { reader.read(next) }
        #expect(queue.isEmpty && queue.count == 0 && queue.popFirst() == nil)
        #expect(reader.accounted == changes)
        for (tweak, value) in zip(tweaks, current) { #expect(reader.shown[tweak.path] == .int(Int64(value))) }
    }

    @Test func belowTheThresholdNothingIsFolded() {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 10)
        for value in 1...10 { queue.append(change(tweak, from: value - 1, to: value, revision: UInt64(value))) }
        #expect(queue.count == 10 && queue.first?.revision == 1)
        for value in 1...10 { #expect(queue.popFirst()?.new == .int(Int64(value))) }
    }

    @Test func aFoldedChangeTellsWhereItBeganAndHowOften() throws {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 1)
        for value in 1...10 { queue.append(change(tweak, from: value - 1, to: value, revision: UInt64(value))) }
        let taken = queue.popFirst()
        let folded = try #require(taken)
        #expect(folded.old == .int(0) && folded.new == .int(10) && folded.folded == 9 && folded.revision == 10)
        #expect(queue.isEmpty)
    }

    @Test func aTweakThatTookTheSlotOfARemovedOneIsNotTakenForIt() {
        let old = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 1)
        queue.append(change(old, from: 0, to: 1, revision: 1))
        registry.remove(old.path)
        let new = Tweak("A", "B", "new", 0, registry: registry)
        #expect(new.node.slot == old.node.slot)
        queue.append(change(new, from: 0, to: 2, revision: 2))
        #expect(queue.popFirst()?.node === old.node)
        #expect(queue.popFirst()?.node === new.node)
    }

    @Test func itIsAsGoodAsNewWhenItWasEmptied() {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 4)
        for round in 0..<1_000 {
            for value in 1...6 {
                queue.append(change(tweak, from: value - 1, to: value, revision: UInt64(round * 10 + value)))
            }
            #expect(queue.count == 4)
            var count = 0
            while queue.popFirst() != nil { count += 1 }
            #expect(count == 4 && queue.isEmpty && queue.first == nil)
        }
    }

    @Test func aChangeOfALayerAloneIsNoneThatWasFoldedAway() throws {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 0)
        for (old, new) in [(0, 1), (1, 1), (1, 2), (2, 2)] {
            queue.append(
                WatchedChange(
                    node: tweak.node, old: .int(Int64(old)), new: .int(Int64(new)), origin: .code, revision: 1,
                    isNews: old != new))
        }
        let taken = queue.popFirst()
        let folded = try #require(taken)
        #expect(folded.old == .int(0) && folded.new == .int(2) && folded.folded == 1 && folded.isNews)
    }

    // MARK: Through the registry

    @Test func aFollowerThatDoesNotReadStaysBounded() {
        let tweaks = tweaks(3)
        let follower = registry.follow(.folds) {}
        let changes = quantity(100_000)
        for value in 1...changes { tweaks[value % 3].value = value }
        var (batch, reader) = (follower.take(), Reader())
        #expect((batch.folded?.count ?? 0) <= 3)
        #expect(batch.records.count * MemoryLayout<CommitRecord>.stride <= CommitStream.limit)
        while let next = batch.folded?.popFirst() { reader.read(next) }
        for record in batch.records { record.forEachChange { reader.read($0) } }
        #expect(reader.accounted == changes && batch.lost.isEmpty)
        for tweak in tweaks { #expect(reader.shown[tweak.path] == .int(Int64(tweak.value))) }
        #expect(!follower.hasNews)
    }

    @Test func aQuietTweaksChangeSurvivesALoudOne() {
        let (quiet, loud) = (
            Tweak("A", "B", "quiet", 0, registry: registry), Tweak("A", "B", "loud", 0, registry: registry)
        )
        let follower = registry.follow(.folds) {}
        quiet.value = 1
        for value in 1...quantity(20_000, few: 6_000) { loud.value = value }
        quiet.value = 2
        for value in 1...quantity(20_000, few: 6_000) { loud.value = -value }
        var (batch, shown) = (follower.take(), [TweakValue]())
        while let next = batch.folded?.popFirst() { if next.node === quiet.node { shown.append(next.new) } }
        for record in batch.records { record.forEachChange { if $0.node === quiet.node { shown.append($0.new) } } }
        #expect(shown.last == .int(2))
    }

    @Test func aSlowReaderOfChangesSeesEveryTweaksLastValue() async {
        let tweaks = tweaks(3)
        var changes = registry.changes.makeAsyncIterator()
        for value in 1...quantity(30_000, few: 6_000) { tweaks[value % 3].value = value }
        var (shown, commits): ([TweakPath: TweakValue], Int) = ([:], 0)
        while let commit = await changes.next() {
            commits += 1
            for change in commit.changes { shown[change.path] = change.new }
            if commit.revision == registry.revision { break }
        }
        #expect(commits <= CommitStream.limit / MemoryLayout<CommitRecord>.stride + 3)
        for tweak in tweaks { #expect(shown[tweak.path] == .int(Int64(tweak.value))) }
    }

    @Test func writersOnManyThreadsAndOneReaderAgreeInTheEnd() {
        let tweaks = tweaks(4)
        let (ready, shown) = (Signal(), Box<[TweakPath: TweakValue]>([:]))
        let follower = registry.follow(.folds) { ready.send() }
        let total = Box(0)
        let reader = TestThread {
            var (reader, wakes) = (Reader(), 0)
            while reader.accounted < 4_000 {
                wakes += 1
                ready.wait(for: wakes)
                var batch = follower.take()
                while let next = batch.folded?.popFirst() { reader.read(next) }
                for record in batch.records { record.forEachChange { reader.read($0) } }
            }
            shown.value = reader.shown
            total.value = reader.accounted
        }
        onThreads(4) { thread in for value in 1...1_000 { tweaks[thread].value = value } }
        reader.join()
        #expect(total.value == 4_000)
        for tweak in tweaks { #expect(shown.value[tweak.path] == .int(1_000)) }
    }
}
