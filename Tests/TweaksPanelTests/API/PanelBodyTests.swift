// Tests refused bodies and queries: each has a status, a code, and a message with a remedy.

import Testing
import Tweaks

@testable import TweaksPanel

@Suite struct PanelBodyTests {
    private static func failure(_ request: String) throws -> HTTPFailure {
        try PanelRouter.failure(HTTPRequest(request))
    }

    private static let patternList = #"a list of one text or more, such as ["Label"], of at most 64 KiB together"#
    private static let argumentList = #"a list of texts, such as ["Label"], of at most 64 KiB together"#
    private static let count = "count must be a whole number, such as 20"
    private static let boolean = "must be true or false"
    private static let changeList = #"a list of one change or more, such as [{"path":"Content/Text/Size","value":72}]"#

    @Test(
        arguments: [
            (#"POST /login {"scram":7}"#, "the body: scram must be a text in quotes"),
            (#"POST /login {"scram":null}"#, "the body: scram must be a text in quotes"),
            (#"POST /login {"scarm":"a"}"#, "the body: there is no field “scarm”; did you mean scram?"),
            (
                #"POST /login {"challenge":"a"}"#,
                "the body: write a SCRAM message as scram, a challenge with its answer, nonce and by, or {} to get a challenge"
            ),
            (
                #"POST /login {"nonce":"a","by":"page"}"#,
                "the body: write 16 to 64 random letters and digits as nonce, and browser or page as by"
            ),
            (
                #"POST /login {"nonce":"abcdefghijklmnop","by":"cookie"}"#,
                "the body: write 16 to 64 random letters and digits as nonce, and browser or page as by"
            ), (#"POST /login {"challenge":"a","answer":"A"}"#, "the body: answer must be a text in base64"),
            (#"POST /logout {"token":"a"}"#, "the body: there is no field “token”; write {}"),
            ("PATCH /api/tweaks {}", "the body: changes is missing; it must be \(changeList)"),
            (#"PATCH /api/tweaks {"changes":[]}"#, "the body: changes must be \(changeList)"),
            (#"PATCH /api/tweaks {"changes":{}}"#, "the body: changes must be \(changeList)"),
            (#"PATCH /api/tweaks {"changes":null}"#, "the body: changes must be \(changeList)"),
            (#"PATCH /api/tweaks {"changes":[7]}"#, #"change 1 must be a JSON object, such as {"path":…}"#),
            (
                #"PATCH /api/tweaks {"changes":[],"dry":true}"#,
                "the body: there is no field “dry”; known: changes, baseRevision, settled"
            ), (#"POST /api/check {"changes":[]}"#, "the body: changes must be \(changeList)"),
            (
                #"POST /api/check {"changes":[],"baseRevision":1}"#,
                "the body: there is no field “baseRevision”; known: changes"
            ), (#"POST /api/reset {"patterns":[]}"#, "the body: patterns must be \(patternList)"),
            (#"POST /api/reset {"patterns":"Label"}"#, "the body: patterns must be \(patternList)"),
            (#"POST /api/reset {"patterns":["Label",7]}"#, "the body: patterns must be \(patternList)"),
            ("POST /api/reset {}", "the body: patterns is missing; it must be \(patternList)"),
            (#"POST /api/actions/A/B/C {"arguments":[1]}"#, "the body: arguments must be \(argumentList)"),
            (#"POST /api/actions/A/B/C {"arguments":"a"}"#, "the body: arguments must be \(argumentList)"),
            (#"POST /api/undo {"force":1}"#, "the body: force \(boolean)"),
            (#"POST /api/undo {"force":"true"}"#, "the body: force \(boolean)"),
            (#"POST /api/redo {"force":null}"#, "the body: force \(boolean)"),
            (#"POST /api/redo {"Force":true}"#, "the body: there is no field “Force”; did you mean force?"),
            (#"PUT /api/presets/a {"pattern":["A"]}"#, "the body: pattern must be a text in quotes, of at most 64 KiB"),
            (#"POST /api/presets/a/load {"only":1}"#, "the body: only \(boolean)"),
            (#"POST /api/presets/a/load {"partly":[]}"#, "the body: partly \(boolean)"),
            (#"POST /api/presets/a/swap {"force":{}}"#, "the body: force \(boolean)"),
            (#"POST /api/import {"text":7}"#, "the body: text must be a text in quotes"),
            (#"POST /api/import {"dry":true}"#, "the body: text is missing; it must be a text in quotes"),
            (#"POST /api/import {"text":"","dry":0}"#, "the body: dry \(boolean)"),
            (
                #"POST /api/run {"arguments":[]}"#,
                "the body: path is missing; it must be a text in quotes, of at most 64 KiB"
            ), ("GET /api/explain", "the query: path is missing; write it, as in ?path=Content/Text/Size"),
            (#"POST /api/reload {"dry":"yes"}"#, "the body: dry \(boolean)"),
            ("POST /api/undo []", #"the body must be a JSON object, such as {"force":…}"#),
            ("POST /logout 1", "the body must be a JSON object, {}"),
            ("POST /api/undo", #"the body is empty; write a JSON object, such as {"force":…}"#),
            ("POST /logout", "the body is empty; write a JSON object, {}"),
            ("GET /api/tweaks?patern=A", "the query: there is no parameter “patern”; did you mean pattern?"),
            ("GET /api/stats?x=1", "the query: there is no parameter “x”; this path has none"),
            ("PATCH /api/tweaks?pattern=A {}", "the query: there is no parameter “pattern”; this path has none"),
            ("GET /api/events?last=1", "the query: there is no parameter “last”; known: pattern, since"),
            ("GET /api/events?since=a&since=b", "the query: since occurs 2 times; give it once"),
            ("GET /api/history?count=x", "the query: \(count)"), ("GET /api/history?count=", "the query: \(count)"),
            ("GET /api/history?count=+5", "the query: \(count)"), ("GET /api/history?count=-5", "the query: \(count)"),
            ("GET /api/history?count=9223372036854775808", "the query: \(count)"),
            ("GET /api/history?count=1&count=2", "the query: count occurs 2 times; give it once"),
            ("GET /api/find", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=\t", "the query: q is missing; write it, as in ?q=size"),
            ("GET /api/find?q=a&q=b", "the query: q occurs 2 times; give it once"),
            ("GET /api/export?pattern=A&pattern=B", "the query: pattern occurs 2 times; give it once"),
            ("GET /api/presets/a/diff?with=b&with=c", "the query: with occurs 2 times; give it once"),
            ("DELETE /api/sessions/x", "“x” is not a session; write its number"),
            ("DELETE /api/sessions/-1", "“-1” is not a session; write its number"),
            ("DELETE /api/sessions/", "“” is not a session; write its number"),
            ("GET /api/whoami {}", "GET accepts no body here; leave it out"),
            ("HEAD /api/whoami x", "HEAD accepts no body here; leave it out"),
            (#"DELETE /api/presets/a {"force":true}"#, "DELETE accepts no body here; leave it out"),
        ])
    func invalidFieldsAndParametersAreRefused(request: String, message: String) throws {
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(
        arguments: [
            (#"{"value":1}"#, "path is missing; it must be a text in quotes, of at most 64 KiB"),
            (#"{"path":7,"value":1}"#, "path must be a text in quotes, of at most 64 KiB"),
            (#"{"path":"A/B/C","valu":1}"#, "there is no field “valu”; did you mean value?"),
            (#"{"path":"A/B/C","value":{}}"#, "value must be a text, a number, true or false, a list or null"),
            (#"{"path":"A/B/C","value":1,"for":600}"#, "for must be a text in quotes, of at most 64 KiB"),
            (#"{"path":"A/B/C","add":true}"#, #"add must be a number, or a text such as "5ms""#),
            (#"{"path":"A/B/C","subtract":null}"#, #"subtract must be a number, or a text such as "5ms""#),
            (#"{"path":"A/B/C","toggle":false}"#, "toggle must be true, or left out"),
            (#"{"path":"A/B/C","reset":1}"#, "reset must be true, or left out"),
            (#"{"path":"A/B/C","keep":"yes"}"#, "keep must be true, or left out"),
            (#"{"path":"A/B/C","add":1,"for":"1m"}"#, "for goes with value or toggle, not with add; leave it out"),
            (
                #"{"path":"A/B/C","reset":true,"for":"1m"}"#,
                "for goes with value or toggle, not with reset; leave it out"
            ), (#"{"path":"A/B","value":1}"#, "“A/B” is not a path; write category/collection/name"),
            (#"{"path":"*","reset":true}"#, "“*” is not a path; write category/collection/name"),
            (#"{"path":"A","reset":true}"#, "“A” is not a path; write category/collection/name"),
            (
                #"{"path":"A//C","keep":true}"#,
                "the collection “” is not allowed; use 1–128 bytes without “/”"
            ),
        ])
    func invalidChangesAreRefused(change: String, message: String) throws {
        let request = #"PATCH /api/tweaks {"changes":[{"path":"A/B/C","value":1},\#(change)]}"#
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", "change 2: \(message)"))
    }

    @Test(
        arguments: [
            (#"{"path":"A/B/C"}"#, "has no operation"),
            (#"{"path":"A/B/C","for":"1m"}"#, "has no operation"),
            (#"{"path":"A/B/C","value":1,"reset":true}"#, "has value and reset"),
            (#"{"path":"A/B/C","add":1,"subtract":1}"#, "has add and subtract"),
        ])
    func aChangeNeedsExactlyOneOperation(change: String, wrong: String) throws {
        let message = "change 1 \(wrong); write one of value, add, subtract, toggle, reset, keep"
        let request = #"PATCH /api/tweaks {"changes":[\#(change)]}"#
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(arguments: [#""reset":true"#, #""keep":true"#, #""value":1,"for":"1m""#])
    func onlyValuesCanBeChecked(change: String) throws {
        let failure = try Self.failure(#"POST /api/check {"changes":[{"path":"A/B/C",\#(change)}]}"#)
        #expect(failure.status == .badRequest)
        #expect(failure.message.hasSuffix("known: path, value, add, subtract, toggle"))
    }

    @Test(arguments: ["-1", "1.0", "1e3", "\"43\"", "true", "null", "18446744073709551616", "[1]"])
    func aRevisionMustBeAWholeNumber(text: String) throws {
        let request = #"PATCH /api/tweaks {"baseRevision":\#(text),"changes":[{"path":"A/B/C","value":1}]}"#
        let message = "the body: baseRevision must be a revision: a whole number, without quotes, such as 43"
        #expect(try Self.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    @Test(arguments: ["", "a/b", "\u{0}", "\u{202E}", String(repeating: "x", count: 129)])
    func invalidPathComponentsAreRefused(part: String) throws {
        for (method, start) in [("GET", "tweaks"), ("POST", "actions")] {
            var request = HTTPRequest(method: method, path: ["api", start, "A", part, "C"])
            if method == "POST" { request.body = Array("{}".utf8) }
            let failure = try PanelRouter.failure(request)
            #expect(failure.status == .badRequest && failure.message.hasPrefix("the collection "))
        }
    }

    @Test(
        arguments: [
            ("{", "line 1: a text in quotes is expected here"), ("{\"force\":true", "line 1: “}” is missing"),
            ("{\"force\":true}}", "line 1: something follows the end"),
            ("{\"force\":true,}", "line 1: a text in quotes is expected here"),
            ("{'force':true}", "line 1: a text in quotes is expected here"),
            ("{\"force\":TRUE}", "line 1: a value cannot begin like this"),
            ("{\"force\":01}", "line 1: a value cannot begin like this"),
            ("{\"force\":+1}", "line 1: a value cannot begin like this"),
            ("{\"force\":1.}", "line 1: a number needs digits after its decimal point"),
            ("{\"force\":NaN}", "line 1: a value cannot begin like this"),
            ("{\"force\":\"\\x\"}", "line 1: a text contains an unknown escape"),
            ("{\"force\":\"\\ud800\"}", "line 1: a text contains half a surrogate pair"),
            ("{\"force\":\"\n\"}", "line 1: a text contains a control character; write it as \\u00XX"),
            ("{\n\"force\":true,\n\"force\":false}", "line 3: a name occurs twice"),
            ("\u{FEFF}\u{FEFF}{}", "line 1: a value cannot begin like this"),
            ("{\u{FEFF}}", "line 1: a text in quotes is expected here"),
            ("{\u{0}}\u{0}", "line 1: it is UTF-16; save it as UTF-8"),
            (String(repeating: "[", count: 17), "line 1: it is nested too deeply"),
            (String(repeating: "[", count: 1_000_000), "line 1: it is nested too deeply"),
            (String(repeating: "{\"a\":", count: 100_000), "line 1: it is nested too deeply"),
            ("[" + String(repeating: "1,", count: 50_000) + "1]", "line 1: there are more than 50000 values"),
        ])
    func aBodyThatIsNotJSONIsRefused(body: String, problem: String) throws {
        var request = HTTPRequest("POST /api/undo")
        request.body = Array(body.utf8)
        let message = "the body is not JSON: \(problem); write an object, such as {\"force\":…}"
        #expect(try PanelRouter.failure(request) == HTTPFailure(.badRequest, "usage", message))
    }

    /// Longer than a line of the protocol.
    @Test(
        arguments: [
            ("POST /api/reset", "patterns", true), ("POST /api/run", "path", false),
            ("PUT /api/presets/a", "pattern", false), ("POST /api/actions/A/B/C", "arguments", true),
        ])
    func longTextsAreRefused(request: String, field: String, isList: Bool) throws {
        let text = String(repeating: "*a", count: 32_769)
        let value = isList ? "[\"\(text)\"]" : "\"\(text)\""
        #expect(try Self.failure("\(request) {\"\(field)\":\(value)}").message.contains("of at most 64 KiB"))
    }

    @Test func invalidUTF8IsRefused() throws {
        var request = HTTPRequest("POST /api/undo")
        request.body = Array("{\"force\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(try PanelRouter.failure(request).message.contains("it is not valid UTF-8"))
    }

    @Test func everyTruncatedBodyIsRefused() throws {
        let whole =
            #"{"changes":[{"path":"A/\u0042/C","value":-1.5e3},{"path":"A/B/D","toggle":true}],"settled":false}"#
        var request = HTTPRequest("PATCH /api/tweaks \(whole)")
        _ = try PanelRouter.action(for: request)
        for count in 0..<whole.utf8.count {
            request.body = Array(whole.utf8.prefix(count))
            #expect(try PanelRouter.failure(request).status == .badRequest)
        }
    }

    /// Each byte is replaced by others; the body is accepted or refused.
    @Test func noDamagedByteTraps() {
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
