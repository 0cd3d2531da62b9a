// Tests parsing and printing of the overrides file, and its errors.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksStorage

@Suite struct OverridesFileTests {
    private let time = ManualClock()
    private var anchor: TimeAnchor { TimeAnchor(time) }

    private func entry(
        _ path: String, _ value: TweakValue, covered: TweakValue? = nil, origin: String = "code"
    ) throws -> StoredEntry {
        StoredEntry(
            path: try TweakPath(path), content: .value(value), origin: TweakOrigin(origin), time: time.now,
            covered: covered)
    }

    private func text(_ entries: [StoredEntry]) -> [UInt8] {
        OverridesFile.text(
            program: "bounce", revision: 43, lines: entries.compactMap { OverridesFile.line($0, anchor) })
    }

    /// The next revisions stay numbers that the reader accepts.
    @Test func aFileOfTheHighestRevisionCanBeContinued() throws {
        let text = String(decoding: text([]), as: UTF8.self).replacing("43", with: "9223372036854775807")
        let revision = try OverridesFile(Array(text.utf8), anchor).revision
        #expect(revision == 1_000_000_000_000_000)
        let next = OverridesFile.text(program: "bounce", revision: revision + 1_000, lines: [])
        #expect(try OverridesFile(next, anchor).revision == revision)
    }

