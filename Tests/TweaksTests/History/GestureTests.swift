// Tests gestures that change several tweaks, such as the parts of a group: each is one step of undo.

import Testing
import Tweaks
import TweaksTestSupport

@Suite struct GestureTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let shadow: TweakGroup<TweakShadow>
    private let secret: Tweak<Int>

    init() throws {
        let clock = clock
        registry = TweakRegistry { clock.now }
        shadow = TweakGroup("Card", "Text", TweakShadow(x: 1, y: 2), registry: registry)
        secret = try registry.register("Card", "Text", "Key", 5, flags: .secret)
    }

    /// A commit of a gesture: parts of the shadow with their values; nil resets.
    private func drag(
        _ values: [String: Double?], _ gesture: UInt64 = 7, as origin: TweakOrigin = .user(1), isStep: Bool = false
    ) throws {
        clock.advance(by: .seconds(10))
        var batch = TweakBatch()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let value { batch.set("Card/Text/\(name)", .number(value)) } else { batch.reset("Card/Text/\(name)") }
        }
        try registry.commit(
            batch, origin: origin, kind: .change(session: 1, isStep: isStep, gesture: gesture), delivery: .caller)
    }

    private var entries: [String] {
        registry.history.map { entry in
            entry.changes.map { "\($0.path.name) \($0.old?.text ?? "?")→\($0.new?.text ?? "?")" }.joined(
                separator: ", ")
        }
    }

    private var position: [Double] { [shadow.value.x, shadow.value.y, shadow.value.radius] }

    /// What a gesture has left as it was is not undone, so others may have changed it.
    @Test(arguments: [false, true]) func aTweakThatWasMovedBackIsNoPartOfUndo(isForced: Bool) throws {
        try drag(["X": 3], 6)
        try drag(["X": 4])
        try drag(["X": 3, "Y": 6])
        try drag(["X": 9], 8, as: .user(2))
        try registry.undo(origin: .user(1), mine: true, force: isForced)
        #expect(position == [9, 2, 4])
    }

    /// The commits of one gesture, and the entry that they become.
    @Test(
        arguments: [
            ([["X": 3, "Y": 4], ["X": 5, "Y": 6]], "X 1→5, Y 2→6"),
            ([["X": 3], ["Y": 4], ["X": 5], ["Y": 6]], "X 1→5, Y 2→6"),
            ([["X": 3], ["X": 4, "Y": 5], ["Radius": 8]], "X 1→4, Y 2→5, Radius 4→8"),
            ([["X": 3, "Y": 4], ["X": 5]], "X 1→5, Y 2→4"),
            ([["Y": 3], ["X": 4, "Y": 5], ["Y": 6, "X": 7]], "Y 2→6, X 1→7"),
        ] as [([[String: Double?]], String)])
    func isOneEntryOfAllTweaksThatItChanged(commits: [[String: Double?]], entry: String) throws {
        for values in commits { try drag(values) }
        let now = position
        #expect(entries == [entry])
        try registry.undo()
        #expect(position == [1, 2, 4] && !shadow.isModified)
        #expect(shadow.parts.allSatisfy { $0.layers.count == 1 }, "no override stays")
        try registry.redo()
        #expect(position == now)
        #expect(entries.count == 3 && entries.last == entry)
        #expect(throws: TweakError.self) { try registry.redo() }
    }

    /// The first part had an override, which undo restores.
    @Test func undoRestoresWhatWasThereBefore() throws {
        try registry["Card/Text/X"]?.set(.number(10))
        clock.advance(by: .seconds(10))
        try registry.commit(origin: .code) { $0.set("Card/Text/Y", .number(20), for: .seconds(6_000)) }
        for value in 1...3 { try drag(["X": Double(value), "Y": Double(value)]) }
        try drag(["Radius": 9])
        try registry.undo()
        #expect(position == [10, 20, 4])
        #expect(registry["Card/Text/Y"]?.layers.last?.layer == .temporaryOverride)
    }

    /// The commits that a page makes when Escape ends a drag, and how many entries are left.
    @Test(
        arguments: [
            ([["X": 3], ["Y": 4], ["X": nil, "Y": nil]], 0), ([["X": 3, "Y": 4], ["X": nil], ["Y": nil]], 0),
            ([["X": 3, "Y": 4], ["X": nil]], 1), ([["X": 3], ["X": nil], ["Y": 4], ["Y": nil]], 0),
        ] as [([[String: Double?]], Int)])
    func canceledLeavesNothingToUndo(commits: [[String: Double?]], count: Int) throws {
        for values in commits { try drag(values) }
        #expect(entries.count == count)
        if count == 0 { #expect(throws: TweakError.self) { try registry.undo() } } else { try registry.undo() }
        #expect(position == [1, 2, 4])
    }

    /// What comes between, and how many entries there are.
    @Test func somethingElseInBetweenEndsAnEntry() throws {
        try drag(["X": 3])
        try drag(["Y": 4], 8)
        #expect(entries.count == 2, "another gesture")
        try drag(["X": 4], 8, as: .user(2))
        #expect(entries.count == 3, "another client")
        try drag(["Y": 5], 8, as: .user(2), isStep: true)
        #expect(entries.count == 4, "a step")
        try drag(["X": 6], 9)
        clock.advance(by: .seconds(61))
        try drag(["Y": 6], 9)
        #expect(entries.count == 6, "a minute")
        try registry.undo()
        try drag(["X": 7], 9)
        #expect(entries.count == 8, "an undo")
        try drag(["Y": 7], 0)
        try drag(["X": 8], 0)
        #expect(entries.count == 10, "no gesture")
    }

    /// A change of a part by another client is a conflict of the whole step.
    @Test func undoOverwritesNoLaterChange() throws {
        try drag(["X": 3])
        try drag(["Y": 4])
        try drag(["Y": 5], 0, as: .user(2))
        let error = #expect(throws: TweakError.self) { try registry.undo(origin: .user(1), mine: true) }
        #expect(error?.code == .conflict && error?.path?.name == "Y")
        #expect(position == [3, 5, 4])
    }

    @Test func aSecretPartIsRecordedWithoutItsValue() throws {
        try drag(["X": 3])
        try registry.commit(
            secret.erased.node, .set(.int(7)), origin: .user(1), kind: .change(session: 1, gesture: 7),
            delivery: .caller)
        try drag(["X": 4])
        #expect(entries == ["X 1→4, Key ?→?"])
        #expect(throws: TweakError.self) { try registry.undo() }
        try registry.undo(force: true)
        #expect(position == [1, 2, 4] && secret.value == 7)
    }

    /// Finding the tweaks of a commit among those of an entry takes the product of both.
    @Test func hasAtMostAHundredTweaks() throws {
        let tweaks = try (0..<250).map { try registry.register("Many", "Of", "Number \($0)", 0) }
        for round in 1...2 {
            for tweak in tweaks {
                try registry.commit(
                    tweak.erased.node, .set(.int(Int64(round))), origin: .user(1),
                    kind: .change(session: 1, gesture: 7), delivery: .caller)
            }
        }
        #expect(registry.history.map(\.changes.count).allSatisfy { $0 <= 100 })
        #expect(registry.history.map(\.changes.count).reduce(0, +) == 500 && registry.history.count < 8)
        // A commit of the same tweaks as the last one continues it, however many they are.
        let count = registry.history.count
        for value in 10...12 {
            var batch = TweakBatch()
            for tweak in tweaks { batch.set(tweak, value) }
            try registry.commit(
                batch, origin: .user(1), kind: .change(session: 1, gesture: 7), delivery: .caller)
        }
        #expect(registry.history.count == count + 1 && registry.history[0].changes.count == 250)
    }

    /// A gesture of long texts counts as much as they do, so that other entries make room.
    @Test func countsTowardTheLimitOfMemory() throws {
        registry.limitHistory(bytes: 256 * 200)
        let texts = try (0..<10).map { try registry.register("Many", "Of", "Text \($0)", "") }
        for number in 1...150 {
            clock.advance(by: .seconds(1))
            try registry.commit(origin: .user(1)) { $0.set("Card/Text/X", .number(Double(number))) }
        }
        for text in texts {
            try registry.commit(
                text.erased.node, .set(.string(String(repeating: "x", count: 256 * 16))), origin: .user(1),
                kind: .change(session: 1, gesture: 7), delivery: .caller)
        }
        #expect(registry.history[0].changes.count == 10)
        #expect(registry.memorySize.history <= 256 * 200 && registry.forgottenCommits > 0)
    }
}
