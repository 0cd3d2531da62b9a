// Tests the comparison of a preset with the current values or with another preset.

import Testing
import Tweaks

struct PresetDifferenceTests {
    private let registry = TweakRegistry()
    private var view: TweakView { TweakView(registry) }

    init() {
        _ = Tweak("A", "B", "Size", 50.0, in: 10...100, formerly: "A/B/Width", registry: registry)
        _ = Tweak("A", "B", "Text", "x", registry: registry)
        _ = Tweak("A", "B", "Color", TweakColor.black, registry: registry)
        _ = Tweak("A", "B", "Token", "", flags: .secret, registry: registry)
    }

    private func rows(_ difference: PresetDifference) -> [String] {
        difference.rows.map { "\($0.path.joined) \($0.left ?? "-") \($0.right ?? "-")" }
    }

    @Test func currentOverridesAreComparedWithThePreset() throws {
        try registry.commit { batch in
            batch.set("A/B/Text", .string("y z"))
            batch.set("A/B/Token", .string("hunter2"))
        }
        let preset = Preset(lines: ["A/B/Gone": "1", "A/B/Width": "6e1", "A/B/Color": "black"])
        let difference = PresetDifference(comparingCurrentTo: preset, view)
        #expect(rows(difference) == ["A/B/Size 50 60", #"A/B/Text "y z" -"#, "A/B/Gone - 1"])
        #expect(difference.rightProblems.isEmpty)
    }

    @Test func differentTextsOfTheSameValueAreNoDifference() throws {
        try registry.commit { batch in
            batch.set("A/B/Size", .number(60))
            batch.set("A/B/Color", .color(.black))
        }
        let same = Preset(lines: ["A/B/Size": "60.0", "A/B/Color": "#000"])
        #expect(rows(PresetDifference(comparingCurrentTo: same, view)).isEmpty)
        let other = Preset(lines: ["A/B/Width": "6e1", "A/B/Color": "black"])
        #expect(rows(PresetDifference(same, other, view)).isEmpty)
    }

    @Test func twoPresetsDifferInValuesAndInLinesThatOneLacks() {
        let left = Preset(lines: ["A/B/Text": "x", "A/B/Size": "60", "Z/Z/Z": "1", "Y/Y/Y": "a b"])
        let right = Preset(lines: ["Y/Y/Y": "a b", "A/B/Size": "61", "Z/Z/Z": "2", "X/X/X": ""])
        let expected = ["A/B/Size 60 61", #"A/B/Text "x" -"#, "Z/Z/Z 1 2", #"X/X/X - """#]
        #expect(rows(PresetDifference(left, right, view)) == expected)
    }

    @Test func invalidLinesAreProblemsOfTheirSide() {
        let bad = Preset(lines: ["A/B/Size": "500", "A/B/Token": "hunter2", "A/B/Text": "a", "A/B/Text": "b"])
        let difference = PresetDifference(bad, Preset(lines: ["no path": "1"]), view)
        #expect(difference.leftProblems.map(\.line) == [1, 2, 4])
        #expect(difference.rightProblems.map(\.error.code) == [.unknownTweak] && !"\(difference)".contains("hunter2"))
        #expect(rows(difference) == [#"A/B/Text "a" -"#])
    }
}
