// Tests how texts become values, and which builds refuse them.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct ParsedAssignmentsTests {
    private let harness = OperatorHarness()

    /// Declares a build with live processes; returns its hash.
    @discardableResult private func build(_ live: Int, _ declare: (TweakRegistry) -> Void) -> String {
        let registry = TweakRegistry()
        declare(registry)
        let build = FleetBuild(registry)
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        for number in 0..<live { harness.register("\(build.hash)-\(number)", build: build.hash) }
        return build.hash
    }

    private func parse(
        _ text: String, for path: String = "A/B/C", isNew: Bool = false
    ) async throws -> ParsedAssignments {
        let assignment = TextAssignment(path: try TweakPath(path), text: text)
        return try await harness.fleet().parse([assignment], allowsNew: isNew)
    }

    @Test func `A text is parsed as the kind that builds declare`() async throws {
        build(1) { registry in
            _ = Tweak("A", "B", "Number", 5.0, registry: registry)
            _ = Tweak("A", "B", "Text", "x", registry: registry)
            _ = Tweak("A", "B", "Fade", .seconds(1), registry: registry)
            _ = Tweak("A", "B", "List", [1, 2], registry: registry)
        }
        let cases: [(String, String, TweakValue)] = [
            ("A/B/Number", "7", .number(7)), ("A/B/Text", "7", .string("7")),
            ("A/B/Fade", "250ms", .duration(.milliseconds(250))), ("A/B/List", "[3]", .list([.int(3)])),
        ]
        for (path, text, value) in cases {
            let parsed = try await parse(text, for: path)
            #expect(parsed.assignments.map(\.value) == [value] && parsed.notes.isEmpty)
        }
        let text = await refusal { try await parse("much", for: "A/B/Number") }
        #expect(text.hasPrefix("A/B/Number: “much” is not a number, which builds declare it to be"))
    }

    @Test(arguments: [
        ("A/B/Int", "18446744073709551616", "is out of range; builds declare an int, -9223372036854775808...92233"),
        ("A/B/Int", "-18446744073709551616", "is out of range"),
        ("A/B/Word", "18446744073709551616", "is out of range; builds declare 0...18446744073709551615"),
        ("A/B/Small", "99999999999999999999", "is out of range; builds declare 0...9"),
        ("A/B/Number", "1e999", "is out of range; builds declare a number up to 1.797"),
        ("A/B/Int", "1.5", "is not an int, which builds declare"), ("A/B/Int", "7x", "is not an int"),
        ("A/B/Number", "inf", "is not a number"),
    ])
    func `A number beyond its kind is out of range`(_ path: String, _ text: String, _ reason: String) async throws {
        build(1) { registry in
            _ = Tweak("A", "B", "Int", 5, registry: registry)
            _ = Tweak("A", "B", "Word", UInt64(5), registry: registry)
            _ = Tweak("A", "B", "Small", 5, in: 0...9, registry: registry)
            _ = Tweak("A", "B", "Number", 5.0, registry: registry)
        }
        let error = await refusal { try await parse(text, for: path) }
        #expect(error.hasPrefix("\(path): “\(text)” ") && error.contains(reason), "\(error)")
    }

    @Test func `The kind of the build with the most processes is tried first`() async throws {
        build(1) { _ = Tweak("A", "B", "C", "text", registry: $0) }
        build(3) { _ = Tweak("A", "B", "C", 5, registry: $0) }
        #expect(try await parse("7").assignments[0].value == .int(7))
        let other = try await parse("seven")
        #expect(other.assignments[0].value == .string("seven") && other.refusals.map(\.live) == [3])
    }

    @Test func `The refusal names builds that reject the value, with the number of their processes`() async throws {
        let old = build(2) { _ = Tweak("A", "B", "C", 5, in: 0...10, registry: $0) }
        build(5) { _ = Tweak("A", "B", "C", 5, in: 0...100, registry: $0) }
        build(9) { _ = Tweak("X", "Y", "Z", 5, registry: $0) }
        let good = try await parse("7")
        #expect(good.refusals.isEmpty && good.builds == 3 && good.live == 16)
        let bad = try await parse("50")
        #expect(bad.refusals.map(\.build) == [old] && bad.refusals.map(\.live) == [2])
        let text = await refusal { try bad.check() }
        #expect(text.hasPrefix("build \(old), 2 processes, refuses it: A/B/C: 50 is outside 0...10"), "\(text)")
    }

    @Test func `A build without processes counts only if no build has any`() async throws {
        let old = build(0) { _ = Tweak("A", "B", "C", 5, in: 0...10, registry: $0) }
        #expect(try await parse("50").refusals.map(\.build) == [old])
        build(5) { _ = Tweak("A", "B", "C", 5, in: 0...100, registry: $0) }
        #expect(try await parse("50").refusals.isEmpty)
    }

    @Test func `A path that no build declares is refused unless new paths are allowed`() async throws {
        #expect(await refusal { try await parse("7") }.contains("no build has declared anything yet"))
        build(1) { _ = Tweak("X", "Y", "Z", 5, registry: $0) }
        let text = await refusal { try await parse("7") }
        #expect(text == "A/B/C: no build has it; correct the path, or use --new")
        let parsed = try await parse("7", isNew: true)
        #expect(parsed.assignments[0].value == .int(7))
        #expect(parsed.notes == ["A/B/C: no build has it; taken as an int"])
        _ = try await harness.fleet().set([try harness.assignment("A/B/C", .string("x"))])
        #expect(try await parse("7", isNew: true).assignments[0].value == .string("7"), "the kind of the old value")
    }

    @Test func `A note counts processes of builds without declarations`() async throws {
        build(1) { _ = Tweak("A", "B", "C", 5, registry: $0) }
        harness.register("unknown", build: "0000")
        let note = try await parse("7").notes.first
        #expect(note?.hasPrefix("1 process of builds without declarations") == true)
    }

    @Test(arguments: [
        ("true", TweakValue.bool(true)), ("7", .int(7)), ("-7", .int(-7)), ("1.5", .number(1.5)),
        ("18446744073709551615", .unsigned(.max)), ("250ms", .duration(.milliseconds(250))),
        ("#FF8800", .color(TweakColor(0xFF8800))), ("[1, 2]", .list([.int(1), .int(2)])),
        ("[1, 2.5]", .list([.number(1), .number(2.5)])), ("[a, b]", .list([.string("a"), .string("b")])),
        ("12,40", .point(TweakPoint(x: 12, y: 40))), ("words and more", .string("words and more")), ("", .string("")),
        ("cubic-bezier(.2,0,0,1)", .curve(TweakCurve(0.2, 0, 0, 1))), ("steps(4)", .curve(.steps(4))),
        ("ease", .string("ease")), ("steps(0)", .string("steps(0)")), ("[", .string("[")), ("#", .string("#")),
    ])
    func `The kind of a text is inferred, and of quoted text is string`(_ text: String, _ value: TweakValue) {
        #expect(TweakValue(inferring: text) == value)
        #expect(TweakValue(inferring: text, isQuoted: true) == .string(text))
    }
}
