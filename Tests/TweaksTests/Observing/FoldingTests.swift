// Tests that the changes pending for a slow reader are bounded, and that folding drops only a tweak's older values.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct FoldingTests {
    private let registry = TweakRegistry()

    private func tweaks(_ count: Int) -> [Tweak<Int>] {
        (0..<count).map { Tweak("A", "B", "\($0)", 0, registry: registry) }
    }

    /// Checks that changes continue one another; knows the last value of each tweak and the number of changes.
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

        mutating func read(_ batch: CommitStream.Batch) {
            var batch = batch
            while let next = batch.folded?.popFirst() { read(next) }
            for record in batch.records { record.forEachChange { read($0) } }
        }
    }

    // MARK: The queue

    private func change(
        _ tweak: Tweak<Int>, from old: Int, to new: Int, revision: UInt64, isReported: Bool = true
    ) -> WatchedChange {
        WatchedChange(
            node: tweak.node, old: .int(Int64(old)), new: .int(Int64(new)), origin: .code, revision: revision,
            isReported: isReported)
    }

    /// A queue with changes of one tweak to 1, 2, …, and their number as revision.
    private func queue(threshold: Int, changes count: Int) -> FoldingQueue {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: threshold)
        for value in 1...count { queue.append(change(tweak, from: value - 1, to: value, revision: UInt64(value))) }
        return queue
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
            // The reader reads now and then, and not always all.
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

    @Test func upToTheThresholdNothingIsFolded() {
        var queue = queue(threshold: 10, changes: 10)
        #expect(queue.count == 10 && queue.first?.revision == 1)
        for value in 1...10 { #expect(queue.popFirst()?.new == .int(Int64(value))) }
    }

    @Test func aFoldedChangeHasItsFirstOldValueAndTheNumberOfChanges() throws {
        var queue = queue(threshold: 1, changes: 10)
        let popped = queue.popFirst()
        let folded = try #require(popped)
        #expect(folded.old == .int(0) && folded.new == .int(10) && folded.folded == 9 && folded.revision == 10)
        #expect(queue.isEmpty)
    }

    @Test func aTweakInTheSlotOfARemovedOneIsNotFoldedWithIt() {
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

    @Test func anEmptiedQueueIsReusable() {
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

    @Test func aChangeOfALayerAloneIsNotCountedAsFolded() throws {
        let tweak = tweaks(1)[0]
        var queue = FoldingQueue(threshold: 0)
        for (old, new) in [(0, 1), (1, 1), (1, 2), (2, 2)] {
            queue.append(change(tweak, from: old, to: new, revision: 1, isReported: old != new))
        }
        let popped = queue.popFirst()
        let folded = try #require(popped)
        #expect(folded.old == .int(0) && folded.new == .int(2) && folded.folded == 1 && folded.isReported)
    }

    // MARK: Through the registry

    @Test func aFollowerThatDoesNotReadStaysBounded() {
        let tweaks = tweaks(3)
        let follower = registry.follow(.folds) {}
        let changes = quantity(100_000)
        for value in 1...changes { tweaks[value % 3].value = value }
        var (batch, reader) = (follower.drain(), Reader())
        #expect((batch.folded?.count ?? 0) <= 3)
        #expect(batch.records.count * MemoryLayout<CommitRecord>.stride <= CommitStream.limit)
        reader.read(batch)
        #expect(reader.accounted == changes && batch.lost.isEmpty)
        for tweak in tweaks { #expect(reader.shown[tweak.path] == .int(Int64(tweak.value))) }
        #expect(!follower.hasUpdates)
    }

    @Test func theLastChangeOfAQuietTweakOutlastsThoseOfABusyOne() {
        let tweaks = tweaks(2)
        let (quiet, busy) = (tweaks[0], tweaks[1])
        let follower = registry.follow(.folds) {}
        quiet.value = 1
        for value in 1...quantity(20_000, few: 6_000) { busy.value = value }
        quiet.value = 2
        for value in 1...quantity(20_000, few: 6_000) { busy.value = -value }
        var reader = Reader()
        reader.read(follower.drain())
        #expect(reader.shown[quiet.path] == .int(2))
    }

    @Test func aSlowReaderOfChangesReceivesTheLastValueOfEachTweak() async {
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

    @Test func aReaderAccountsForTheChangesOfManyThreads() {
        let tweaks = tweaks(4)
        let (ready, result) = (Signal(), Box(Reader()))
        let follower = registry.follow(.folds) { ready.send() }
        let thread = TestThread {
            var (reader, wakes) = (Reader(), 0)
            while reader.accounted < 4_000 {
                wakes += 1
                ready.wait(for: wakes)
                reader.read(follower.drain())
            }
            result.value = reader
        }
        onThreads(4) { thread in for value in 1...1_000 { tweaks[thread].value = value } }
        thread.join()
        #expect(result.value.accounted == 4_000)
        for tweak in tweaks { #expect(result.value.shown[tweak.path] == .int(1_000)) }
    }
}
