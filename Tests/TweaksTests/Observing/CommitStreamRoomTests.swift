// Tests followers that exceed the stream's limit: some fold their changes, some restart, some drop the largest commits.

import Testing

@testable import Tweaks

struct CommitStreamRoomTests {
    private let registry = TweakRegistry()
    private let number: Tweak<Int>

    init() { number = Tweak("A", "B", "Number", 0, registry: registry) }

    private func text(_ name: String) -> Tweak<String> { Tweak("Texts", "Long", name, "", registry: registry) }

    /// Texts of so many bytes, of which no two in succession are equal.
    private func long(_ round: Int, _ bytes: Int) -> String {
        String(repeating: round.isMultiple(of: 2) ? "a" : "b", count: bytes)
    }

    /// Sets it as a session of a user; session 0 is the program.
    private func set(_ tweak: Tweak<String>, _ value: String, by user: UInt32, session: UInt64 = 1) throws {
        try registry.commit(
            tweak.node, .set(.string(value)), origin: .user(user), kind: .change(session: session), delivery: .caller)
    }

    // MARK: Folds

    /// Sums up batches: for each name the first old value, the newest one, and the number of commits.
    private struct Summary {
        var changes: [String: (old: TweakValue, new: TweakValue, count: Int)] = [:]

        mutating func read(_ batch: CommitStream.Batch) {
            var batch = batch
            while let change = batch.folded?.popFirst() { read(change) }
            for record in batch.records { record.forEachChange { read($0) } }
        }

        private mutating func read(_ change: WatchedChange) {
            let before = changes[change.node.path.name]
            // No change is missing between them.
            if let before { #expect(change.old == before.new) }
            changes[change.node.path.name] = (
                before?.old ?? change.old, change.new, (before?.count ?? 0) + 1 + change.folded
            )
        }
    }

