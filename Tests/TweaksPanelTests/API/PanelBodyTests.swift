// Bodies and queries that are refused: each with its status, its code, and a message that names the remedy.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksPanel

@Suite("Refused bodies")
struct PanelBodyTests {
    private static func failure(_ request: String) throws -> HTTPFailure {
        try #require(throws: HTTPFailure.self) { try PanelRouter.action(for: HTTPRequest(request)) }
    }

    private static let changeList =
        #"a list of one change or more, such as [{"path":"Content/Text/Size","value":72}]"#

    @Test(
        "fields",
        arguments: [
            ("POST /login {\"scram\":7}", "the body: scram has to be a text in quotes"),
            ("POST /login {\"scram\":null}", "the body: scram has to be a text in quotes"),
            ("POST /login {\"scarm\":\"a\"}", "the body: there is no field “scarm”; did you mean scram?"),
            (
                "POST /login {\"challenge\":\"a\"}",
                "the body: write a message of SCRAM as scram, or a challenge with its answer, or {} to be given one"
            ), ("POST /login {\"challenge\":\"a\",\"answer\":\"A\"}", "the body: answer has to be a text in base64"),
            ("POST /logout {\"token\":\"a\"}", "the body: there is no field “token”; write {}"),
            ("PATCH /api/tweaks {}", "the body: changes is missing; it has to be \(changeList)"),
            ("PATCH /api/tweaks {\"changes\":[]}", "the body: changes has to be \(changeList)"),
            ("PATCH /api/tweaks {\"changes\":{}}", "the body: changes has to be \(changeList)"),
            ("PATCH /api/tweaks {\"changes\":null}", "the body: changes has to be \(changeList)"),
            (
                "PATCH /api/tweaks {\"changes\":[7]}",
                "change 1 has to be a JSON object, such as {\"path\":…}"
            ),
            (
                "PATCH /api/tweaks {\"changes\":[],\"dry\":true}",
                "the body: there is no field “dry”; known: changes, baseRevision, settled"
            ),
            ("POST /api/check {\"changes\":[]}", "the body: changes has to be \(changeList)"),
            (
                "POST /api/check {\"changes\":[],\"baseRevision\":1}",
                "the body: there is no field “baseRevision”; known: changes"
            ),
            (
                "POST /api/reset {\"patterns\":[]}",
                "the body: patterns has to be a list of one text or more, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/reset {\"patterns\":\"Label\"}",
                "the body: patterns has to be a list of one text or more, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/reset {\"patterns\":[\"Label\",7]}",
                "the body: patterns has to be a list of one text or more, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/reset {}",
                "the body: patterns is missing; it has to be a list of one text or more, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/actions/A/B/C {\"arguments\":[1]}",
                "the body: arguments has to be a list of texts, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/actions/A/B/C {\"arguments\":\"a\"}",
                "the body: arguments has to be a list of texts, such as [\"Label\"], of at most 64 KiB together"
            ),
            ("POST /api/undo {\"force\":1}", "the body: force has to be true or false"),
            ("POST /api/undo {\"force\":\"true\"}", "the body: force has to be true or false"),
            ("POST /api/redo {\"force\":null}", "the body: force has to be true or false"),
            ("POST /api/redo {\"Force\":true}", "the body: there is no field “Force”; did you mean force?"),
            (
                "PUT /api/presets/a {\"pattern\":[\"A\"]}",
                "the body: pattern has to be a text in quotes, of at most 64 KiB"
            ),
            ("POST /api/presets/a/load {\"only\":1}", "the body: only has to be true or false"),
            ("POST /api/presets/a/load {\"partly\":[]}", "the body: partly has to be true or false"),
            ("POST /api/presets/a/swap {\"force\":{}}", "the body: force has to be true or false"),
            ("POST /api/import {\"text\":7}", "the body: text has to be a text in quotes"),
            ("POST /api/import {\"dry\":true}", "the body: text is missing; it has to be a text in quotes"),
            ("POST /api/import {\"text\":\"\",\"dry\":0}", "the body: dry has to be true or false"),
            (
                "POST /api/reset {\"patterns\":[]}",
                "the body: patterns has to be a list of one text or more, such as [\"Label\"], of at most 64 KiB together"
            ),
            (
                "POST /api/run {\"arguments\":[]}",
                "the body: path is missing; it has to be a text in quotes, of at most 64 KiB"
            ),
            ("GET /api/explain", "the query: path is missing; write it, as in ?path=Content/Text/Size"),
            ("POST /api/reload {\"dry\":\"yes\"}", "the body: dry has to be true or false"),
            ("POST /api/undo []", "the body has to be a JSON object, such as {\"force\":…}"),
            ("POST /logout 1", "the body has to be a JSON object, {}"),
            ("POST /api/undo", "the body is empty; write a JSON object, such as {\"force\":…}"),
            ("POST /logout", "the body is empty; write a JSON object, {}"),
        ])
    func fields(request: String, message: String) throws {
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(
        "changes",
        arguments: [
            (#"{"value":1}"#, "path is missing; it has to be a text in quotes, of at most 64 KiB"),
            (#"{"path":7,"value":1}"#, "path has to be a text in quotes, of at most 64 KiB"),
            (#"{"path":"A/B/C","valu":1}"#, "there is no field “valu”; did you mean value?"),
            (#"{"path":"A/B/C","value":{}}"#, "value has to be a text, a number, true or false, a list or null"),
            (#"{"path":"A/B/C","value":1,"for":600}"#, "for has to be a text in quotes, of at most 64 KiB"),
            (#"{"path":"A/B/C","add":true}"#, #"add has to be a number, or a text such as "5ms""#),
            (#"{"path":"A/B/C","subtract":null}"#, #"subtract has to be a number, or a text such as "5ms""#),
            (#"{"path":"A/B/C","toggle":false}"#, "toggle has to be true, or left out"),
            (#"{"path":"A/B/C","reset":1}"#, "reset has to be true, or left out"),
            (#"{"path":"A/B/C","keep":"yes"}"#, "keep has to be true, or left out"),
            (#"{"path":"A/B/C","add":1,"for":"1m"}"#, "for goes with value or toggle, not with add; leave it out"),
            (
                #"{"path":"A/B/C","reset":true,"for":"1m"}"#,
                "for goes with value or toggle, not with reset; leave it out"
            ),
            (#"{"path":"A/B","value":1}"#, "“A/B” is no path; write category/collection/name"),
            (#"{"path":"*","reset":true}"#, "“*” is no path; write category/collection/name"),
            (#"{"path":"A","reset":true}"#, "“A” is no path; write category/collection/name"),
            (
                #"{"path":"A//C","keep":true}"#,
                "the collection “” is not allowed; use 1–128 bytes without “/”, control or bidirectional characters"
            ),
        ])
    func changes(change: String, message: String) throws {
        let request = #"PATCH /api/tweaks {"changes":[{"path":"A/B/C","value":1},\#(change)]}"#
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", "change 2: \(message)"))
    }

    @Test(
        "changes of no kind, or of two",
        arguments: [
            (#"{"path":"A/B/C"}"#, "says nothing"),
            (#"{"path":"A/B/C","for":"1m"}"#, "says nothing"),
            (#"{"path":"A/B/C","value":1,"reset":true}"#, "says value and reset"),
            (#"{"path":"A/B/C","add":1,"subtract":1}"#, "says add and subtract"),
        ])
    func kinds(change: String, wrong: String) throws {
        let message = "change 1 \(wrong); it has one of value, add, subtract, toggle, reset, keep"
        let request = #"PATCH /api/tweaks {"changes":[\#(change)]}"#
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(arguments: [#""reset":true"#, #""keep":true"#, #""value":1,"for":"1m""#])
    func whatCannotBeChecked(change: String) throws {
        let failure = try Self.failure(#"POST /api/check {"changes":[{"path":"A/B/C",\#(change)}]}"#)
        #expect(failure.status == .badRequest)
        #expect(failure.message.hasSuffix("known: path, value, add, subtract, toggle"))
    }

    @Test(arguments: ["-1", "1.0", "1e3", "\"43\"", "true", "null", "18446744073709551616", "[1]"])
    func revisions(text: String) throws {
        let request = #"PATCH /api/tweaks {"baseRevision":\#(text),"changes":[{"path":"A/B/C","value":1}]}"#
        let message = "the body: baseRevision has to be a revision: a whole number, without quotes, such as 43"
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(
        "queries and parts of paths",
        arguments: [
            ("GET /api/tweaks?patern=A", "the query: there is no parameter “patern”; did you mean pattern?"),
            ("GET /api/stats?x=1", "the query: there is no parameter “x”; this path has none"),
            ("PATCH /api/tweaks?pattern=A {}", "the query: there is no parameter “pattern”; this path has none"),
            ("GET /api/events?last=1", "the query: there is no parameter “last”; known: pattern, since"),
            ("GET /api/events?since=a&since=b", "the query: since comes 2 times; give it once"),
            ("GET /api/history?count=x", "the query: count has to be a whole number, such as 20"),
            ("GET /api/history?count=", "the query: count has to be a whole number, such as 20"),
            ("GET /api/history?count=+5", "the query: count has to be a whole number, such as 20"),
            ("GET /api/history?count=-5", "the query: count has to be a whole number, such as 20"),
            (
                "GET /api/history?count=9223372036854775808",
                "the query: count has to be a whole number, such as 20"
            ),
            ("GET /api/history?count=1&count=2", "the query: count comes 2 times; give it once"),
            ("GET /api/find", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=\t", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=a&q=b", "the query: q comes 2 times; give it once"),
            ("GET /api/export?pattern=A&pattern=B", "the query: pattern comes 2 times; give it once"),
            ("GET /api/presets/a/diff?with=b&with=c", "the query: with comes 2 times; give it once"),
            ("DELETE /api/sessions/x", "“x” is no session; write its number"),
            ("DELETE /api/sessions/-1", "“-1” is no session; write its number"),
            ("DELETE /api/sessions/", "“” is no session; write its number"),
            ("GET /api/whoami {}", "GET takes no body here; leave it out"),
            ("HEAD /api/whoami x", "HEAD takes no body here; leave it out"),
            ("DELETE /api/presets/a {\"force\":true}", "DELETE takes no body here; leave it out"),
        ])
    func queries(request: String, message: String) throws {
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(arguments: ["", "a/b", "\u{0}", "\u{202E}", String(repeating: "x", count: 129)])
    func partsOfPaths(part: String) {
        for (method, start) in [("GET", "tweaks"), ("POST", "actions")] {
            var request = HTTPRequest(method: method, path: ["api", start, "A", part, "C"])
            if method == "POST" { request.body = Array("{}".utf8) }
            guard case .failure(let failure) = PanelRouter.result(request) else {
                Issue.record("\(start) takes it")
                continue
            }
            #expect(failure.status == .badRequest)
            #expect(failure.message.hasPrefix("the collection "))
        }
    }

    @Test(
        "no JSON",
        arguments: [
            ("{", "line 1: a text in quotes is expected here"),
            ("{\"force\":true", "line 1: “}” is missing"),
            ("{\"force\":true}}", "line 1: something follows the end"),
            ("{\"force\":true,}", "line 1: a text in quotes is expected here"),
            ("{'force':true}", "line 1: a text in quotes is expected here"),
            ("{\"force\":TRUE}", "line 1: no value can begin like this"),
            ("{\"force\":01}", "line 1: no value can begin like this"),
            ("{\"force\":+1}", "line 1: no value can begin like this"),
            ("{\"force\":1.}", "line 1: a number needs digits behind its point"),
            ("{\"force\":NaN}", "line 1: no value can begin like this"),
            ("{\"force\":\"\\x\"}", "line 1: a text holds an escape that there is not"),
            ("{\"force\":\"\\ud800\"}", "line 1: a text holds half a surrogate pair"),
            ("{\"force\":\"\n\"}", "line 1: a text holds a control character; write it as \\u00XX"),
            ("{\n\"force\":true,\n\"force\":false}", "line 3: a name comes twice"),
            ("\u{FEFF}{}", "line 1: no value can begin like this"),
            (String(repeating: "[", count: 17), "line 1: it is nested too deeply"),
            (String(repeating: "[", count: 1_000_000), "line 1: it is nested too deeply"),
            (String(repeating: "{\"a\":", count: 100_000), "line 1: it is nested too deeply"),
            ("[" + String(repeating: "1,", count: 50_000) + "1]", "line 1: it holds more than 50000 values"),
        ])
    func noJSON(body: String, problem: String) throws {
        var request = HTTPRequest("POST /api/undo")
        request.body = Array(body.utf8)
        let failure = try #require(throws: HTTPFailure.self) { try PanelRouter.action(for: request) }
        let message = "the body is no JSON: \(problem); write an object, such as {\"force\":…}"
        #expect(failure == HTTPFailure(.badRequest, "usage", message))
    }

    /// What no line of the protocol could hold.
    @Test(
        arguments: [
            ("POST /api/reset", "patterns", true), ("POST /api/run", "path", false),
            ("PUT /api/presets/a", "pattern", false),
            ("POST /api/actions/A/B/C", "arguments", true),
        ])
    func longTexts(request: String, field: String, isList: Bool) throws {
        let text = String(repeating: "*a", count: 32_769)
        let value = isList ? "[\"\(text)\"]" : "\"\(text)\""
        #expect(try Self.failure("\(request) {\"\(field)\":\(value)}").message.contains("of at most 64 KiB"))
    }

    @Test func invalidText() throws {
        var request = HTTPRequest("POST /api/undo")
        request.body = Array("{\"force\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        let failure = try #require(throws: HTTPFailure.self) { try PanelRouter.action(for: request) }
        #expect(failure.message.contains("it is no valid UTF-8"))
    }

    /// A body that was cut is never taken for another one.
    @Test func everyBeginningIsRefused() throws {
        let whole =
            #"{"changes":[{"path":"A/\u0042/C","value":-1.5e3},{"path":"A/B/D","toggle":true}],"settled":false}"#
        var request = HTTPRequest("PATCH /api/tweaks \(whole)")
        _ = try PanelRouter.action(for: request)
        for count in 0..<whole.utf8.count {
            request.body = Array(whole.utf8.prefix(count))
            guard case .failure(let failure) = PanelRouter.result(request) else {
                Issue.record("\(count) bytes are taken")
                continue
            }
            #expect(failure.status == .badRequest)
        }
    }

    /// Each byte of a body replaced by each of some others: taken or refused, and nothing else.
    @Test func noByteTraps() {
        let whole = Array(#"{"changes":[{"path":"A/B/C","value":"é\ud83d\ude00"}],"baseRevision":9}"#.utf8)
        var request = HTTPRequest("PATCH /api/tweaks")
        var refused = 0
        for position in whole.indices {
            for byte: UInt8 in [0x00, 0x0A, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xC0, 0xED, 0xFF] {
                request.body = whole
                request.body[position] = byte
                if case .failure(let failure) = PanelRouter.result(request) {
                    refused += 1
                    #expect(failure.code == "usage")
                }
            }
        }
        #expect(refused > whole.count)
    }
}
