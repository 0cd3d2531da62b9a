// Tests that config files are parsed into assignments, and errors are reported by line.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite struct ConfigFileTests {
    private static func parse(_ text: String) -> ConfigFile { ConfigFile(Array(text.utf8), name: "a.conf") }

    @Test(arguments: [
        ("A/B/C = 1\n", ["A/B/C=1"]), ("A/B/C = 1", ["A/B/C=1"]), ("", []), ("\n\n  \n", []), ("# A/B/C = 1\n", []),
        ("A/B/C = 1 # why\r\nA/B/D = 'two words'\r\n", ["A/B/C=1", "A/B/D=two words"]),
        ("\"A b/B/C\" = \"x\\ny\"\nok rev 3\n", ["A b/B/C=x\ny"]), ("\u{FEFF}A/B/C = #FF8800\n", ["A/B/C=#FF8800"]),
        ("\"ok\" = 1\n", ["ok=1"]),
    ])
    func assignmentsCommentsAndExportedLinesAreRead(text: String, expected: [String]) {
        let file = Self.parse(text)
        #expect(file.entries.map { "\($0.path)=\($0.text)" } == expected && file.problems.isEmpty)
    }

    @Test(arguments: [
        ("A/B/C=1", TweakError.Code.usage), ("A/B/C = two words", .usage), ("A/B/C =", .usage), ("A/B/C += 1", .usage),
        ("set A/B/C 1", .usage), ("get *", .usage), ("A/B/C 1", .usage), ("A/B/C = \"open", .badQuoting),
        ("A/B/C = 1\u{0}", .badLine), ("[section]", .usage),
        ("A/B/C = " + String(repeating: "x", count: 65_536), .tooLong),
    ])
    func aLineThatIsNotAnAssignmentIsReportedByItsNumber(line: String, code: TweakError.Code) {
        let file = Self.parse("# first\n\(line)\nA/B/D = 2\n")
        #expect(file.problems.map(\.line) == [2] && file.problems.map(\.error.code) == [code])
        #expect(file.entries.map(\.line) == [3])
    }

    /// Lines in the syntax of other files name the remedy; none refers to a session.
    @Test(arguments: [
        ("[pool]", "usage a config file has no sections; each line holds a whole path: PATH"),
        ("[1, 2]", "usage a config file has no sections; each line holds a whole path: PATH"),
        ("workers: 3", "usage = replaces the colon, after a whole path: PATH"),
        ("workers : 3", "usage = replaces the colon, after a whole path: PATH"),
        ("pool:", "usage = replaces the colon, after a whole path: PATH"),
        ("\"workers\": 3,", "usage = replaces the colon, after a whole path: PATH"),
        ("A/B/C: 3", "usage = replaces the colon: A/B/C = VALUE"),
        ("{", "usage “{” is not an assignment; a config file holds only PATH"),
        ("nonsense", "usage “nonsense” is not an assignment; a config file holds only PATH"),
        ("hlep me", "usage “hlep” is not an assignment; a config file holds only PATH"),
        ("workers=3", "usage “workers=3” is not an assignment; a config file holds only PATH"),
        ("GET / HTTP/1.1", "usage “GET” is not an assignment; a config file holds only PATH"),
        ("twk_secret", "usage the line is not an assignment; a config file holds only PATH"),
        ("A/B", "usage “A/B” is not an assignment; a config file holds only PATH"),
        ("A/B/C", "usage the value is missing: A/B/C = VALUE"), ("A/B/C 3", "usage = is missing: A/B/C = VALUE"),
        ("A/B/C toggle", "usage = is missing: A/B/C = VALUE"),
        // It may be a secret, or a part of one.
        (
            "Shop/Pool/Queue limit = 7",
            "usage = is missing: Shop/Pool/Queue = \"VALUE\"; a path with blanks needs quotes"
        ),
        ("My Shop/Pool/Size = 7", "usage a path with blanks needs quotes: \"CATEGORY/COLLECTION/NAME\" = VALUE"),
        ("Auth/Api/Key:hunter2", "usage = replaces the colon: Auth/Api/Key = VALUE"),
        ("Auth/Api/Key:aHVudGVyMg==", "usage = replaces the colon: Auth/Api/Key = \"VALUE\""),
        (
            "Auth/Api/Key:hunter 2 = 3",
            "usage = replaces the colon: Auth/Api/Key = \"VALUE\"; a path with blanks needs quotes"
        ),
        ("A/B/C c2VjcmV0==", "usage = is missing: A/B/C = \"VALUE\""),
        ("Shop Pool Workers = 3", "usage paths have slashes: CATEGORY/COLLECTION/NAME = VALUE"),
        (
            "A/B/C = DE, AT",
            "usage quote a value of several words: A/B/C = \"VALUE\"; a list is [\"a\", \"b\"]"
        ),
        ("A/B/C = 3 for 1m", "usage quote a value of several words: A/B/C = \"VALUE\""),
        ("get *", "usage a config file holds only assignments: PATH = VALUE"),
        ("\u{FEFF}A/B/C = 3", "bad-line a byte order mark is in front of this line; delete it"),
        ("\u{FEFF}# a comment", "bad-line a byte order mark is in front of this line; delete it"),
        (
            "A/B/C = {\"a\":1}",
            "bad-quoting quotes must surround a whole token: \"two words\" with JSON's escapes, or 'as it is'"
        ),
        (
            "A/B/C = \"open",
            "bad-quoting quotes must surround a whole token: \"two words\" with JSON's escapes, or 'as it is'"
        ),
    ])
    func aLineOfAnotherSyntaxNamesTheRemedy(_ line: String, _ wanted: String) {
        var wanted = wanted
        if wanted.hasSuffix(" PATH") { wanted = wanted.dropLast(4) + "CATEGORY/COLLECTION/NAME = VALUE" }
        #expect(Self.parse("# first\n\(line)\n").problems.map { "\($0.line) \($0.error)" } == ["2 \(wanted)"])
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x41, 0x00], "UTF-16"), ([0x41, 0x00, 0x2F, 0x00], "UTF-16"),
            ([0xFE, 0xFF, 0x00, 0x41], "UTF-16"),
            ([0xFF, 0xFE, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00], "UTF-32"),
        ] as [([UInt8], String)])
    func aFileInAnotherEncodingNamesIt(_ bytes: [UInt8], _ name: String) {
        let problems = ConfigFile(bytes, name: "a.conf").problems
        #expect(problems.map { "\($0.line) \($0.error)" } == ["1 bad-line it is \(name); save it as UTF-8"])
    }

    @Test func invalidUTF8AffectsOnlyItsLine() {
        let file = ConfigFile(Array("A/B/C = ".utf8) + [0xC3, 0x28, 0x0A] + Array("A/B/D = 1\n".utf8), name: "a.conf")
        #expect(file.problems.map(\.error.code) == [.badLine])
        #expect(file.entries.count == 1)
    }

    @Test func theFirstProblemsAreListedAndTheOthersCounted() {
        let text = String(repeating: "nonsense\n", count: 10_000) + "A/B/C = 1\n"
        let file = ConfigFile(Array(text.utf8), name: "a.conf", listedProblems: 100)
        #expect(file.problems.map(\.line) == Array(1...100) && file.allProblems.count == 10_000)
        #expect(file.entries.count == 1)
    }

    @Test func tooManyAssignmentsAreRefused() throws {
        let limit = ConfigFile.maxAssignments
        let lines = { (count: Int) in Array(String(repeating: "a/b/c = 1\n", count: count).utf8) }
        #expect(ConfigFile(lines(limit), name: "a.conf").problems.isEmpty)
        let problems = ConfigFile(lines(limit + 2), name: "a.conf").problems
        #expect(problems.map(\.line) == [limit + 1] && problems.map(\.error.code) == [.tooMany])
        #expect(try #require(problems.first).error.message.hasSuffix("leave out what is the default"))
    }

    @Test func aFileLargerThan16MiBIsNotRead() throws {
        let home = try TemporaryDirectory()
        try home.write("", to: "a.conf")
        truncate(home.file("a.conf"), 16_777_217)
        let reason = "it has 16777217 bytes; a config file has at most 16777216: leave out what is the default"
        #expect(FileContent(path: home.file("a.conf")) == .unreadable(reason))
        truncate(home.file("a.conf"), 16_777_216)
        let isRead = if case .bytes = FileContent(path: home.file("a.conf")) { true } else { false }
        #expect(isRead)
    }

    @Test func anEntryKnowsItsFileAndLine() {
        #expect(Self.parse("\n\nA/B/C = 1\n").entries.first?.origin.description == "a.conf:3")
    }
}
