// Tests that words with a meaning of their own are ordinary values: they are set in every way, exported, and read back.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct WordValueTests {
    /// Keywords, operators, commands and marks of the protocol, and texts that other formats give a meaning.
    static let words = [
        "toggle", "for", "since", "=", "+=", "-=", "= 6", "#", "#F00", "true", "false", "on", "ok", "error", "null",
        "none",
        "nan", "inf", "set", "reset", "begin", "commit", "json", "dry", "--only", "*", "?", "a*", "[", "]", "[a, b]",
        "{}", "5", "0x2a", "1h", "a/b", "A/B/C = 5", "two words", " ", " x ", "", "it's", "say \"hi\"", "\\", "\\n",
        "-",
        "for 5s", "toggle for", "@x", "~", "é", "👨‍👩‍👧‍👦",
    ]

    private let server: TestServer
    private let registry = TweakRegistry()
    private let choice: Tweak<String>
    private let text: Tweak<String>
    private let optional: Tweak<String?>
    private let flag: Tweak<Bool>

    init() throws {
        choice = try registry.register("A", "B", "Choice", "first", choices: ["first"] + Self.words)
        text = try registry.register("A", "B", "Text", "first")
        optional = try registry.register("A", "B", "Optional", nil as String?)
        flag = try registry.register("A", "B", "Flag", false)
        server = try TestServer(registry: registry)
    }

    /// The word as it is typed: without quotes, unless a comment, a list or a blank needs them.
    private static func typed(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word != "#"
            && word.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && ![UInt8(ascii: "\""), UInt8(ascii: "'")].contains(byte)
            }
        return isPlain && !word.hasPrefix("[") ? word : Quoting.json(word)
    }

    @Test(arguments: words) func aWordIsSetInEveryWayAndReadBack(_ word: String) throws {
        let client = try server.connect()
        let value = Self.typed(word)
        let ways: [(String) -> [String]] = [
            { ["set \($0) \(value)"] }, { ["\($0) = \(value)"] }, { ["set \($0) \(value) for 10m"] },
            { ["set \($0) \(Quoting.json(word))"] }, { ["begin", "set \($0) \(value)", "commit"] },
            { ["begin", "\($0) = \(value)", "commit"] },
        ]
        for way in ways {
            for path in ["A/B/Choice", "A/B/Text"] + (word == "none" ? [] : ["A/B/Optional"]) {
                try client.ask("reset A")
                try client.ask("\(path) = first")
                #expect(try client.ask("check \(path) \(value)").last?.hasPrefix("ok") == true)
                for line in way(path) { #expect(try client.ask(line).last?.hasPrefix("ok") == true, "\(line)") }
                let set: String? =
                    path == "A/B/Choice" ? choice.value : path == "A/B/Text" ? text.value : optional.value
                #expect(set == word, "\(way(path))")
                // Nothing is exported for a temporary value's end.
                let exported = try client.ask("export \(path)").filter { $0.hasPrefix("A/B/") }
                #expect(exported.count == 1)
                try readBack(exported, path, word, client)
            }
        }
    }

    /// Types an exported line, and reads it as a line of a file.
    private func readBack(_ exported: [String], _ path: String, _ word: String, _ client: TestClient) throws {
        try client.ask("\(path) = first")
        for line in exported { #expect(try client.ask(line).last?.hasPrefix("ok") == true, "\(line)") }
        let lines = AssignmentLines(Array(exported.map { $0 + "\n" }.joined().utf8), in: "a test")
        #expect(lines.problems.isEmpty && lines.assignments.map(\.text) == [word], "\(exported)")
        let entries = lines.assignments.map { ConfigEntry(path: $0.path, text: $0.text, line: $0.line, file: "a.conf") }
        try client.ask("reset \(path)")
        #expect(registry.replace(.configFile, with: entries).problems.isEmpty)
        #expect(registry[path]?.value?.choiceName == word)
        _ = registry.replace(.configFile, with: [])
    }

    private enum Mode: Int, CaseIterable, TweakConvertible { case toggle, `for`, set }

    /// Choices of an enumeration, of numbers with labels, and of lists.
    @Test(arguments: ["toggle", "for", "set"]) func everyKindOfChoiceTakesAWord(_ word: String) throws {
        let mode = try registry.register("A", "C", "Mode", Mode.allCases.first { "\($0)" != word } ?? .set)
        let labeled = try registry.register("A", "C", "Labeled", 0, choices: [0: "none", 1: word])
        let client = try server.connect()
        for line in ["set A/C/Mode \(word)", "set A/C/Labeled \(word)", "set A/C/Mode = \(word)"] {
            #expect(try client.ask(line).last?.hasPrefix("ok") == true, "\(line)")
        }
        #expect("\(mode.value)" == word && labeled.value == 1)
    }

    @Test func aBoolIsStillToggled() throws {
        let client = try server.connect()
        #expect(try client.ask("set A/B/Flag toggle").last?.hasPrefix("ok") == true && flag.value)
        #expect(try client.ask("set A/B/Flag toggle for 5s").last?.hasPrefix("ok") == true && !flag.value)
        #expect(try client.ask("set A/B/Flag \"toggle\"").last?.hasPrefix("error bad-value") == true)
        // The line that each error suggests is one that toggles.
        let suggested = try [
            ("A/B/Flag toggle", "usage set is missing: set A/B/Flag toggle"),
            (
                "A/B/Flag = toggle",
                "bad-value A/B/Flag takes true or false; set A/B/Flag toggle flips it"
            ),
        ].map { line, error in try (client.ask(line), "error \(error)") }
        #expect(suggested.allSatisfy { $0 == [$1] }, "\(suggested)")
        let count = try registry.register("A", "B", "Count", 1)
        #expect(try client.ask("set A/B/Count toggle").last?.contains("only a bool can be toggled") == true)
        #expect(count.value == 1)
    }
}
