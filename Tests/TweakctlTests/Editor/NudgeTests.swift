// What arrow keys make of values; JSON of servers and strangers; which tweaks a search finds.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct NudgeTests {
    private func tweak(_ facts: String) throws -> EditorTweak {
        let json = try #require(JSON("{\"path\":\"A/B/C\",\(facts)}"))
        return try #require(EditorTweak(json, now: .now))
    }

    private static let number = "\"kind\":\"number\",\"value\""
    private static let int = "\"kind\":\"int\",\"value\""
    private static let duration = "\"kind\":\"duration\",\"value\""
    private static let log = ",\"scale\":\"logarithmic\""
    private static let choice = "\"kind\":\"choice\",\"choices\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"value\""

    @Test(
        arguments: [
            // Declared: by steps of the grid, tens of them, and never less than one.
            ("\(number):60,\"step\":0.5,\"min\":10,\"max\":100", 1, Pace.normal, "60.5"),
            ("\(number):60,\"step\":0.5,\"min\":10,\"max\":100", -1, .coarse, "55"),
            ("\(number):60,\"step\":0.5,\"min\":10,\"max\":100", 1, .fine, "60.5"),
            ("\(number):60.2,\"step\":0.5,\"min\":10,\"max\":100", 1, .normal, "60.5"),
            ("\(number):98,\"step\":0.5,\"min\":10,\"max\":100", 1, .coarse, "100"),
            ("\(number):0.1,\"step\":0.1,\"min\":0,\"max\":1", 1, .normal, "0.2"),
            ("\(number):0.2,\"step\":0.1,\"min\":0,\"max\":1", 1, .normal, "0.3"),
            // Steps count from the lower bound, or else from the default, which a step does not pass.
            ("\(number):1.25,\"step\":0.5,\"default\":0.25", 1, .normal, "1.75"),
            ("\(number):0.25,\"step\":0.5,\"default\":0.25", -1, .normal, "-0.25"),
            ("\(number):0.25,\"step\":0.5,\"default\":0.25,\"max\":3", 1, .coarse, "3"),
            ("\(number):3,\"step\":0.5,\"default\":0.25,\"max\":3", -1, .normal, "2.75"),
            ("\(number):11.5,\"step\":0.5,\"default\":11.7,\"min\":10", 1, .normal, "11.7"),
            ("\(number):11.7,\"step\":0.5,\"default\":11.7,\"min\":10", 1, .normal, "12"),
            ("\(number):12,\"step\":0.5,\"default\":11.7,\"min\":10", -1, .normal, "11.7"),
            ("\(number):11.7,\"step\":0.5,\"default\":11.7,\"min\":10", -1, .normal, "11.5"),
            ("\(int):10,\"step\":7,\"default\":3", 1, .normal, "17"),
            ("\(int):10,\"step\":7,\"default\":3", -1, .coarse, "-60"),
            ("\(int):6,\"step\":4,\"default\":6,\"min\":0", 1, .normal, "8"),
            ("\(int):8,\"step\":4,\"default\":6,\"min\":0", -1, .normal, "6"),
            ("\(int):23,\"step\":4,\"default\":6,\"min\":0,\"max\":23", -1, .normal, "20"),
            ("\(duration):\"15ms\",\"step\":\"10ms\",\"default\":\"5ms\"", 1, .normal, "25ms"),
            // By ratios on a logarithmic scale, and by the step where one is declared.
            ("\(number):10,\"min\":1,\"max\":1000\(log)", 1, .normal, "10.7"),
            ("\(number):10,\"min\":1,\"max\":1000\(log)", -1, .coarse, "5"),
            ("\(number):100,\"min\":1,\"max\":1000\(log)", 1, .fine, "100.7"),
            ("\(number):900,\"min\":1,\"max\":1000\(log)", 1, .coarse, "1000"),
            ("\(number):1,\"min\":1,\"max\":1000\(log)", -1, .normal, "1"),
            ("\(number):10,\"step\":1,\"min\":1,\"max\":1000\(log)", 1, .normal, "11"),
            ("\(int):1,\"min\":1,\"max\":1000\(log)", 1, .normal, "2"),
            ("\(int):500,\"min\":1,\"max\":1000\(log)", 1, .normal, "535"),
            ("\(duration):\"10s\",\"min\":\"0s\",\"max\":\"1h\"\(log)", 1, .normal, "11s"),
            ("\(duration):\"0s\",\"min\":\"0s\",\"max\":\"1h\"\(log)", 1, .normal, "250ms"),
            // A round hundredth of the range.
            ("\(number):1,\"min\":0,\"max\":1", -1, .normal, "0.99"),
            ("\(number):1,\"min\":0,\"max\":1", 1, .normal, "1"),
            ("\(number):0.7,\"min\":0,\"max\":1", -1, .fine, "0.699"),
            ("\(number):28,\"min\":0,\"max\":200", 1, .normal, "30"),
            ("\(number):16,\"min\":4,\"max\":120", 1, .normal, "17"),
            ("\(number):16,\"min\":4,\"max\":120", 1, .fine, "16.1"),
            // Without a range by its size.
            ("\(number):60", 1, .normal, "61"), ("\(number):0", 1, .normal, "0.1"),
            ("\(number):-60", 1, .coarse, "-50"),
            ("\(number):1.7976931348623157e308", 1, .coarse, "1.7976931348623157e+308"),
            // Ints by one, up to what they can hold.
            ("\(int):8,\"min\":0,\"max\":24", 1, .normal, "9"), ("\(int):8,\"min\":0,\"max\":24", -1, .coarse, "0"),
            ("\(int):8", 1, .fine, "9"), ("\(int):9223372036854775807", 1, .normal, "9223372036854775807"),
            ("\(int):8,\"step\":4,\"min\":0,\"max\":24", 1, .normal, "12"),
            ("\(duration):\"400ms\",\"min\":\"0s\",\"max\":\"5s\"", 1, .normal, "450ms"),
            ("\(duration):\"400ms\",\"min\":\"0s\",\"max\":\"5s\"", -1, .fine, "395ms"),
            ("\(duration):\"4.9s\",\"min\":\"0s\",\"max\":\"5s\"", 1, .coarse, "5s"),
            ("\(duration):\"400ms\"", 1, .normal, "405ms"), ("\(duration):\"3ns\"", 1, .fine, "4ns"),
            ("\(duration):\"0s\"", 1, .normal, "10ms"),
            ("\"kind\":\"bool\",\"value\":false", 1, .normal, "true"),
            ("\"kind\":\"bool\",\"value\":false", -1, .normal, "false"),
            ("\(choice):\"a\"", 1, .normal, "b"), ("\(choice):\"b\"", 1, .normal, "b"),
            ("\(choice):\"a\"", -1, .coarse, "a"),
            ("\"kind\":\"string\",\"value\":\"x\"", 1, .normal, nil), ("\"kind\":\"action\"", 1, .normal, nil),
        ] as [(String, Int, Pace, String?)])
    func moves(_ facts: String, _ direction: Int, _ pace: Pace, _ text: String?) throws {
        #expect(Nudge.moved(try tweak(facts), direction, pace)?.text == text)
    }

    @Test(
        arguments: [
            ("\"kind\":\"bool\",\"value\":true", "false"), ("\(choice):\"b\"", "a"), ("\(int):5", nil),
            ("\"kind\":\"choice\",\"value\":\"a\"", nil),
        ] as [(String, String?)])
    func flips(_ facts: String, _ text: String?) throws { #expect(Nudge.flipped(try tweak(facts))?.text == text) }

    /// From bound to bound and back, whatever the range: never beyond, never stuck, never dust.
    @Test(arguments: 0..<20) func wanders(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lower = Double(Int.random(in: -1_000..<1_000, using: &random))
        let upper = lower + Double(Int.random(in: 5...1_000, using: &random))
        var tweak = try tweak("\(Self.number):\(lower),\"min\":\(lower),\"max\":\(upper)")
        var presses = 0
        while tweak.shown != .number(upper), presses < 600 {
            let value = try #require(Nudge.moved(tweak, 1, .normal))
            #expect(value != tweak.shown && value.text.utf8.count < 8)
            tweak.wanted = value
            presses += 1
        }
        #expect(tweak.shown == .number(upper) && (50...510).contains(presses))
    }

    /// On a logarithmic scale, too, each press moves, and about a hundred lead from bound to bound.
    @Test(arguments: [("1", "1000"), ("0", "3600"), ("-1000", "1000"), ("0.0001", "1")])
    func wandersByRatios(_ lower: String, _ upper: String) throws {
        var tweak = try tweak("\(Self.number):\(lower),\"min\":\(lower),\"max\":\(upper)\(Self.log)")
        var presses = 0
        while tweak.shown != tweak.upper, presses < 200 {
            let value = try #require(Nudge.moved(tweak, 1, .normal))
            #expect(value != tweak.shown && value.text.utf8.count < 12)
            tweak.wanted = value
            presses += 1
        }
        #expect((90...110).contains(presses))
    }

    /// The bar of a value, where a third of the way is a third of the powers of ten.
    @Test func theBarHeedsTheScale() throws {
        let facts = "\(Self.number):10,\"min\":1,\"max\":1000"
        let fractions = try [facts, facts + Self.log].map { try #require(tweak($0).fraction) }
        #expect(abs(fractions[0] - 9.0 / 999) < 1e-9 && abs(fractions[1] - 1.0 / 3) < 1e-9)
        #expect(try tweak("\(Self.number):10,\"min\":10,\"max\":10").fraction == nil)
    }

    // MARK: JSON

    @Test(arguments: [
        "{}", "{\"path\":\"A/B\",\"kind\":\"int\"}", "{\"path\":\"A/B/C\",\"kind\":\"fancy\"}", "[]",
        "{\"path\":\"A/B/\\u001b[2J\",\"kind\":\"int\"}",
    ])
    func noTweaks(_ text: String) { #expect(JSON(text).flatMap { EditorTweak($0, now: .now) } == nil) }

    // MARK: Search

    @Test(
        arguments: [
            ("size", ["A/Text/Size", "Size/B/C", "A/Text/Text Size", "A/B/Help", "A/B/Resize"]),
            ("SIZE px", ["A/Text/Size"]),
            ("atsz", ["A/Text/Text Size", "A/Text/Size"]), ("nothing", []), ("x", ["A/Text/Text Size", "A/Text/Size"]),
        ])
    func ranks(_ search: String, _ paths: [String]) throws {
        let facts = [
            ("A/B/Help", ",\"help\":\"of any size\""), ("A/B/Resize", ""), ("Size/B/C", ""), ("A/Text/Text Size", ""),
            ("A/Text/Size", ",\"unit\":\"px\""),
        ]
        let tweaks = try facts.map { path, more in
            try #require(
                JSON("{\"path\":\"\(path)\",\"kind\":\"int\",\"value\":1\(more)}").flatMap {
                    EditorTweak($0, now: .now)
                })
        }
        let query = FindQuery(search.split(separator: " ").map { String($0) })
        #expect(EditorModel.matches(query, among: tweaks).map { tweaks[$0].path } == paths)
    }
}