    @Test func theFileIsReadableJSON() throws {
        let size = try entry("Content/Text/Size", .number(72), covered: .number(60), origin: "uid 1000")
        let color = try entry("Content/Text/Tint", .color(.black))
        #expect(
            String(decoding: text([size, color]), as: UTF8.self) == """
                {
                  "format": "tweaks-overrides",
                  "version": 1,
                  "program": "bounce",
                  "revision": 43,
                  "overrides": [
                    {"path": "Content/Text/Size", "kind": "number", "value": 72, "origin": "uid 1000", \
                "time": "2026-11-21T09:30:00.123Z", "covered": 60},
                    {"path": "Content/Text/Tint", "kind": "color", "value": "#000000FF", "origin": "code", \
                "time": "2026-11-21T09:30:00.123Z"}
                  ]
                }

                """)
        #expect(String(decoding: text([]), as: UTF8.self).hasSuffix("\"overrides\": []\n}\n"))
    }

    @Test func aByteOrderMarkIsSkippedAndUTF16IsNamed() throws {
        let plain = text([try entry("Content/Text/Size", .number(72))])
        let file = try OverridesFile([0xEF, 0xBB, 0xBF] + plain, anchor)
        #expect(file.entries.map(\.path.joined) == ["Content/Text/Size"] && file.revision == 43)
        let wide: [UInt8] = [0xFF, 0xFE] + plain.flatMap { [$0, 0] as [UInt8] }
        #expect(throws: OverridesFile.Refusal.malformed("line 1: it is UTF-16; save it as UTF-8")) {
            try OverridesFile(wide, anchor)
        }
    }

    /// A text of 2 bytes each would take 40 in memory.
    @Test func aListOfMoreValuesThanAnyTweakHasIsRejectedAlone() throws {
        let line = String(
            decoding: try #require(OverridesFile.line(try entry("A/B/C", .list([.int(1)])), anchor)), as: UTF8.self)
        let long = line.replacing("[1]", with: "[" + Array(repeating: "1", count: 1_001).joined(separator: ",") + "]")
        let size = String(
            decoding: try #require(OverridesFile.line(try entry("A/B/D", .number(1)), anchor)), as: UTF8.self)
        let bytes = OverridesFile.text(program: "p", revision: 1, lines: [long, size].map { Array($0.utf8) })
        let file = try OverridesFile(bytes, anchor)
        #expect(file.entries.map(\.path.joined) == ["A/B/D"] && file.rejected.count == 1)
    }

    private static let extremes: [TweakValue] = [
        .bool(true), .bool(false), .int(0), .int(.max), .int(.min), .int(9_007_199_254_740_993), .unsigned(1 << 63),
        .unsigned(.max), .number(0),
        .number(-0.0), .number(0.1), .number(.greatestFiniteMagnitude), .number(-.leastNonzeroMagnitude),
        .number(1e300), .number(9_007_199_254_740_994), .string(""), .string("\u{0}\u{1}\u{1F}\u{7F}\r\n\t\"\\/"),
        .string("é e\u{301} 🦉 \u{FEFF}\u{202E}\u{10FFFF}\u{E000}\u{FFFF}"), .color(.clear),
        .color(TweakColor(red8: 1, green8: 2, blue8: 3, alpha8: 4)), .choice("a choice \"x\""), .duration(.zero),
        .duration(.nanoseconds(Int64.max)), .duration(.nanoseconds(Int64.min)), .duration(.milliseconds(250)),
        .curve(TweakCurve(0.1, -1e-7, 1, 1_000)), .curve(.steps(3, .jumpNone)), .list([.curve(.ease)]),
        .point(TweakPoint(x: 12, y: -0.5)), .list([]), .list([.int(1), .int(-2)]),
        .list([.duration(.seconds(1)), .duration(.zero)]), .list([.string("a, \"b\""), .string("")]),
        .list([.choice("two words")]), .list([.color(.black)]), .notSet,
    ]

    @Test(arguments: extremes) func eachValueRoundTrips(value: TweakValue) throws {
        try expectRoundTrip([try entry("A/B/C", value, covered: value, origin: "the “panel” \\ é")])
    }

    @Test(arguments: UInt64(1)...20) func randomValuesRoundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let entries = try (0..<200).map { index in try entry("A/é\(index)/\(1000 + index) x", Self.value(&generator)) }
        try expectRoundTrip(entries.sorted { $0.path.precedes($1.path) })
    }

    private func expectRoundTrip(_ entries: [StoredEntry]) throws {
        let bytes = text(entries)
        let file = try OverridesFile(bytes, anchor)
        #expect(file.program == "bounce" && file.revision == 43)
        #expect(file.entries.map(\.path) == entries.map(\.path))
        for (read, written) in zip(file.entries.compactMap(\.stored), entries) {
            #expect(read.content == written.content && read.covered == written.covered)
            #expect(read.origin == written.origin)
            if case .value(.number(let left)) = read.content, case .value(.number(let right)) = written.content {
                #expect(left.bitPattern == right.bitPattern)
            }
        }
        // Printed again from the lines or from the values, it is the same.
        #expect(OverridesFile.text(program: "bounce", revision: 43, lines: file.entries.map(\.text)) == bytes)
        #expect(text(file.entries.compactMap(\.stored)) == bytes)
    }

    private static func value(_ generator: inout SeededGenerator) -> TweakValue {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return .int(Int64(truncatingIfNeeded: generator.next()))
        case 1:
            let number = Double(bitPattern: generator.next())
            return .number(number.isFinite ? number : -0.0)
        case 2:
            let scalars = (0..<12).map { _ in UInt32.random(in: 0...0x10FFFF, using: &generator) }
            return .string(String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar($0) })))
        case 3:
            let bits = generator.next()
            let parts = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
            return .color(TweakColor(red8: parts[0], green8: parts[1], blue8: parts[2], alpha8: parts[3]))
        case 4: return .duration(.nanoseconds(Int64(truncatingIfNeeded: generator.next())))
        default: return .bool(generator.next() % 2 == 0)
        }
    }

    @Test(arguments: [0.0, 0.0004, 0.0006, -0.0001, -1, 86_400, 1e9, -1e9])
    func aMomentPrintsTheSameEachTime(offset: Double) {
        let anchor = anchor
        let milliseconds = anchor.milliseconds(time.now.advanced(by: .seconds(offset)))
        #expect(anchor.milliseconds(anchor.instant(milliseconds)) == milliseconds)
    }

    @Test(arguments: [.number(.nan), .number(.infinity), .duration(Duration(attoseconds: 1))] as [TweakValue])
    func valuesThatNoTweakCanHaveAreNotWritten(value: TweakValue) throws {
        #expect(OverridesFile.line(try entry("A/B/C", value), anchor) == nil)
    }

    // MARK: Reading

    private func file(_ overrides: String, version: String = "1") -> [UInt8] {
        Array("{\"format\": \"tweaks-overrides\", \"version\": \(version), \"overrides\": [\(overrides)]}".utf8)
    }

    private static let head = #"{"format": "tweaks-overrides", "version": 1"#

    private static let good =
        #"{"path":"A/B/C","kind":"int","value":1,"origin":"code","time":"2026-11-21T09:30:00Z"}"#

    @Test func unknownKeysAreKeptWithTheirEntry() throws {
        let known = #"{"note": {"a": [1, null, "]"]}, "# + Self.good.dropFirst()
        let file = try OverridesFile(file(known), anchor)
        #expect(file.entries.compactMap(\.stored).map(\.content) == [.value(.int(1))])
        #expect(String(decoding: file.entries[0].text, as: UTF8.self) == known)
    }

    /// It is 9:30:00.123; the override was set at 9:30:00.
    @Test(arguments: [
        ("2026-11-21T10:30:00Z", Duration.milliseconds(3_599_877)),
        ("2026-11-21T09:30:00.200Z", .milliseconds(77)),
        // Expired before, or now.
        ("2026-11-21T09:30:00.123Z", .zero), ("2026-11-21T09:30:00.1Z", .milliseconds(-23)),
        // An end before the beginning, as after a clock that was set back, is expired.
        ("2026-11-20T09:30:00Z", .milliseconds(-86_400_123)),
    ])
    func anOverrideEndsByTheWallClockButNeverAfterItsDuration(text: String, left: Duration) throws {
        let entry = Self.good.dropLast() + #","expires":"\#(text)"}"#
        let file = try OverridesFile(file(String(entry)), anchor)
        #expect(file.entries.compactMap(\.stored).map(\.expires) == [time.now + left])
        #expect(file.entries[0].stored?.isExpired(time.now) == (left <= .zero))
        #expect(String(decoding: file.entries[0].text, as: UTF8.self) == entry)
    }

    @Test func aClockThatWasSetBackDoesNotChangeTheDuration() throws {
        let entry =
            Self.good.replacing("09:30:00Z", with: "11:30:00Z").dropLast() + #","expires":"2026-11-21T11:40:00Z"}"#
        let file = try OverridesFile(file(String(entry)), anchor)
        #expect(file.entries.compactMap(\.stored).map(\.expires) == [time.now + .seconds(600)])
        // Written and read again, it ends at the same time.
        let stored = try #require(file.entries[0].stored)
        let line = try #require(OverridesFile.line(stored, anchor))
        let again = try OverridesFile(self.file(String(decoding: line, as: UTF8.self)), anchor)
        #expect(again.entries.map(\.stored) == file.entries.map(\.stored))
    }

    @Test func bothLayersOfATweakAreReadAndTheFirstOfTwoEqualEntriesCounts() throws {
        let temporary = String(Self.good.dropLast() + #","expires":"2026-11-21T10:30:00Z"}"#)
        let both = try OverridesFile(file("\(temporary),\(Self.good)"), anchor)
        #expect(both.entries.compactMap(\.stored).map(\.key.layer) == [.override, .temporaryOverride])
        let twice = try OverridesFile(file("\(temporary),\(Self.good),\(temporary)"), anchor)
        #expect(twice.entries.map(\.stored?.key.layer) == [.override, .temporaryOverride] && twice.rejected.count == 1)
        let temporaryEntry = try #require(both.entries[1].stored)
        let line = try #require(OverridesFile.line(temporaryEntry, anchor))
        #expect(String(decoding: line, as: UTF8.self).hasSuffix(#", "expires": "2026-11-21T10:30:00.000Z"}"#))
    }

    @Test func entriesAreSorted() throws {
        let second = Self.good.replacing("A/B/C", with: "A/A/C")
        let file = try OverridesFile(file("\(Self.good),\(second)"), anchor)
        #expect(file.entries.map(\.path.joined) == ["A/A/C", "A/B/C"])
    }

    @Test(arguments: ["2", "9223372036854775807"]) func aNewerVersionIsNotABrokenFile(version: String) {
        #expect(throws: OverridesFile.Refusal.newerVersion(Int64(version) ?? 0)) {
            try OverridesFile(file(#"{"what": "ever"}"#, version: version), anchor)
        }
    }

    @Test(arguments: [
        ("1", "override 1 is not an object"), ("{}", "“path” is missing"),
        (good.replacing("A/B/C", with: "A/B"), "“path” is missing, or is not"),
        (good.replacing(#""kind":"int","#, with: ""), "A/B/C: “kind”"),
        (good.replacing("int", with: "action"), "A/B/C: “kind”"),
        (good.replacing("int", with: "bool"), "A/B/C: “value” is missing, or is not of kind bool"),
        (good.replacing(":1,", with: ":1.5,"), "is not of kind int"),
        (good.replacing(":1,", with: ":18446744073709551616,"), "is not of kind int"),
        (good.replacing(":1,", with: ":\"1\","), "is not of kind int"),
        (good.replacing(":1,", with: ":null,"), "is not of kind int"),
        (good.replacing(":1,", with: ":[1],"), "is not of kind int"),
        (good.replacing("int", with: "number").replacing(":1,", with: ":1e999,"), "is not of kind number"),
        (good.replacing("int", with: "color").replacing(":1,", with: ":\"#12\","), "is not of kind color"),
        (good.replacing("int", with: "duration").replacing(":1,", with: ":\"soon\","), "is not of kind duration"),
        (good.replacing("origin", with: "orogin"), "“origin” is missing"),
        (good.replacing("09:30", with: "09:61"), "“time” is missing, or is not like"),
        (good.replacing("}", with: ",\"covered\":true}"), "“covered” is not of kind int"),
        (good.replacing("}", with: ",\"value\":1}"), "“value” is there twice"),
        ("\(good),\(good)", "A/B/C is there twice"),
    ])
    func aMalformedEntryIsQuarantinedAloneAndVerbatim(overrides: String, expected: String) throws {
        let other = Self.good.replacing("A/B/C", with: "A/B/A")
        let file = try OverridesFile(file("\(overrides),\(other)"), anchor)
        #expect(file.entries.map(\.path.joined).contains("A/B/A"))
        #expect(file.rejected.map { $0.reason.contains(expected) } == [true], "\(file.rejected.map(\.reason))")
        let bad = String(decoding: try #require(file.rejected.first).text, as: UTF8.self)
        #expect(overrides.hasSuffix(bad))
        // Written again it is in another list, where it is not validated.
        let print = { (file: OverridesFile) in
            OverridesFile.text(
                program: "", revision: 1, lines: file.entries.map(\.text), quarantined: file.allQuarantined)
        }
        let again = try OverridesFile(print(file), anchor)
        #expect(again.entries.map(\.text) == file.entries.map(\.text) && again.rejected.isEmpty)
        #expect(again.allQuarantined == file.allQuarantined && print(again) == print(file))
    }

    @Test(arguments: [
        ("", "“{” is missing"), ("null", "“{” is missing"), ("{", "a text in quotes"), ("{}", "“format”"),
        (#"{"format": "tweaks-overrides"}"#, "“version”"),
        (#"{"format": "tweaks-overrides", "version": 0, "overrides": []}"#, "“version”"),
        (#"{"format": "tweaks-overrides", "version": 1.0, "overrides": []}"#, "not a whole number"),
        (head + "}", "no list “overrides”"), (head + #", "overrides": [{"path": tru}]}"#, "cannot begin"),
        (head + #", "overrides": [], "setAside": 1}"#, "“[” is missing"),
        (head + #", "overrides": {}}"#, "“[” is missing"), (head + #", "revision": -1, "overrides": []}"#, "negative"),
        (head + #", "overrides": []} x"#, "something follows"), (head + #", "overrides": [],}"#, "a text in quotes"),
        ("{\n\"a\": tru\n}", "line 2: a value cannot begin"), (#"{"a": 01}"#, "cannot begin"),
        (#"{"a": 1.}"#, "digits"), (#"{"a": 1e}"#, "digits"), (#"{"a": -}"#, "cannot begin"),
        (#"{"a": "\q"}"#, "escape"),
        (#"{"a": "\ud800"}"#, "surrogate"), (#"{"a": "\ud800\u0041"}"#, "surrogate"),
        (#"{"a": "\u12"}"#, "hexadecimal"), ("{\"a\": \"\n\"}", "control"), (#"{"a": "b"#, "closing quote"),
        (#"{"a": "\"#, "closing quote"), ("{\"a\": \(String(repeating: "[", count: 100_000))", "too deeply"),
    ])
    func aMalformedFileIsRefusedWithAReason(text: String, expected: String) {
        expectMalformed(Array(text.utf8), expected)
    }

    @Test func invalidUTF8IsRefused() {
        expectMalformed(Array("{\"a\": \"".utf8) + [0xC3, 0x28] + Array("\"}".utf8), "UTF-8")
    }

    @Test func everyPrefixIsRefusedAndNoByteDoesHarm() throws {
        let bytes = file(Self.good)
        for count in 0..<bytes.count {
            #expect(throws: OverridesFile.Refusal.self) { try OverridesFile(Array(bytes.prefix(count)), anchor) }
        }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            var broken = bytes
            broken[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            _ = try? OverridesFile(broken, anchor)
        }
    }

    private func expectMalformed(_ bytes: [UInt8], _ expected: String) {
        do {
            _ = try OverridesFile(bytes, anchor)
            Issue.record("the file was accepted")
        } catch {
            if case .malformed(let reason) = error { #expect(reason.contains(expected), "\(reason)") }
            #expect("\(error)".contains("malformed"))
        }
    }
}
