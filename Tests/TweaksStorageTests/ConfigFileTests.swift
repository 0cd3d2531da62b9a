// Config files: bytes to assignments, and everything that is wrong in them, by line.

import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Config file")
struct ConfigFileTests {
    private static func parse(_ text: String) -> ConfigFile { ConfigFile(Array(text.utf8), name: "a.conf") }

    @Test(
        "assignments, comments and what export prints",
        arguments: [
            ("A/B/C = 1\n", ["A/B/C=1"]),
            ("A/B/C = 1", ["A/B/C=1"]),
            ("", []),
            ("\n\n  \n", []),
            ("# A/B/C = 1\n", []),
            ("A/B/C = 1 # why\r\nA/B/D = 'two words'\r\n", ["A/B/C=1", "A/B/D=two words"]),
            ("\"A b/B/C\" = \"x\\ny\"\nok rev 3\n", ["A b/B/C=x\ny"]),
            ("\u{FEFF}A/B/C = #FF8800\n", ["A/B/C=#FF8800"]),
            ("\"ok\" = 1\n", ["ok=1"]),
        ])
    func reads(text: String, expected: [String]) {
        let file = Self.parse(text)
        #expect(file.entries.map { "\($0.path)=\($0.text)" } == expected)
        #expect(file.problems.isEmpty)
    }

    @Test(
        "lines that are no assignments",
        arguments: [
            ("A/B/C=1", TweakError.Code.usage),
            ("A/B/C = two words", .usage),
            ("A/B/C =", .usage),
            ("A/B/C += 1", .usage),
            ("set A/B/C 1", .usage),
            ("get *", .usage),
            ("A/B/C 1", .usage),
            ("A/B/C = \"open", .badQuoting),
            ("A/B/C = 1\u{0}", .badLine),
            ("[section]", .unknownCommand),
            ("A/B/C = " + String(repeating: "x", count: 65_536), .tooLong),
        ])
    func refuses(line: String, code: TweakError.Code) {
        let file = Self.parse("# first\n\(line)\nA/B/D = 2\n")
        #expect(file.problems.map(\.line) == [2])
        #expect(file.problems.map(\.error.code) == [code])
        #expect(file.entries.map(\.line) == [3])
    }

    @Test("invalid UTF-8 spoils its line alone")
    func invalidText() {
        let file = ConfigFile(Array("A/B/C = ".utf8) + [0xC3, 0x28, 0x0A] + Array("A/B/D = 1\n".utf8), name: "a.conf")
        #expect(file.problems.map(\.error.code) == [.badLine])
        #expect(file.entries.count == 1)
    }

    @Test("the first problems are listed, and the others counted")
    func manyProblems() {
        let text = String(repeating: "nonsense\n", count: 10_000) + "A/B/C = 1\n"
        let file = ConfigFile(Array(text.utf8), name: "a.conf", listedProblems: 100)
        #expect(file.problems.map(\.line) == Array(1...100) && file.allProblems.count == 10_000)
        #expect(file.entries.count == 1)
    }

    @Test("more assignments than a program can have are wrong as a whole")
    func manyAssignments() {
        let most = ConfigFile.mostAssignments
        let lines = { (count: Int) in Array(String(repeating: "a/b/c = 1\n", count: count).utf8) }
        #expect(ConfigFile(lines(most), name: "a.conf").problems.isEmpty)
        let file = ConfigFile(lines(most + 2), name: "a.conf")
        #expect(file.problems.map(\.line) == [most + 1] && file.problems.first?.error.code == .tooMany)
        #expect(file.problems.first?.error.message.hasSuffix("leave out what is the default") == true)
    }

    @Test("a file of more than 16 MiB is not read")
    func tooLarge() throws {
        let home = try TemporaryDirectory()
        try home.write("", to: "a.conf")
        truncate(home.file("a.conf"), 16_777_217)
        #expect(
            FileContent(path: home.file("a.conf"))
                == .unreadable(
                    "it has 16777217 bytes; a config file has at most 16777216: leave out what is the default"))
        truncate(home.file("a.conf"), 16_777_216)
        guard case .bytes = FileContent(path: home.file("a.conf")) else {
            Issue.record("it is not read")
            return
        }
    }

    @Test("an entry knows its place")
    func origin() {
        #expect(Self.parse("\n\nA/B/C = 1\n").entries.first?.origin.description == "a.conf:3")
    }
}
