// Tests refused imports: one error lists every invalid line with its number.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksPanel

@Suite(.blocking) struct PanelImportTests {
    private static func failure(_ text: String) throws -> HTTPFailure {
        let registry = TweakRegistry()
        for name in ["C", "D", "E"] { _ = Tweak("A", "B", name, 0, registry: registry) }
        let panel = try PanelServer(registry: registry).connect()
        let answer = try panel.ask("POST", "/api/import", JSON.object([("text", .string(text))]).text)
        #expect(registry.revision == 0)
        return HTTPFailure(
            try #require(HTTPStatus(number: answer.status)), try #require(answer.code), try #require(answer.message))
    }

    @Test(
        arguments: [
            ("A/B/C += 1", "usage an import holds only assignments: PATH = VALUE"),
            ("set A/B/C 1", "usage an import holds only assignments: PATH = VALUE"),
            ("reset A", "usage an import holds only assignments: PATH = VALUE"),
            ("A/B/C = two words", "usage quote a value of several words: A/B/C = \"VALUE\""),
            ("A/B = 1", "unknown-tweak there is no tweak “A/B”; did you mean A/B/C?"),
            (
                "A/B/C = \"open",
                "bad-quoting quotes must surround a whole token: \"two words\" with JSON's escapes, or 'as it is'"
            ), ("A/B/C = \u{1}", "bad-line the line must be UTF-8 without control characters, ended by LF"),
            ("A/B/D = 2", "conflict A/B/D is assigned in line 1 already; keep one of them"),
        ])
    func anInvalidLineIsReported(line: String, problem: String) throws {
        let failure = try Self.failure("A/B/D = 1\n\(line)\nA/B/E = 1\n")
        #expect(failure.code == problem.prefix { $0 != " " })
        #expect(failure.message == "1 line is wrong; nothing has changed\nline 2: \(problem)")
    }

    @Test func allInvalidLinesAreReportedInOrder() throws {
        let failure = try Self.failure("A/B/C = 1\nnonsense\nA/B/C = 2\nA/B/C = 3\nA = 1\n")
        #expect(failure.status == .badRequest && failure.code == "usage")
        let begins = [
            "4 lines are wrong; nothing has changed", "line 2: usage ", "line 3: conflict ",
            "line 4: conflict A/B/C is assigned in line 1 already", "line 5: unknown-tweak there is no tweak “A”",
        ]
        let lines = failure.message.split(separator: "\n")
        #expect(lines.count == begins.count)
        for (line, begin) in zip(lines, begins) { #expect(line.hasPrefix(begin)) }
    }

    /// A former path is accepted; a second line for the same tweak is not.
    @Test func linesAreValidatedLikeThoseOfAConfigFile() throws {
        let server = try PanelServer()
        _ = Tweak("A", "B", "Size", 50.0, in: 10...100, formerly: "A/B/Width", registry: server.registry)
        let panel = try server.connect()
        let text = #"{"text":"A/B/Width = 500\nA/B/Size = 60\nA/B/Gone = 1"}"#
        let refused = try panel.ask("POST", "/api/import", text)
        #expect(refused.status == 422)
        #expect(
            refused.message == """
                3 lines are wrong; nothing has changed
                line 1: out-of-range A/B/Size: 500 is outside 10...100
                line 2: conflict A/B/Size is assigned in line 1 already; keep one of them
                line 3: unknown-tweak there is no tweak “A/B/Gone”; did you mean A/B/Size?
                """)
        let accepted = try panel.ask("POST", "/api/import", #"{"text":"A/B/Width = 70\nContent/Text/Size = 72"}"#)
        #expect(accepted.paths == ["A/B/Size", "Content/Text/Size"] && accepted.revision == 1)
    }

    @Test func atMostAHundredLinesAreReported() throws {
        let failure = try Self.failure(String(repeating: "nonsense\n", count: 5_000))
        let lines = failure.message.split(separator: "\n")
        #expect(lines.count == 102 && lines.last == "… and more; fix these first")
        #expect(lines.first == "many lines are wrong; nothing has changed")
        let some = try Self.failure(String(repeating: "nonsense\n", count: 100))
        #expect(some.message.hasPrefix("100 lines are wrong; nothing has changed\nline 1: "))
    }

    /// Before any line is parsed.
    @Test(arguments: ["\n", "# a remark\n", "nonsense\n", "A/B/C = 1\n"])
    func tooManyLinesAreRefused(line: String) throws {
        let failure = try Self.failure(String(repeating: line, count: 40_001))
        #expect(failure.code == "too-many")
        #expect(failure.message == "the text has 40001 lines; at most 40000, so send it in parts")
    }

    @Test(arguments: ["", "\n\n", "# A/B/C = 1", "ok rev 3\n"])
    func aTextWithoutAssignmentsIsRefused(text: String) throws {
        let message = "the text has no assignments; write lines such as Content/Text/Size = 72"
        #expect(try Self.failure(text) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test func tooManyAssignmentsAndTooLongLinesAreRefused() throws {
        let many = try Self.failure((0...10_000).map { "A/B/\($0) = 1\n" }.joined())
        #expect(many.code == "too-many")
        #expect(many.message == "10001 changes at once; at most 10000, so send several requests")
        let long = try Self.failure("A/B/C = \(String(repeating: "x", count: 65_536))\n")
        #expect(long.status == .contentTooLarge && long.code == "too-long")
    }
}
