// Tests undo and redo of callers that see a part of the tweaks.

import Testing
import Tweaks
import TweaksTestSupport

@Suite struct PartialUndoTests {
    private static let names = ["A", "B", "C"].flatMap { category in (0..<2).map { "\(category)/X/T\($0)" } }
    private var harness: UndoHarness

    init() throws { harness = try UndoHarness(Self.names) }

    @Test(arguments: 0..<40 as Range<UInt64>) mutating func agreesWithAModel(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let callers = [
            Rights.all, Rights(["write:A"]), Rights(["write:B", "write:A/X/T0"]), Rights(["read", "write:C"]),
            Rights(["write"], without: ["read:C"]),
        ].map { UndoCaller(rights: $0) }
        for step in 1...120 {
            let caller = callers[Int.random(in: callers.indices, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0...1:
                let names = Self.names.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
                try harness.set(Dictionary(uniqueKeysWithValues: names.map { ($0, step) }))
            case 2: try harness.check(.undo, caller)
            default: try harness.check(.redo, caller)
            }
        }
    }

    @Test mutating func aChangeEndsRedoOnlyForCallersThatSeeIt() throws {
        let (registry, caller) = (harness.registry, UndoCaller(rights: Rights(["write:A"])))
        try harness.set(["A/X/T0": 1])
        let undone = try harness.check(.undo, caller)
        try harness.set(["B/X/T0": 1])
        #expect(throws: TweakError.self) { _ = try registry.historyStep(.redo, force: false) }
        let redone = try harness.check(.redo, caller)
        #expect(undone == .done(0) && redone == .done(0))
        #expect(registry["A/X/T0"]?.value == .int(1))
    }

    @Test(
        arguments: [
            (["write:A"], .denied), (["admin:A/X/T0", "read"], .denied), (["admin:B", "read"], .denied),
            (["admin:B"], .conflict), (["admin:A"], nil),
        ] as [([TweakScope], TweakError.Code?)])
    mutating func forcingNeedsAdminRights(_ scopes: [TweakScope], _ code: TweakError.Code?) throws {
        let registry = harness.registry
        try harness.set(["A/X/T0": 1, "A/X/T1": 1])
        #expect(refusal { _ = try registry.historyStep(.undo, force: true, rights: Rights(scopes)) }?.code == code)
    }

    @Test mutating func historyListsVisibleCommitsAndChanges() throws {
        for changes in [["A/X/T0": 1], ["B/X/T0": 1], ["A/X/T0": 2, "B/X/T0": 2], ["B/X/T1": 3]] {
            try harness.set(changes)
        }
        let registry = harness.registry
        let visible = registry.history(last: 2, seenWith: Rights(["read:A"]))
        #expect(visible.map(\.revision) == [3, 1])
        #expect(visible.map { $0.changes.map(\.path.joined) } == [["A/X/T0"], ["A/X/T0"]])
        #expect(registry.history(last: 1, seenWith: Rights(["read:C"])).isEmpty)
        #expect(registry.history(last: 1, seenWith: Rights(["read:A"])).map(\.revision) == [3])
        #expect(registry.history(last: 9, seenWith: .all).count == 4)
    }
}
