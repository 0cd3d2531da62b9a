// Two looks side by side.

import Testing
import Tweaks

struct PresetDifferenceTests {
    private let registry = TweakRegistry()

    init() {
        _ = Tweak("A", "B", "Size", 50.0, in: 10...100, formerly: "A/B/Width", registry: registry)
        _ = Tweak("A", "B", "Text", "x", registry: registry)
        _ = Tweak("A", "B", "Color", TweakColor.black, registry: registry)
        _ = Tweak("A", "B", "Token", "", flags: .secret, registry: registry)
    }

    private func preset(_ lines: [(String, String)]) -> Preset {
        let entries = lines.enumerated().map { number, line in
            ConfigEntry(path: line.0, text: line.1, line: number + 1, origin: .code)
        }
        return Preset(heading: PresetHeading(), entries: entries, problems: [])
    }

    private func rows(_ difference: PresetDifference) -> [String] {
        difference.rows.map { "\($0.path.joined) \($0.left ?? "-") \($0.right ?? "-")" }
    }

    private func set(_ path: String, _ value: TweakValue) throws {
        try registry.commit(origin: .code) { $0.set(path, value) }
    }

    @Test func againstWhatIsInForce() throws {
        try set("A/B/Text", .string("y z"))
        try set("A/B/Token", .string("hunter2"))
        let difference = PresetDifference(
            inForceAnd: preset([("A/B/Gone", "1"), ("A/B/Width", "6e1"), ("A/B/Color", "black")]), TweakView(registry))
        #expect(rows(difference) == ["A/B/Size 50 60", #"A/B/Text "y z" -"#, "A/B/Gone - 1"])
        #expect(difference.rightProblems.isEmpty)
    }

    /// By value, not by letter.
    @Test func theSame() throws {
        try set("A/B/Size", .number(60))
        try set("A/B/Color", .color(.black))
        let same = preset([("A/B/Size", "60.0"), ("A/B/Color", "#000")])
        #expect(rows(PresetDifference(inForceAnd: same, TweakView(registry))).isEmpty)
        #expect(
            rows(PresetDifference(same, preset([("A/B/Width", "6e1"), ("A/B/Color", "black")]), TweakView(registry)))
                .isEmpty)
    }

    @Test func twoPresets() {
        let left = preset([("A/B/Text", "x"), ("A/B/Size", "60"), ("Z/Z/Z", "1"), ("Y/Y/Y", "a b")])
        let right = preset([("Y/Y/Y", "a b"), ("A/B/Size", "61"), ("Z/Z/Z", "2"), ("X/X/X", "")])
        #expect(
            rows(PresetDifference(left, right, TweakView(registry))) == [
                "A/B/Size 60 61", #"A/B/Text "x" -"#, "Z/Z/Z 1 2", #"X/X/X - """#,
            ])
    }

    @Test func whatCannotBeCompared() {
        let bad = preset([("A/B/Size", "500"), ("A/B/Token", "hunter2"), ("A/B/Text", "a"), ("A/B/Text", "b")])
        let difference = PresetDifference(bad, preset([("no path", "1")]), TweakView(registry))
        #expect(difference.leftProblems.map(\.line) == [1, 2, 4])
        #expect(difference.rightProblems.map(\.error.code) == [.unknownTweak])
        #expect(!"\(difference)".contains("hunter2"))
        #expect(rows(difference) == [#"A/B/Text "a" -"#])
    }
}
