// Bodies of changes become requests of the protocol, in their order.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksPanel

@Suite("Changes")
struct PanelChangesTests {
    private static func script(_ request: String) throws -> PanelScript {
        let action = try PanelRouter.action(for: HTTPRequest(request))
        guard case .script(let script) = action else { throw HTTPFailure(.internal, "\(action)") }
        return script
    }

    @Test(
        "one change is what a line says",
        arguments: [
            (#""value":72"#, [Request(.set, ["A/B/C"], change: .assignExactly("72"))]),
            (#""value":"72""#, [Request(.set, ["A/B/C"], change: .assign("72"))]),
            (
                #""value":18446744073709551615"#,
                [Request(.set, ["A/B/C"], change: .assignExactly("18446744073709551615"))]
            ),
            (#""value":"40*2""#, [Request(.set, ["A/B/C"], change: .assign("40*2"))]),
            (#""value":"""#, [Request(.set, ["A/B/C"], change: .assign(""))]),
            (#""value":"toggle""#, [Request(.set, ["A/B/C"], change: .assign("toggle"))]),
            (#""value":"two\nwords\u0000""#, [Request(.set, ["A/B/C"], change: .assign("two\nwords\u{0}"))]),
            (#""value":true"#, [Request(.set, ["A/B/C"], change: .assignExactly("true"))]),
            (#""value":false"#, [Request(.set, ["A/B/C"], change: .assignExactly("false"))]),
            (#""value":0.1"#, [Request(.set, ["A/B/C"], change: .assignExactly("0.1"))]),
            (#""value":1e-12"#, [Request(.set, ["A/B/C"], change: .assignExactly("1e-12"))]),
            (#""value":9007199254740993"#, [Request(.set, ["A/B/C"], change: .assignExactly("9007199254740993"))]),
            (
                #""value":-9223372036854775808"#,
                [Request(.set, ["A/B/C"], change: .assignExactly("-9223372036854775808"))]
            ),
            (
                #""value":0.30000000000000004"#,
                [Request(.set, ["A/B/C"], change: .assignExactly("0.30000000000000004"))]
            ),
            (#""value":1.10"#, [Request(.set, ["A/B/C"], change: .assignExactly("1.10"))]),
            (#""value":"1h30m","for":"10m""#, [Request(.set, ["A/B/C"], change: .assign("1h30m"), lifetime: "10m")]),
            (#""toggle":true,"for":"10m""#, [Request(.set, ["A/B/C"], change: .toggle, lifetime: "10m")]),
            (#""add":5"#, [Request(.set, ["A/B/C"], change: .add("5"))]),
            (#""add":"5ms""#, [Request(.set, ["A/B/C"], change: .add("5ms"))]),
            (#""add":-0.1"#, [Request(.set, ["A/B/C"], change: .add("-0.1"))]),
            (#""subtract":5"#, [Request(.set, ["A/B/C"], change: .subtract("5"))]),
            (#""toggle":true"#, [Request(.set, ["A/B/C"], change: .toggle)]),
            (#""reset":true"#, [Request(.reset, ["A/B/C"])]),
            (#""keep":true"#, [Request(.keep, ["A/B/C"])]),
        ] as [(String, [Request])])
    func one(change: String, requests: [Request]) throws {
        let script = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"A/B/C",\#(change)}]}"#)
        #expect(script == PanelScript(requests))
    }

    @Test func severalAreOneCommit() throws {
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
    func oneWithARevisionIsACommit(text: String, revision: UInt64) throws {
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

    /// `describe` fails unless there is a tweak with exactly this path, and `reset` means that one then.
    @Test(arguments: ["A/B/*", "A/?/C", "**/B/C", "A/B/Really?"]) func aGlobMeansOneTweak(path: String) throws {
        let reset = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"\#(path)","reset":true}]}"#)
        #expect(reset == PanelScript([Request(.describe, [path]), Request(.reset, [path])]))
        let keep = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"\#(path)","keep":true}]}"#)
        #expect(keep == PanelScript([Request(.describe, [path]), Request(.keep, [path])]))
        // These take no pattern.
        let set = try Self.script(#"PATCH /api/tweaks {"changes":[{"path":"\#(path)","value":1}]}"#)
        #expect(set == PanelScript([Request(.set, [path], change: .assignExactly("1"))]))
    }

    @Test func checks() throws {
        let script = try Self.script(
            #"""
            POST /api/check {"changes":[{"path":"A/B/C","value":0.1},{"path":"A/B/C","add":1},
            {"path":"A/B/C","subtract":"1"},{"path":"A/B/D","toggle":true}]}
            """#)
        let expected: [Request] = [
            Request(.check, ["A/B/C"], change: .assignExactly("0.1")), Request(.check, ["A/B/C"], change: .add("1")),
            Request(.check, ["A/B/C"], change: .subtract("1")), Request(.check, ["A/B/D"], change: .toggle),
        ]
        #expect(script == PanelScript(expected, shows: .all))
    }

    // MARK: Limits

    @Test func tenThousandAreTakenAndNoMore() throws {
        func request(_ count: Int) -> String {
            let changes = (0..<count).map { #"{"path":"A/B/\#($0)","value":1}"# }.joined(separator: ",")
            return #"PATCH /api/tweaks {"changes":[\#(changes)]}"#
        }
        #expect(try Self.script(request(10_000)).requests.count == 10_002)
        let failure = try #require(throws: HTTPFailure.self) { try Self.script(request(10_001)) }
        #expect(failure.code == "too-many")
        #expect(failure.status == .tooManyRequests)
    }

    /// As many bytes as the same takes as a line: `"A/B/C" = "…"`.
    @Test(arguments: ["x", "é", "\\n", "\\u0001"]) func aValueFitsALine(character: String) throws {
        let width = ["x": 1, "é": 2, "\\n": 2, "\\u0001": 6][character] ?? 0
        let most = (65_536 - 12) / width
        func request(_ count: Int) -> String {
            let text = String(repeating: character, count: count)
            return #"PATCH /api/tweaks {"changes":[{"path":"A/B/C","value":"\#(text)"}]}"#
        }
        #expect(try Self.script(request(most)).requests.count == 1)
        let failure = try #require(throws: HTTPFailure.self) { try Self.script(request(most + 1)) }
        #expect(failure.code == "too-long")
        #expect(failure.status == .contentTooLarge)
    }

    // MARK: Import

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
