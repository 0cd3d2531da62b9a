// Tests of the steps of arrow keys, of tweaks read from JSON, and of the ranking of search results.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct ValueStepperTests {
    private func tweak(_ fields: String, _ path: String = "A/B/C") throws -> EditorTweak {
        let json = try #require(JSON("{\"path\":\"\(path)\",\(fields)}"))
        return try #require(EditorTweak(json, now: .now))
    }

    /// A step from the shown value would set another value than the user sees.
    @Test func whatAPreviewShowsIsNotChanged() throws {
        var tweak = try tweak(#""kind":"int","default":5,"value":5,"settled":6,"layer":"preview""#)
        #expect(tweak.value == .int(6))
        tweak.apply(try #require(JSON(#"{"value":4,"was":6,"layer":"preview"}"#)))
        #expect(tweak.value == .int(6))
        tweak.apply(try #require(JSON(#"{"value":6,"was":4,"layer":"override"}"#)))
        #expect(tweak.value == .int(6))
    }

    private static let number = "\"kind\":\"number\",\"value\""
    private static let int = "\"kind\":\"int\",\"value\""
    private static let log = ",\"scale\":\"logarithmic\""
    private static let choice = "\"kind\":\"choice\",\"choices\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"value\""

    /// The kind and the fields of a tweak; and values, each with a key and the new value. ⇧ is Shift, and ⌥ is Alt.
    private static let steps = [
        // A declared step: by one step, ten steps, or a tenth of a step, and at least by one.
        (#""number","step":0.5,"min":10,"max":100"#, "60 → 60.5, 60 ⇧← 55, 60 ⌥→ 60.5, 60.2 → 60.5, 98 ⇧→ 100"),
        (#""number","step":0.1,"min":0,"max":1"#, "0.1 → 0.2, 0.2 → 0.3"),
        // At any exponent, as the server and the page add.
        (#""number","step":1e-8,"default":0.00032"#, "0.00032 → 0.00032001, 0.00033 ← 0.00032999"),
        (#""number","step":1e-300,"default":2.5e-300"#, "5.5e-300 → 6.5e-300, 2.5e-300 ← 1.5e-300"),
        // Steps count from the lower bound, or else from the default, and stop at the default.
        (#""number","step":0.5,"default":0.25"#, "1.25 → 1.75, 0.25 ← -0.25"),
        (#""number","step":0.5,"default":0.25,"max":3"#, "0.25 ⇧→ 3, 3 ← 2.75"),
        (#""number","step":0.5,"default":11.7,"min":10"#, "11.5 → 11.7, 11.7 → 12, 12 ← 11.7, 11.7 ← 11.5"),
        (#""int","step":7,"default":3"#, "10 → 17, 10 ⇧← -60"),
        (#""int","step":4,"default":6,"min":0"#, "6 → 8, 8 ← 6"),
        (#""int","step":4,"default":6,"min":0,"max":23"#, "23 ← 20"),
        (#""duration","step":"10ms","default":"5ms""#, #""15ms" → 25ms"#),
        // A logarithmic scale: by ratios, unless a step is declared.
        (#""number","min":1,"max":1000"# + log, "10 → 10.7, 10 ⇧← 5, 100 ⌥→ 100.7, 900 ⇧→ 1000, 1 ← 1"),
        (#""number","step":1,"min":1,"max":1000"# + log, "10 → 11"),
        (#""int","min":1,"max":1000"# + log, "1 → 2, 500 → 535"),
        (#""duration","min":"0s","max":"1h""# + log, #""10s" → 11s, "0s" → 250ms"#),
        // A range: by a hundredth of it, rounded.
        (#""number","min":0,"max":1"#, "1 ← 0.99, 1 → 1, 0.7 ⌥← 0.699"), (#""number","min":0,"max":200"#, "28 → 30"),
        (#""number","min":4,"max":120"#, "16 → 17, 16 ⌥→ 16.1"),
        // No range: by a fraction of the value.
        (#""number""#, "0.00032 → 0.000325, 3e-300 → 3.05e-300, 3e300 ⇧← 2.5e+300, 0.123456 → 0.125456"),
        (#""number""#, "60 → 61, 0 → 0.1, -60 ⇧→ -50, 1.7976931348623157e308 ⇧→ 1.7976931348623157e+308"),
        // Ints: by one, within their bounds.
        (#""int","min":0,"max":24"#, "8 → 9, 8 ⇧← 0"), (#""int","step":4,"min":0,"max":24"#, "8 → 12"),
        (#""int""#, "8 ⌥→ 9, 9223372036854775807 → 9223372036854775807"),
        (#""duration","min":"0s","max":"5s""#, #""400ms" → 450ms, "400ms" ⌥← 395ms, "4.9s" ⇧→ 5s"#),
        (#""duration""#, #""400ms" → 405ms, "3ns" ⌥→ 4ns, "0s" → 10ms"#), (#""bool""#, "false → true, false ← false"),
        (#""choice","choices":[{"name":"a"},{"name":"b"}]"#, #""a" → b, "b" → b, "a" ⇧← a"#),
        (#""string""#, #""x" → –"#), (#""action""#, "null → –"),
    ]

    @Test(arguments: steps) func anArrowKeyStepsAValue(_ kind: String, _ steps: String) throws {
        for step in steps.components(separatedBy: ", ").map({ $0.components(separatedBy: " ") }) {
            let stepSize = step[1].hasPrefix("⇧") ? StepSize.coarse : step[1].hasPrefix("⌥") ? .fine : .normal
            let tweak = try tweak("\"kind\":\(kind),\"value\":\(step[0])")
            let stepped = ValueStepper.stepped(tweak, step[1].hasSuffix("→") ? 1 : -1, stepSize)
            #expect(stepped?.text ?? "–" == step[2], "\(step)")
        }
    }

    @Test(
        arguments: [
            ("\"kind\":\"bool\",\"value\":true", "false"), ("\(choice):\"b\"", "a"), ("\(int):5", nil),
            ("\"kind\":\"choice\",\"value\":\"a\"", nil),
        ] as [(String, String?)])
    func spaceTakesTheOtherOrTheNextValue(_ fields: String, _ text: String?) throws {
        #expect(ValueStepper.flipped(try tweak(fields))?.text == text)
    }

    /// Steps from the lower bound to the upper bound: each press changes the value, which stays short.
    private func expectPresses(
        _ expected: ClosedRange<Int>, from lower: String, to upper: String, _ more: String = "", digits: Int
    ) throws {
        var tweak = try tweak("\(Self.number):\(lower),\"min\":\(lower),\"max\":\(upper)\(more)")
        var presses = 0
        while tweak.shown != tweak.upper, presses < 600 {
            let value = try #require(ValueStepper.stepped(tweak, 1, .normal))
            #expect(value != tweak.shown && value.text.utf8.count < digits)
            tweak.requested = value
            presses += 1
        }
        #expect(tweak.shown == tweak.upper && expected.contains(presses))
    }

    @Test(arguments: 0..<20) func stepsLeadFromBoundToBound(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lower = Int.random(in: -1_000..<1_000, using: &random)
        let upper = lower + Int.random(in: 5...1_000, using: &random)
        try expectPresses(50...510, from: "\(Double(lower))", to: "\(Double(upper))", digits: 8)
    }

    @Test(arguments: [("1", "1000"), ("0", "3600"), ("-1000", "1000"), ("0.0001", "1")])
    func aHundredStepsLeadFromBoundToBoundOfALogarithmicScale(_ lower: String, _ upper: String) throws {
        try expectPresses(90...110, from: lower, to: upper, Self.log, digits: 12)
    }

    /// On a logarithmic scale, 10 is a third of the way from 1 to 1000.
    @Test func theBarShowsThePositionOnTheScale() throws {
        let fields = "\(Self.number):10,\"min\":1,\"max\":1000"
        let fractions = try [fields, fields + Self.log].map { try #require(tweak($0).fraction) }
        #expect(abs(fractions[0] - 9.0 / 999) < 1e-9 && abs(fractions[1] - 1.0 / 3) < 1e-9)
        #expect(try tweak("\(Self.number):10,\"min\":10,\"max\":10").fraction == nil)
    }

    @Test(arguments: [
        "{}", "{\"path\":\"A/B\",\"kind\":\"int\"}", "{\"path\":\"A/B/C\",\"kind\":\"fancy\"}", "[]",
        "{\"path\":\"A/B/\\u001b[2J\",\"kind\":\"int\"}",
    ])
    func otherJSONIsNoTweak(_ text: String) { #expect(JSON(text).flatMap { EditorTweak($0, now: .now) } == nil) }

    @Test(
        arguments: [
            ("size", ["A/Text/Size", "A/Text/Text Size", "Size/B/C", "A/B/Help", "A/B/Resize"]),
            ("SIZE px", ["A/Text/Size"]), ("atsz", ["A/Text/Text Size", "A/Text/Size"]), ("nothing", []),
            ("x", ["A/Text/Text Size", "A/Text/Size"]),
        ])
    func searchResultsAreRanked(_ search: String, _ paths: [String]) throws {
        let tweaks = try [
            ("A/B/Help", ",\"help\":\"of any size\""), ("A/B/Resize", ""), ("Size/B/C", ""), ("A/Text/Text Size", ""),
            ("A/Text/Size", ",\"unit\":\"px\""),
        ].map { try tweak("\(Self.int):1\($1)", $0) }
        let query = FindQuery(search.split(separator: " ").map { String($0) })
        #expect(EditorModel.matches(query, among: tweaks).map { tweaks[$0].path } == paths)
    }
}
