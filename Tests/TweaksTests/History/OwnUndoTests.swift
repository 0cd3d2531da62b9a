// Tests undo and redo of a user's own changes among those of other users.

import Testing
import Tweaks
import TweaksTestSupport

@Suite struct OwnUndoTests {
    private static let names = (0..<4).map { "A/X/T\($0)" }
    private var harness: UndoHarness
    private let registry: TweakRegistry
    private let ada = TweakOrigin.user(1000).named(try? DisplayName("Ada"))
    private let path = names[0]

    init() throws {
        harness = try UndoHarness(Self.names)
        registry = harness.registry
    }

    @Test(arguments: 0..<40 as Range<UInt64>) mutating func agreesWithAModel(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 1...150 {
            let caller = UndoCaller(name: ["Ada", "Bob", "Eve"][Int.random(in: 0..<3, using: &random)])
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1:
                let names = Self.names.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
                // Few values, so that values recur.
                let value = Int.random(in: 1...3, using: &random)
                try harness.set(Dictionary(uniqueKeysWithValues: names.map { ($0, value) }), by: caller.name)
            case 2...3: try harness.check(.undo, caller)
            default: try harness.check(.redo, caller)
            }
        }
    }

    @Test mutating func changesOfOthersStayAndAreNamed() throws {
        try harness.set([path: 1], by: "Ada")
        try harness.set([Self.names[1]: 2], by: "Bob")
        let undone = try registry.undo(origin: ada, mine: true)
        #expect(undone.entry.origin.description == "uid 1000 (Ada)" && undone.entry.revision == 1)
        #expect(registry[Self.names[1]]?.value == .int(2))
        // Neither a change of another user ends redo, nor can another user of the same name redo it.
        try harness.set([Self.names[2]: 3], by: "Bob")
        let other = TweakOrigin.user(7).named(try DisplayName("Ada"))
        #expect(throws: TweakError.self) { try registry.redo(origin: other, mine: true) }
        try registry.redo(origin: ada, mine: true)
        #expect(registry[path]?.value == .int(1))
    }

    @Test func aWindowsOwnChangesAreThoseOfTheWindowUnderAnyName() throws {
        let user = TweakOrigin.user(1000)
        let (one, other) = (user.inWindow(1), user.inWindow(2))
        try registry.commit(origin: one) { $0.set(path, .int(1)) }
        try registry.commit(origin: other) { $0.set(Self.names[1], .int(2)) }
        // Neither a client without a window nor another window has a change of that path.
        #expect(throws: TweakError.self) { try registry.undo(origin: user, mine: true) }
        let named = one.named(try DisplayName("Ada"))
        #expect(try registry.undo(origin: named, mine: true).entry.revision == 1)
        #expect(throws: TweakError.self) { try registry.undo(origin: named, mine: true) }
        #expect(throws: TweakError.self) { try registry.redo(origin: other, mine: true) }
        #expect(try registry.redo(origin: one, mine: true).entry.revision == 1)
        #expect(try registry.undo(origin: other, mine: true).entry.revision == 2)
    }

    @Test mutating func theSameValueSetByAnotherUserIsAConflict() throws {
        for (value, name) in [(1, "Ada"), (2, "Bob"), (1, "Bob")] { try harness.set([path: value], by: name) }
        let error = #expect(throws: TweakError.self) { try registry.undo(origin: ada, mine: true) }
        #expect(error?.code == .conflict && error?.path?.joined == path)
        #expect(error?.message.contains("in revision 3 by uid 1000 (Bob)") == true)
        try registry.undo(origin: ada, mine: true, force: true)
        #expect(registry[path]?.value == .int(0))
    }

    @Test mutating func aUserCanRedoWhatTheyUndidOfOthers() throws {
        try harness.set([path: 1], by: "Bob")
        try registry.undo(origin: ada)
        try registry.redo(origin: ada, mine: true)
        #expect(registry[path]?.value == .int(1))
        #expect(throws: TweakError.self) { try registry.redo(origin: ada, mine: true) }
    }
}
