// Tests that with --json each verb prints objects alone, one a line, also where it fails.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct JSONOutputTests {
    private let fixture: TweakctlFixture

    init() throws {
        fixture = try TweakctlFixture()
        fixture.variables.withLock { $0["TWEAKS_TOKEN_FILE"] = fixture.directory.file("tokens") }
    }

    /// A call, the values of `ok` on its lines, and its exit code. Objects of lists have none.
    private struct Call {
        let words: [String]
        let input: String
        let values: [Bool?]
        let code: Int32

        init(_ words: [String], input: String = "", ok values: [Bool?] = [true], code: Int32 = 0) {
            (self.words, self.input, self.values, self.code) = (words, input, values, code)
        }
    }

    /// In this order, as later ones depend on earlier ones.
    private static let calls: [Verb?: [Call]] = [
        nil: [
            Call([], ok: [nil]), Call(["--version"]), Call(["bounce", "get", "Content/Text/Size"]),
            Call(["bounce", "Content/Text/Size", "=", "72"]),
            Call(["bounce", "Content/Text/Size", "=", "1000"], ok: [false], code: 1),
            Call(["bounce", "-"], input: "get Content/Text/Size\nundo\n", ok: [true, true]),
            Call(["bounce", "panel"], ok: [false], code: 1), Call(["nobody", "get", "*"], ok: [false], code: 3),
            Call(["--bogus"], ok: [false], code: 2),
        ],
        .repl: [Call(["bounce", "repl"], input: "get Content/Text/Size\n")],
        // It ends with the process.
        .watch: [Call(["bounce", "watch", "No/Such/Tweak"], ok: [false], code: 1)],
        .wait: [
            Call(["bounce", "wait", "Content/Text/Size = 60"]),
            Call(["--timeout", "1ms", "bounce", "wait", "Content/Text/Size = 61"], ok: [false], code: 4),
            Call(["bounce", "wait", "Content/Text/Size"], ok: [false], code: 2),
        ],
        .plot: [
            Call(["bounce", "plot", "Player/Status/Frames"]),
            Call(["bounce", "plot", "No/Such/Tweak"], ok: [false], code: 1),
        ],
        .import: [
            Call(["bounce", "import", "-", "--yes"], input: "Content/Text/Size = 30\n"),
            Call(["bounce", "import", "-", "--yes"], input: "Content/Text/Size = many\n", ok: [false], code: 1),
        ],
        .bake: [
            Call(["bounce", "bake", "Content/**", "."]), Call(["bounce", "bake", "--bogus"], ok: [false], code: 2),
        ],
        .token: [
            Call(["token", "new", "alice", "--scopes", "read"]), Call(["token", "list"], ok: [nil]),
            Call(["token", "renew", "alice"]),
            Call(["token", "revoke", "alice"]), Call(["token", "revoke", "alice"], ok: [false], code: 1),
        ],
        .backup: [Call(["bounce", "backup", "x"], ok: [false], code: 1)],
        .restore: [Call(["bounce", "restore", "none"], ok: [false], code: 2)],
        .state: [
            Call(["state", "check", "none"], ok: [false], code: 1), Call(["state", "--bogus"], ok: [false], code: 2),
        ],
        .audit: [Call(["audit", "verify", "none"], ok: [false], code: 1)],
        .login: [Call(["login", "bounce"], input: "twk_wrong\n", ok: [false], code: 1)],
        .logout: [Call(["logout", "bounce"], ok: [false], code: 1)],
        .fleet: [Call(["fleet", "--version"]), Call(["fleet", "x", "status", "--bogus"], ok: [false], code: 2)],
        // Texts in any case.
        .completions: [Call(["completions", "csh"], ok: [false], code: 2)], .man: [], .complete: [],
    ]

    @Test(arguments: [Verb?.none] + Verb.allCases) func eachLineIsAnObject(_ verb: Verb?) throws {
        try fixture.server("bounce")
        for call in try #require(Self.calls[verb]) {
            // The options of tweakctl-fleet follow its verb.
            let words = verb == .fleet ? call.words + ["--json"] : ["--json"] + call.words
            let result = try fixture.run(words, input: call.input)
            let lines = result.output.split(separator: "\n")
            let values = lines.map { line -> Bool? in
                guard let json = JSON(String(line)), case .object = json else {
                    Issue.record("\(call.words): \(line)")
                    return nil
                }
                return json["ok"].map(\.isTrue)
            }
            #expect(values == call.values && result.code == call.code, "\(call.words): \(result)")
            #expect((result.code == 0) == (lines.last.flatMap { JSON(String($0))?["error"] } == nil), "\(result)")
        }
    }
}
