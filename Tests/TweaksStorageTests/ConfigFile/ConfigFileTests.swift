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
        ("A/B/C = 1\u{0}", .badLine), ("[section]", .unknownCommand),
        ("A/B/C = " + String(repeating: "x", count: 65_536), .tooLong),
    ])
    func aLineThatIsNotAnAssignmentIsReportedByItsNumber(line: String, code: TweakError.Code) {
        let file = Self.parse("# first\n\(line)\nA/B/D = 2\n")
        #expect(file.problems.map(\.line) == [2] && file.problems.map(\.error.code) == [code])
        #expect(file.entries.map(\.line) == [3])
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
