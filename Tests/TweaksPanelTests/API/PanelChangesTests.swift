// Tests that bodies of changes become protocol requests, in their order.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksPanel

@Suite struct PanelChangesTests {
    private static func script(_ request: String) throws -> PanelScript {
        let action = try PanelRouter.action(for: HTTPRequest(request))
        guard case .script(let script) = action else { throw HTTPFailure(.internal, "\(action)") }
        return script
    }

    @Test(
        arguments: [
            (#""value":72"#, .assignExactly("72")), (#""value":"72""#, .assign("72")),
            (#""value":18446744073709551615"#, .assignExactly("18446744073709551615")),
            (#""value":"40*2""#, .assign("40*2")), (#""value":"""#, .assign("")),
            (#""value":"toggle""#, .assign("toggle")), (#""value":"two\nwords\u0000""#, .assign("two\nwords\u{0}")),
            (#""value":true"#, .assignExactly("true")), (#""value":false"#, .assignExactly("false")),
            (#""value":0.1"#, .assignExactly("0.1")), (#""value":1e-12"#, .assignExactly("1e-12")),
            (#""value":9007199254740993"#, .assignExactly("9007199254740993")),
            (#""value":-9223372036854775808"#, .assignExactly("-9223372036854775808")),
            (#""value":0.30000000000000004"#, .assignExactly("0.30000000000000004")),
            (#""value":1.10"#, .assignExactly("1.10")), (#""add":5"#, .add("5")), (#""add":"5ms""#, .add("5ms")),
            (#""add":-0.1"#, .add("-0.1")), (#""subtract":5"#, .subtract("5")), (#""toggle":true"#, .toggle),
        ] as [(String, Request.Change)])
    func aChangeIsThatOfALine(body: String, change: Request.Change) throws {
        let script = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"A/B/C",\#(body)}]}"#)
        #expect(script == PanelScript([Request(.set, ["A/B/C"], change: change)]))
    }

    @Test(
        arguments: [
            (#""value":"1h30m","for":"10m""#, Request(.set, ["A/B/C"], change: .assign("1h30m"), lifetime: "10m")),
            (#""toggle":true,"for":"10m""#, Request(.set, ["A/B/C"], change: .toggle, lifetime: "10m")),
            (#""reset":true"#, Request(.reset, ["A/B/C"])), (#""keep":true"#, Request(.keep, ["A/B/C"])),
        ])
    func temporaryChangesResetsAndKeepsAreRequests(body: String, request: Request) throws {
        let script = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"A/B/C",\#(body)}]}"#)
        #expect(script == PanelScript([request]))
    }

    @Test func severalChangesAreOneCommit() throws {
        let script = try Self.script(
            #"PATCH /api/tweaks {"changes":[{"path":"A/B/C","value":1},{"path":"A/B/D","reset":true}]}"#)
        var expected = PanelScript([
            Request(.begin), Request(.set, ["A/B/C"], change: .assignExactly("1")), Request(.reset, ["A/B/D"]),
            Request(.commit),
        ])
        expected.isBatch = true
        #expect(script == expected)
    }

    @Test(arguments: [("0", 0), ("41", 41), ("9007199254740993", 9_007_199_254_740_993)] as [(String, UInt64)])
    func aChangeWithARevisionIsACommit(text: String, revision: UInt64) throws {
        let script = try Self.script(
            #"PATCH /api/tweaks {"baseRevision":\#(text),"changes":[{"path":"A/B/C","keep":true}]}"#)
        var expected = PanelScript([Request(.begin, number: revision), Request(.keep, ["A/B/C"]), Request(.commit)])
        expected.isBatch = true
        #expect(script == expected)
    }

    @Test(arguments: [(#""settled":true,"#, true), (#""settled":false,"#, false), ("", true)])
    func aDragDoesNotWaitForTheDisk(field: String, waits: Bool) throws {
        let script = try Self.script(#"PATCH /api/tweaks {\#(field)"changes":[{"path":"A/B/C","value":1}]}"#)
        #expect(script.waitsForDisk == waits)
        #expect(script.requests == [Request(.set, ["A/B/C"], change: .assignExactly("1"))])
    }

    /// `describe` fails unless a tweak has exactly this path; then `reset` means that tweak.
    @Test(arguments: ["A/B/*", "A/?/C", "**/B/C", "A/B/Really?"])
    func aPatternMeansTheTweakOfThatPath(path: String) throws {
        for (field, command) in [("reset", Command.reset), ("keep", .keep)] {
            let script = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"\#(path)","\#(field)":true}]}"#)
            #expect(script == PanelScript([Request(.describe, [path]), Request(command, [path])]))
        }
        // `set` accepts no pattern.
        let set = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"\#(path)","value":1}]}"#)
        #expect(set == PanelScript([Request(.set, [path], change: .assignExactly("1"))]))
    }

    @Test func checksAreRequestsWithoutACommit() throws {
        let script = try Self.script(
            #"""
            POST /api/check {"changes":[{"path":"A/B/C","value":0.1},{"path":"A/B/C","add":1},
            {"path":"A/B/C","subtract":"1"},{"path":"A/B/D","toggle":true}]}
            """#)
        let expected: [Request] = [
            Request(.check, ["A/B/C"], change: .assignExactly("0.1")), Request(.check, ["A/B/C"], change: .add("1")),
            Request(.check, ["A/B/C"], change: .subtract("1")), Request(.check, ["A/B/D"], change: .toggle),
        ]
        #expect(script == PanelScript(expected, output: .all))
    }

    @Test func atMostTenThousandChangesAreAccepted() throws {
        func request(_ count: Int) -> String {
            let changes = (0..<count).map { #"{"path":"A/B/\#($0)","value":1}"# }.joined(separator: ",")
            return #"PATCH /api/tweaks {"changes":[\#(changes)]}"#
        }
        #expect(try Self.script(request(10_000)).requests.count == 10_002)
        let failure = try #require(throws: HTTPFailure.self) { try Self.script(request(10_001)) }
        #expect(failure.code == "too-many" && failure.status == .tooManyRequests)
    }

    /// As many bytes as in a line: `"A/B/C" = "…"`.
    @Test(arguments: ["x", "é", "\\n", "\\u0001"]) func aValueIsAsLongAsInALine(character: String) throws {
        let width = ["x": 1, "é": 2, "\\n": 2, "\\u0001": 6][character] ?? 0
        let most = (65_536 - 12) / width
        func request(_ count: Int) -> String {
            let text = String(repeating: character, count: count)
            return #"PATCH /api/tweaks {"changes":[{"path":"A/B/C","value":"\#(text)"}]}"#
        }
        #expect(try Self.script(request(most)).requests.count == 1)
        let failure = try #require(throws: HTTPFailure.self) { try Self.script(request(most + 1)) }
        #expect(failure.code == "too-long" && failure.status == .contentTooLarge)
    }

    @Test(arguments: [false, true]) func anImportIsOneRequest(dry: Bool) throws {
        let text = #"# saved\n\nA/B/C = 1 # why\r\n\"A b/B/C\" = \"two\\nwords\"\nok rev 3\nA/B/D = #F80"#
        let script = try Self.script(#"POST /api/import {"text":"\#(text)","dry":\#(dry)}"#)
        guard case .assignments(let lines, problems: [])? = script.requests.first?.payload, script.requests.count == 1
        else {
            Issue.record("\(script)")
            return
        }
        #expect(script.requests[0].command == .import && script.requests[0].keywords.contains(.dry) == dry)
        #expect(lines.map(\.path) == ["A/B/C", "A b/B/C", "A/B/D"] && lines.map(\.line) == [3, 4, 6])
        #expect(lines.map(\.text) == ["1", "two\nwords", "#F80"])
    }
}