    @Test func changesBeyondTheLimitAreFoldedAndCounted() throws {
        let follower = registry.follow(.folds) {}
        let text = text("T")
        for round in 1...60 {
            text.value = long(round, 50_000)
            if round.isMultiple(of: 3) { number.value = round }
        }
        let batch = follower.drain()
        #expect(batch.folded?.count == 2 && batch.lost.isEmpty && batch.records.count < 40)
        var summary = Summary()
        summary.read(batch)
        let (texts, numbers) = (try #require(summary.changes["T"]), try #require(summary.changes["Number"]))
        #expect(texts.old == .string("") && texts.new == .string(text.value) && texts.count == 60)
        #expect(numbers.old == .int(0) && numbers.new == .int(60) && numbers.count == 20)
        #expect(follower.drain().isEmpty)
    }

    @Test func aFollowerThatDoesNotReadFoldsAloneWhileAnotherReadsEachCommit() {
        let (reader, sleeper) = (registry.follow(.folds) {}, registry.follow(.folds) {})
        let text = text("T")
        var (read, isFolded): ([UInt64], Bool) = ([], false)
        for round in 1...60 {
            text.value = long(round, 50_000)
            let batch = reader.drain()
            isFolded = isFolded || batch.folded != nil
            read += batch.records.map(\.revision)
        }
        #expect(!isFolded && read == Array(1...60))
        var summary = Summary()
        summary.read(sleeper.drain())
        #expect(summary.changes["T"]?.count == 60)
    }

    @Test func aRestartingFollowerReceivesTheLossAndContinuesAtTheEnd() {
        let follower = registry.follow(.restarts) {}
        let text = text("T")
        text.value = long(0, 300_000)
        text.value = long(1, 300_000)
        #expect(follower.hasUpdates)
        text.value = long(2, 300_000)
        let batch = follower.drain()
        #expect(!batch.lost.isEmpty && batch.lost.revisions == 3...3)
        #expect(batch.records.isEmpty && batch.folded == nil && !follower.hasUpdates)
        number.value = 1
        let next = follower.drain()
        #expect(next.lost.isEmpty && next.records.map(\.revision) == [4])
    }

    // MARK: Losses

    @Test func theHeaviestOriginLosesFirst() throws {
        let follower = registry.follow(.drops) {}
        let (heavy, light) = (text("Heavy"), text("Light"))
        for round in 1...20 {
            try set(heavy, long(round, 40_000), by: 1)
            if round.isMultiple(of: 5) { try set(light, long(round, 1_000), by: 2) }
        }
        let batch = follower.drain()
        let left = batch.records.map(\.origin)
        #expect(left.count { $0 == .user(2) } == 4)
        // The oldest are dropped: the newest remain, without a gap.
        let kept = batch.records.filter { $0.origin == .user(1) }.map(\.revision)
        let all = (1...24).filter { !$0.isMultiple(of: 6) }.map { UInt64($0) }
        #expect(!kept.isEmpty && kept == all.suffix(kept.count))
        #expect(batch.lost.count == 20 - kept.count && batch.lost.count > 0)
        #expect(batch.lost.revisions == 1...all[batch.lost.count - 1])
        #expect(follower.drain().isEmpty)
    }

    /// Its commits count fourfold: in the stream they are smaller than the user's, but larger than a quarter.
    @Test func theProgramsOwnLoopLosesFirst() throws {
        let follower = registry.follow(.drops) {}
        let (users, programs) = (text("User's"), text("Program's"))
        for round in 1...12 {
            if round.isMultiple(of: 2) { try set(users, long(round / 2, 60_000), by: 1) }
            try set(programs, long(round, 20_000), by: 2, session: 0)
        }
        let batch = follower.drain()
        #expect(batch.records.count { $0.origin == .user(1) } == 6)
        #expect(batch.lost.count > 0 && batch.lost.count == 12 - batch.records.count { $0.origin == .user(2) })
    }

    @Test func manyOriginsLoseAlike() throws {
        let follower = registry.follow(.drops) {}
        let text = text("T")
        for round in 1...4 {
            for user in 0..<100 as Range<UInt32> { try set(text, long(round, 3_000 + Int(user)), by: user) }
        }
        let batch = follower.drain()
        let counts = (0..<100 as Range<UInt32>).map { user in batch.records.count { $0.origin == .user(user) } }
        #expect(batch.lost.count > 0 && batch.lost.count + batch.records.count == 400)
        #expect(counts.allSatisfy { (1...3).contains($0) })
    }

    @Test func onlyAFollowerThatHasNotReadARecordLosesIt() throws {
        let (behind, ahead) = (registry.follow(.drops) {}, registry.follow(.drops) {})
        let text = text("T")
        for round in 1...10 { try set(text, long(round, 40_000), by: 1) }
        #expect(ahead.drain().records.count == 10)
        for round in 11...20 { try set(text, long(round, 40_000), by: 1) }
        let (all, rest) = (behind.drain(), ahead.drain())
        #expect(all.lost.count > 0 && all.lost.count + all.records.count == 20)
        #expect(rest.lost.count == max(0, all.lost.count - 10) && rest.lost.count + rest.records.count == 10)
    }

    private func commitBeyondTheLimit() throws {
        let (a, b) = (text("a"), text("b"))
        try registry.commit(origin: .user(1)) { batch in
            batch.set(a, long(0, 700_000))
            batch.set(b, long(1, 700_000))
        }
    }

    /// Else the storage would write everything again when many tweaks get values from a file at the start.
    @Test func aLargeCommitAloneIsNoReasonToRestart() throws {
        let restarts = registry.follow(.restarts) {}
        try commitBeyondTheLimit()
        let batch = restarts.drain()
        #expect(batch.lost.isEmpty && batch.records.map(\.revision) == [1])
    }

    @Test func aCommitLargerThanTheLimitIsReadWhole() throws {
        let (drops, folds) = (registry.follow(.drops) {}, registry.follow(.folds) {})
        let restarts = registry.follow(.restarts) {}
        number.value = 1
        try commitBeyondTheLimit()
        let batch = drops.drain()
        #expect(batch.records.map(\.revision) == [2] && batch.records.first?.parts.count == 2)
        #expect(batch.lost.count == 1 && batch.lost.revisions == 1...1)
        var reader = CommitReader(folds)
        #expect(reader.next()?.changes.map(\.path.name) == ["Number"])
        #expect(reader.next()?.changes.map(\.path.name) == ["a", "b"] && reader.next() == nil)
        #expect(!restarts.drain().lost.isEmpty)
        number.value = 2
        #expect(drops.drain().records.map(\.revision) == [3])
    }
}
