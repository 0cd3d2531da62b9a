// Tests the history: what it keeps, merges, undoes and redoes, and what it refuses to undo.

import Testing
import Tweaks
import TweaksTestSupport

@Suite("History")
struct HistoryTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let size: Tweak<Double>
    private let name: Tweak<String>

    init() throws {
        registry = TweakRegistry { [clock] in clock.now }
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        name = try registry.register("A", "B", "Name", "n")
    }

    private func set(_ tweak: AnyTweak, _ value: TweakValue, by session: UInt64, isStep: Bool = false) throws {
        try registry.commit(
            tweak.node, .set(value), origin: TweakOrigin("session \(session)"),
            kind: .change(session: session, isStep: isStep), delivery: .caller)
    }

    private func set(_ value: Double, by session: UInt64, after: Duration = .seconds(1)) throws {
        clock.advance(by: after)
        try set(size.erased, .number(value), by: session)
    }

    private var entries: [String] {
        registry.history.map { entry in
            let changes = entry.changes.map { "\($0.path.name) \($0.old?.text ?? "?")→\($0.new?.text ?? "?")" }
            let state = entry.isUndone ? " undone" : ""
            return "\(entry.revision) \(entry.origin)\(state): \(changes.joined(separator: ", "))"
        }
    }

    // MARK: Entries

    @Test func quickSetsOfATweakByOneSessionAreOneEntry() throws {
        try set(60, by: 1)
        try set(61, by: 1, after: .milliseconds(500))
        try set(62, by: 1, after: .milliseconds(500))
        try set(63, by: 1, after: .milliseconds(501))
        try set(64, by: 2, after: .zero)
        #expect(entries == ["5 session 2: Size 63→64", "4 session 1: Size 62→63", "3 session 1: Size 50→62"])
        #expect(try registry.undo().entry.origin.description == "session 2")
        try registry.undo()
        try registry.undo()
        #expect(size.value == 50 && !size.erased.layers.contains { $0.layer == .override })
        #expect(throws: TweakError.self) { try registry.undo() }
        try registry.redo()
        #expect(size.value == 62)
    }

    /// Only the last entry is extended, so tweaks that are set in turn have an entry each time.
    @Test func aBurstOnSeveralTweaksDisplacesOnlyItsOwnEntries() throws {
        registry.historyLimit = 100
        for value in 1...30 { try set(Double(10 + value), by: UInt64(100 + value)) }
        clock.advance(by: .seconds(10))
        let other = try registry.register("A", "B", "Other", 0.0)
        for number in 1...10_000 {
            clock.advance(by: .microseconds(100))
            try set(size.erased, .number(10 + Double(number % 90)), by: 1)
            try set(other.erased, .number(Double(number)), by: 1)
        }
        #expect((100...112).contains(entries.count))
        #expect(entries.prefix(2) == ["20030 session 1: Other 9999→10000", "20029 session 1: Size 19→20"])
        #expect(entries.suffix(30).first == "30 session 130: Size 39→40")
        #expect(entries.last == "1 session 101: Size 50→11" && registry.forgottenCommits > 19_900)
    }

    @Test func tweaksSetInTurnHaveAnEntryEachTime() throws {
        for round in 1...2 {
            try set(60 + Double(round), by: 1, after: .milliseconds(10))
            try set(name.erased, .string("m\(round)"), by: 1)
            try set(name.erased, .string("n\(round)"), by: 1)
        }
        #expect(
            entries == [
                "6 session 1: Name \"n1\"→\"n2\"", "4 session 1: Size 61→62", "3 session 1: Name \"n\"→\"n1\"",
                "1 session 1: Size 50→61",
            ])
        try registry.undo()
        #expect(size.value == 62 && name.value == "n1")
        // After an undo the entry before it is not extended.
        try set(63, by: 1, after: .zero)
        #expect(entries[0] == "8 session 1: Size 62→63")
    }

    private func drag(_ tweak: AnyTweak, _ value: TweakValue, _ gesture: UInt64, by session: UInt64) throws {
        clock.advance(by: .seconds(30))
        try registry.commit(
            tweak.node, .set(value), origin: .user(1), kind: .change(session: session, gesture: gesture),
            delivery: .caller)
    }

    @Test func aGestureIsOneEntryUntilSomethingElseChanges() throws {
        for value in 0..<4 { try drag(size.erased, .number(20 + Double(value)), 7, by: UInt64(value % 2)) }
        #expect(entries == ["4 uid 1: Size 50→23"])
        try drag(size.erased, .number(30), 8, by: 1)
        try drag(name.erased, .string("m"), 8, by: 1)
        try drag(size.erased, .number(31), 8, by: 1)
        #expect(entries == ["7 uid 1: Size 23→31, Name \"n\"→\"m\"", "4 uid 1: Size 50→23"])
        clock.advance(by: .seconds(31))
        try drag(size.erased, .number(32), 8, by: 1)
        #expect(entries.count == 3)
    }

    /// As a page cancels a drag: it sets the values before again, or resets.
    @Test func aCanceledGestureLeavesNoEntryAndNothingToUndo() throws {
        try set(60, by: 1)
        try set(name.erased, .string("m"), by: 2)
        try registry.commit(origin: .user(1)) { $0.set(name, "x", for: .seconds(600)) }
        let before = entries
        for gesture in 1...3 as ClosedRange<UInt64> {
            let batches: [(inout TweakBatch) -> Void] =
                switch gesture {
                case 1: [{ $0.set(self.size, 70) }, { $0.set(self.size, 60) }]
                case 2:
                    [
                        { batch in
                            batch.set(self.size, 70)
                            batch.set(self.name, "y", for: .seconds(600))
                        },
                        { batch in
                            batch.set(self.size, 60)
                            // The rest of the lifetime, as the page reckons it.
                            batch.set(self.name, "x", for: .milliseconds(596_040))
                        },
                    ]
                default: [{ $0.reset(self.size) }, { $0.set(self.size, 60) }]
                }
            for fill in batches {
                clock.advance(by: .seconds(1))
                var batch = TweakBatch()
                fill(&batch)
                try registry.commit(
                    batch, origin: .user(1), kind: .change(session: 1, gesture: gesture), delivery: .caller)
            }
            #expect(entries == before, "gesture \(gesture)")
        }
        let one = TweakOrigin("session 1")
        // It is neither undone, nor a change since the one that is.
        #expect(try registry.undo(origin: one, mine: true).entry.revision == 1)
        #expect(size.value == 50)
        try drag(size.erased, .number(70), 9, by: 1)
        try registry.commit(
            size.erased.node, .reset, origin: .user(1), kind: .change(session: 1, gesture: 9), delivery: .caller)
        try registry.redo(origin: one, mine: true)
        #expect(size.value == 60)
        // A longer life of the same value is a change, also in a gesture.
        try registry.commit(origin: .user(1)) { $0.set(name, "x", for: .seconds(900)) }
        #expect(entries.count == before.count + 3)
        var longer = TweakBatch()
        longer.set(name, "x", for: .seconds(950))
        try registry.commit(longer, origin: .user(1), kind: .change(session: 1, gesture: 10), delivery: .caller)
        #expect(entries.count == before.count + 4)
    }

    @Test func aChangeByAnotherSessionOrOfOtherTweaksEndsAnEntry() throws {
        try set(60, by: 1)
        var batch = TweakBatch()
        batch.set("A/B/Size", .number(72))
        batch.set("A/B/Name", .string("m2"))
        for number in 2...10 {
            try registry.commit(batch, origin: TweakOrigin("session 2"), kind: .change(session: 2), delivery: .caller)
            try set(60 + Double(number), by: 1, after: .zero)
        }
        #expect(registry.history.count == 19)
        try registry.undo()
        #expect(size.value == 72 && name.value == "m2")
        try registry.undo()
        #expect(size.value == 69)
    }

    private func set(_ value: Double, as name: String, session: UInt64 = 1) throws {
        clock.advance(by: .milliseconds(1))
        let connection = TweakConnection(transport: "tcp", peer: "127.0.0.1:5")
        try registry.commit(
            size.erased.node, .set(.number(value)),
            origin: TweakOrigin("ops").through(connection).named(try DisplayName(name)),
            kind: .change(session: session), delivery: .caller)
    }

    /// They are one client.
    @Test func namesThatAClientTakesInTurnShareAnEntry() throws {
        try set(60, by: 9)
        clock.advance(by: .seconds(10))
        for round in 0..<2_600 { try set(Double(20 + round % 70), as: round % 2 == 0 ? "A" : "B") }
        #expect(entries == ["2601 ops: Size 60→29", "1 session 9: Size 50→60"])
    }

    /// An entry remains, though nothing is different: the audit has the values in between.
    @Test func aValueThatIsSetAndSetBackLeavesAnEntry() throws {
        for round in 0..<1_000 { try set(round % 2 == 0 ? 99 : 50, as: "A") }
        #expect(entries == ["1000 ops (A): Size 50→50"])
    }

    @Test(arguments: [1, 2]) func aClientDisplacesItsOwnEntriesFirst(sessions: UInt64) throws {
        registry.historyLimit = 100
        for value in 1...30 { try set(Double(10 + value), by: UInt64(100 + value)) }
        // A step is never merged, as changes of two sessions in turn.
        for round in 0..<5_000 {
            clock.advance(by: .seconds(sessions == 1 ? 1 : 0))
            try set(10 + Double(round % 90), as: "A", session: UInt64(round) % sessions + 1)
        }
        let left = entries
        #expect(left.count { $0.contains(" session 1") } == 30 && left.count { $0.contains(" ops (A)") } > 50)
        #expect((100...112).contains(left.count))
    }

    /// More are removed at once, not fewer kept.
    @Test func theLastThousandEntriesAreKept() throws {
        for number in 1...2_500 {
            try set(10 + Double(number % 90), by: UInt64(number % 3))
            if number > 995, number % 25 < 3 { #expect((min(number, 1_000)...1_125).contains(entries.count)) }
        }
    }

    @Test func aStepIsAnEntryOfItsOwn() throws {
        try set(60, by: 1)
        try set(size.erased, .number(61), by: 1, isStep: true)
        try set(62, by: 1, after: .zero)
        #expect(entries.count == 3)
    }

    @Test func unchangedSetsAndFiguresLeaveNoEntry() throws {
        try set(60, by: 1)
        try set(60, by: 1)
        try registry.register("A", "B", "Figure", 1, flags: .readOnly).set(2)
        #expect(entries.count == 1)
    }

    @Test func theLimitCountsUndosTooAndZeroKeepsNothing() throws {
        registry.historyLimit = 6
        for value in 0..<20 { try set(Double(20 + value), by: UInt64(value % 2)) }
        #expect(entries.count == 6)
        for _ in 0..<3 { try registry.undo() }
        #expect(size.value == 36)
        registry.historyLimit = 0
        try set(90, by: 1)
        #expect(entries == [])
        #expect(throws: TweakError.self) { try registry.undo() }
    }

    @Test func fewerLargeCommitsAreKeptWithTheHighestLimit() throws {
        registry.historyLimit = .max
        for number in 0..<3_000 { _ = try registry.register("L", "M", "\(number)", 0) }
        for round in 1...40 {
            try registry.commit(origin: .code) { batch in
                for number in 0..<3_000 { batch.set("L/M/\(number)", .int(Int64(round))) }
            }
            // Small ones in between are separate entries.
            try set(Double(10 + round), by: 1)
        }
        let counts = registry.history.map(\.changes.count)
        #expect(counts.reduce(0, +) <= 100_000 + 40 && counts.count { $0 == 3_000 } == 33)
        #expect(registry.history(last: 2).map(\.changes.count) == [1, 3_000])
        try registry.undo()
        try registry.undo()
        #expect(registry["L/M/7"]?.value == .int(39) && size.value == 49)
    }

    // MARK: Undo and redo

    @Test func aBatchIsUndoneWholeAndEachObserverRunsOnce() throws {
        try set(60, by: 1)
        clock.advance(by: .seconds(1))
        try registry.commit(origin: .user(1000)) { batch in
            batch.set("A/B/Size", .number(70))
            batch.set("A/B/Name", .string("m"))
        }
        let seen = Recorder<String>()
        let observations = [
            size.observe { seen.note("\($0.new) \($0.origin)") }, name.observe { seen.note("\($0.new) \($0.origin)") },
        ]
        let undo = try registry.undo(origin: .user(7))
        #expect(undo.entry.origin == .user(1000) && undo.result.revision == 3)
        #expect(seen.all == ["60.0 uid 7", "n uid 7"])
        #expect(size.erased.layers.last?.origin == .user(7))
        #expect(entries[0] == "3 uid 7: Size 70→60, Name \"m\"→\"n\"")
        #expect(registry.history[0].kind == .undo(of: 2))
        for observation in observations { observation.cancel() }
    }

    @Test func aLaterChangeOfAConfigFileIsOnlyOverwrittenByForce() throws {
        try set(60, by: 1)
        // The file takes precedence over the override; undo does not go back to it.
        registry.replace(.configFile, with: ["A/B/Size": "20"], LayerPolicy(dropsOverrides: true))
        #expect(size.value == 20)
        let error = #expect(throws: TweakError.self) { try registry.undo() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("A/B/Size has changed since, in revision 2") == true)
        #expect(registry.revision == 2)
        try registry.undo(force: true)
        #expect(size.value == 20 && registry.history.first { $0.kind == .change }?.isUndone == true)
    }

    @Test func aReloadIsAnEntryThatUndoSkips() throws {
        try set(60, by: 1)
        size.reset()
        registry.replace(.configFile, with: ["A/B/Name": "file"])
        #expect(entries[0] == "3 config file: Name \"n\"→\"file\"")
        #expect(try registry.undo().entry.revision == 2)
        #expect(name.value == "file" && size.value == 60)
    }

    @Test func aSecretsValuesAreNotKeptAndNotUndone() throws {
        let token = try registry.register("A", "B", "Token", "", flags: .secret)
        try token.set("hush")
        #expect(entries == ["1 code: Token ?→?"])
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(token.value == "hush" && !String(describing: registry.history).contains("hush"))
    }

    @Test func aRemovedTweakIsNotUndone() throws {
        try set(60, by: 1)
        registry.remove(size.path)
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(entries.count == 1)
    }

    @Test func aNewChangeEndsRedo() throws {
        try set(60, by: 1)
        try registry.undo()
        try set(61, by: 1)
        #expect(throws: TweakError.self) { try registry.redo() }
        try registry.undo()
        #expect(size.value == 50)
        #expect(throws: TweakError.self) { try registry.undo() }
    }

    @Test func ofTwoUndosAtOnceOneFails() throws {
        try set(60, by: 1)
        try set(70, by: 1)
        let steps = try (1...2).map { _ in try registry.historyStep(.undo, force: false) }
        let errors = steps.map { step in
            refusal {
                try registry.commit(
                    step.batch, origin: .code, ifUnchangedSince: step.revision, kind: step.kind, delivery: .caller)
            }
        }
        #expect(errors[0] == nil && errors[1] != nil && size.value == 60)
    }
}
