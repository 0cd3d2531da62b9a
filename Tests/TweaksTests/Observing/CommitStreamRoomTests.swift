// Followers for which the stream has no more room: some make a fold, some begin anew, some lose what is heaviest.

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

    /// As a person would, or the program, which has no session.
    private func set(_ tweak: Tweak<String>, _ value: String, by user: UInt32, session: UInt64 = 1) throws {
        try registry.commit(
            tweak.node, .set(.string(value)), origin: .user(user), kind: .change(session: session), delivery: .caller)
    }

    // MARK: Folds

    /// What a reader makes of batches: by name the first old value, the newest one, and how many commits that were.
    private struct Account {
        var seen: [String: (old: TweakValue, new: TweakValue, count: Int)] = [:]

        mutating func read(_ batch: CommitStream.Batch) {
            var batch = batch
            while let change = batch.folded?.popFirst() { read(change) }
            for record in batch.records { record.forEachChange { read($0) } }
        }

        private mutating func read(_ change: WatchedChange) {
            let before = seen[change.node.path.name]
            // Nothing is missing between two of them.
            if let before { #expect(change.old == before.new) }
            seen[change.node.path.name] = (
                before?.old ?? change.old, change.new, (before?.count ?? 0) + 1 + change.folded
            )
        }
    }

    @Test func beyondTheLimitChangesAreFoldedAndAllAccountedFor() throws {
        let follower = registry.follow(.folds) {}
        let text = text("T")
        for round in 1...60 {
            text.value = long(round, 50_000)
            if round.isMultiple(of: 3) { number.value = round }
        }
        let batch = follower.take()
        #expect(batch.folded?.count == 2 && batch.lost.isEmpty && batch.records.count < 40)
        var account = Account()
        account.read(batch)
        let (seenText, seenNumber) = (try #require(account.seen["T"]), try #require(account.seen["Number"]))
        #expect(seenText.old == .string("") && seenText.new == .string(text.value) && seenText.count == 60)
        #expect(seenNumber.old == .int(0) && seenNumber.new == .int(60) && seenNumber.count == 20)
        #expect(follower.take().isEmpty)
    }

    /// Who reads has each commit, however far another one is behind; the storage, say, need not begin anew.
    @Test func whoSleepsFoldsAloneBesideOneThatReads() {
        let (reader, sleeper) = (registry.follow(.folds) {}, registry.follow(.folds) {})
        let text = text("T")
        var (read, isFolded): ([UInt64], Bool) = ([], false)
        for round in 1...60 {
            text.value = long(round, 50_000)
            let batch = reader.take()
            isFolded = isFolded || batch.folded != nil
            read += batch.records.map(\.revision)
        }
        #expect(!isFolded && read == Array(1...60))
        var account = Account()
        account.read(sleeper.take())
        #expect(account.seen["T"]?.count == 60)
    }

    @Test func whoRestartsIsToldAndStandsAtTheEnd() {
        let follower = registry.follow(.restarts) {}
        let text = text("T")
        text.value = long(0, 300_000)
        text.value = long(1, 300_000)
        #expect(follower.hasNews)
        text.value = long(2, 300_000)
        let batch = follower.take()
        #expect(!batch.lost.isEmpty && batch.lost.revisions == 3...3)
        #expect(batch.records.isEmpty && batch.folded == nil && !follower.hasNews)
        number.value = 1
        let next = follower.take()
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
        let batch = follower.take()
        let left = batch.records.map(\.origin)
        #expect(left.count { $0 == .user(2) } == 4)
        // The older ones go: what is left of them is the newest, in one piece.
        let kept = batch.records.filter { $0.origin == .user(1) }.map(\.revision)
        let all = (1...24).filter { !$0.isMultiple(of: 6) }.map { UInt64($0) }
        #expect(!kept.isEmpty && kept == all.suffix(kept.count))
        #expect(batch.lost.count == 20 - kept.count && batch.lost.count > 0)
        #expect(batch.lost.revisions == 1...all[batch.lost.count - 1])
        #expect(follower.take().isEmpty)
    }

    /// It has less in the stream than the person, and more than a quarter of that.
    @Test func theProgramsOwnLoopLosesBeforePeople() throws {
        let follower = registry.follow(.drops) {}
        let (persons, programs) = (text("Person's"), text("Program's"))
        for round in 1...12 {
            if round.isMultiple(of: 2) { try set(persons, long(round / 2, 60_000), by: 1) }
            try set(programs, long(round, 20_000), by: 2, session: 0)
        }
        let batch = follower.take()
        #expect(batch.records.count { $0.origin == .user(1) } == 6)
        #expect(batch.lost.count > 0 && batch.lost.count == 12 - batch.records.count { $0.origin == .user(2) })
    }

    /// However many they are: room is made for many commits at once, and of none much more than of others.
    @Test func manyOriginsLoseAlike() throws {
        let follower = registry.follow(.drops) {}
        let text = text("T")
        for round in 1...4 {
            for user in 0..<100 as Range<UInt32> { try set(text, long(round, 3_000 + Int(user)), by: user) }
        }
        let batch = follower.take()
        let counts = (0..<100 as Range<UInt32>).map { user in batch.records.count { $0.origin == .user(user) } }
        #expect(batch.lost.count > 0 && batch.lost.count + batch.records.count == 400)
        #expect(counts.allSatisfy { (1...3).contains($0) })
    }

    /// Only who has not read a record has lost it.
    @Test func whatWasReadIsNotLost() throws {
        let (behind, ahead) = (registry.follow(.drops) {}, registry.follow(.drops) {})
        let text = text("T")
        for round in 1...10 { try set(text, long(round, 40_000), by: 1) }
        #expect(ahead.take().records.count == 10)
        for round in 11...20 { try set(text, long(round, 40_000), by: 1) }
        let (all, rest) = (behind.take(), ahead.take())
        #expect(all.lost.count > 0 && all.lost.count + all.records.count == 20)
        #expect(rest.lost.count == max(0, all.lost.count - 10) && rest.lost.count + rest.records.count == 10)
    }

    /// What ten thousand tweaks take over from a file at the start must not have the storage write it all again.
    @Test func aLargeCommitAloneIsNoReasonToBeginAnew() throws {
        let restarts = registry.follow(.restarts) {}
        let (a, b) = (text("a"), text("b"))
        try registry.commit(origin: .user(1)) { batch in
            batch.set(a, long(0, 700_000))
            batch.set(b, long(1, 700_000))
        }
        let batch = restarts.take()
        #expect(batch.lost.isEmpty && batch.records.map(\.revision) == [1])
    }

    @Test func aCommitLargerThanTheLimitIsHadWhole() throws {
        let (drops, folds, restarts) = (
            registry.follow(.drops) {}, registry.follow(.folds) {}, registry.follow(.restarts) {}
        )
        let (a, b) = (text("a"), text("b"))
        number.value = 1
        try registry.commit(origin: .user(1)) { batch in
            batch.set(a, long(0, 700_000))
            batch.set(b, long(1, 700_000))
        }
        let batch = drops.take()
        #expect(batch.records.map(\.revision) == [2] && batch.records.first?.parts.count == 2)
        #expect(batch.lost.count == 1 && batch.lost.revisions == 1...1)
        var reader = CommitReader(folds)
        #expect(reader.next()?.changes.map(\.path.name) == ["Number"])
        #expect(reader.next()?.changes.map(\.path.name) == ["a", "b"] && reader.next() == nil)
        #expect(!restarts.take().lost.isEmpty)
        number.value = 2
        #expect(drops.take().records.map(\.revision) == [3])
    }
}
