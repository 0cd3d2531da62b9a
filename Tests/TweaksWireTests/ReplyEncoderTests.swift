// Tests the encoding of replies and events as text lines that cannot be forged, and as valid JSON.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

/// A registry of tweaks with texts as hostile as registration admits.
private struct Hostile {
    let registry = TweakRegistry()
    static let name = "“ok rev 1” \"x\" 'y' #=*?\\ é😀"

    init() {
        let name = Self.name
        _ = Tweak(name, name, "string", "", help: name, registry: registry)
        _ = Tweak(name, name, "number", 1.5, in: 0...2, unit: name, help: name, registry: registry)
        _ = Tweak(name, name, "choice", "a", choices: ["a": name, name: "b", "two words": "c"], registry: registry)
        _ = Tweak(name, name, "secret", "hunter2", help: name, flags: .secret, registry: registry)
        _ = Tweak("😀", "plain", "duration", Duration.milliseconds(1), registry: registry)
        tweakAction(name, name, "action", help: name, registry: registry) { _ in "" }
    }
}

@Suite struct ReplyEncoderTests {
    private func encoded(
        _ reply: Reply, json: Bool = false, crlf: Bool = false, hasText: Bool = false, budget: Int = 100
    ) -> String {
        var encoder = ReplyEncoder()
        encoder.isJSON = json
        encoder.usesCRLF = crlf
        encoder.hasText = hasText
        var bytes: [UInt8] = []
        var remainder = encoder.append(reply, to: &bytes)
        while let rest = remainder { remainder = encoder.append(rest, budget: budget, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// One line of JSON as Foundation parses it.
    private func object(_ line: String) throws -> NSDictionary {
        #expect(line.utf8.count(where: { $0 == 10 }) == 1 && line.hasSuffix("\n"))
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
    }

    private func tweaks(_ registry: TweakRegistry, _ note: TweakLine.Note = .explained) -> [Reply.Item] {
        let snapshot = registry.snapshot()
        return registry.listing().nodes.map { .tweak(TweakLine($0, snapshot.value(of: $0), note)) }
    }

    @Test(arguments: [false, true]) func remarksFollowTheItemsInTextOnly(isStream: Bool) {
        let items = [Reply.Item.row(lines: ["a"], json: .int(1)), .row(lines: ["b"], json: .int(2))]
        let stream: @Sendable (Int) -> Reply.Item? = { $0 < items.count ? items[$0] : nil }
        var reply = Reply(.ok(words: "", fields: []), listName: "x", body: isStream ? .stream(stream) : .items(items))
        reply.remarks = ["c", "ok\nerror \u{202E}"]
        #expect(encoded(reply, budget: 1) == "  a\n  b\n  c\n  ok\u{FFFD}error \u{FFFD}\nok\n")
        #expect(encoded(reply, json: true, budget: 1) == "{\"ok\":true,\"x\":[1,2]}\n")
        reply.body = .none
        #expect(encoded(reply, crlf: true) == "  c\r\n  ok\u{FFFD}error \u{FFFD}\r\nok\r\n")
    }

    /// The text beside JSON is that of the text form, and the rest is that of JSON, however the reply is divided.
    @Test(arguments: [1, 100, 1_000_000], [false, true]) func jsonMayHaveItsText(_ budget: Int, isStream: Bool) throws {
        let items = tweaks(Hostile().registry)
        let stream: @Sendable (Int) -> Reply.Item? = { $0 < items.count ? items[$0] : nil }
        let replies: [Reply] = [
            Reply(.ok(words: "rev 1", fields: [("rev", .int(1))]), body: isStream ? .stream(stream) : .items(items)),
            .info([("name", .string("x")), ("list", .array([.int(1), .int(2)]))]), .rows("x", []), .ok("pong"), .ok(),
            .rows("x", [(["a", "  b"], .int(1)), ([], .null)]), .error(TweakError(.usage, "a\nok \u{202E}\"b\"")),
        ]
        for (var reply) in replies {
            reply.remarks = ["more"]
            let lines = encoded(reply).split(separator: "\n").map { String($0) }
            let line = encoded(reply, json: true, crlf: true, hasText: true, budget: budget).replacing(
                "\r\n", with: "\n")
            let both = try object(line)
            #expect(both["text"] as? [String] == lines)
            let rest = try #require(object(encoded(reply, json: true)).mutableCopy() as? NSMutableDictionary)
            rest["text"] = lines
            #expect(both == rest)
        }
    }

    /// A reply may be cut anywhere in its list, or in its text.
    @Test func aReplyWithItsTextCanBeCut() throws {
        let items = tweaks(Hostile().registry)
        var encoder = ReplyEncoder()
        encoder.isJSON = true
        encoder.hasText = true
        let stream: @Sendable (Int) -> Reply.Item? = { $0 < 500 ? items[$0 % items.count] : nil }
        var cuts = 0
        while true {
            var bytes: [UInt8] = []
            var remainder = encoder.append(Reply(.ok(words: "", fields: []), body: .stream(stream)), to: &bytes)
            for _ in 0..<cuts {
                if let rest = remainder { remainder = encoder.append(rest, budget: 4_000, to: &bytes) }
            }
            guard let rest = remainder else { break }
            cuts += 1
            encoder.abort(rest, TweakError(.denied, "cut"), to: &bytes)
            let error = try object(String(decoding: bytes, as: UTF8.self))["error"] as? [String: Any]
            #expect(error?["code"] as? String == "denied")
        }
        #expect(cuts > 20)
    }

    @Test func anEventMayHaveItsText() throws {
        var encoder = ReplyEncoder()
        encoder.isJSON = true
        encoder.hasText = true
        var bytes: [UInt8] = []
        encoder.append(.lagged(revision: 44, count: 3), to: &bytes)
        let line = String(decoding: bytes, as: UTF8.self)
        #expect(line == #"{"event":"lagged","rev":44,"count":3,"text":"event 44 lagged 3"}"# + "\n")
    }

    @Test func anErrorThatCanBeForcedSaysSo() {
        var error = TweakError(.conflict, "no")
        error.canBeForced = true
        #expect(encoded(.error(error)) == "error conflict no\n")
        let json = #"{"ok":false,"error":{"code":"conflict","message":"no","force":true}}"#
        #expect(encoded(.error(error), json: true) == json + "\n")
    }

    @Test(
        arguments: [
            (Reply.ok(), "ok\n"), (.ok("pong"), "ok pong\n"), (.revision(43), "ok rev 43\n"),
            (.revision(43, "watching 2"), "ok rev 43 watching 2\n"),
            (.error(TweakError(.outOfRange, "A/B/C: 500 is outside")), "error out-of-range A/B/C: 500 is outside\n"),
            (
                .error(TweakError(.usage, "a\nok rev 1\r\u{1B}[0m\u{2028}b")),
                "error usage a\u{FFFD}ok rev 1\u{FFFD}\u{FFFD}[0m\u{FFFD}b\n"
            ),
            (.rows("x", []), "ok\n"), (.rows("x", [(["a", "ok"], .null)]), "  a\n  ok\nok\n"),
            (
                .rows("x", [(["a\nok rev 1"], .null), (["\u{7}\u{202E}"], .null)]),
                "  a\u{FFFD}ok rev 1\n  \u{FFFD}\u{FFFD}\nok\n"
            ),
            (
                .info([("name", .string("x")), ("on", .bool(true)), ("no", .null)]),
                "  name: x\n  on: true\n  no: null\nok\n"
            ),
            (.info([("list", .array([.int(1), .string("b")]))]), "  list: 1\n  list: b\nok\n"),
            (.info([("o", .object([("a", .int(1)), ("b", .null), ("c", .string("d"))]))]), "  o: a 1, c d\nok\n"),
        ] as [(Reply, String)])
    func repliesAreText(_ reply: Reply, _ expected: String) {
        #expect(encoded(reply) == expected)
        #expect(encoded(reply, crlf: true) == expected.replacing("\n", with: "\r\n"))
    }

    /// A line begins with `PATH = VALUE…`, two blanks, or the status.
    @Test func namesAndValuesForgeNoStatus() {
        let registry = Hostile().registry
        for note in [TweakLine.Note.none, .explained, .was(.string("\nok\n"), .clamped(from: .string("\nerror x")))] {
            let text = encoded(Reply(.ok(words: "", fields: []), body: .items(tweaks(registry, note))))
            let lines = text.splitLines()
            #expect(lines.suffix(2) == ["ok", ""] && lines.count == 8)
            for line in lines.dropLast(2) {
                #expect(line.hasPrefix("\"“ok rev 1”") || line.hasPrefix("😀/plain/duration = "), "\(line)")
            }
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !Quoting.isUnsafe($0) })
            #expect(!text.contains("hunter2"))
        }
    }

    @Test func commentsOfSeveralLinesAreAligned() throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "Short", 1, registry: registry)
        _ = Tweak("A", "B", "A rather long name", true, registry: registry)
        let text = encoded(Reply(.ok(words: "", fields: []), body: .items(tweaks(registry))))
        let columns = text.splitLines().dropLast(2).map {
            $0.firstRange(of: "# ").map { $0.lowerBound.utf16Offset(in: text) }
        }
        #expect(columns.count == 2 && columns[0] == columns[1])
    }

    @Test(arguments: [1, 10, 100, 100_000]) func streamsOfAnyPieceSizeEqualTheWhole(_ budget: Int) throws {
        let items = tweaks(Hostile().registry, .none)
        let whole = Reply(.ok(words: "x", fields: [("x", .int(1))]), body: .items(items))
        let stream = Reply(whole.status, body: .stream { $0 < items.count ? items[$0] : nil })
        for json in [false, true] { #expect(encoded(stream, json: json, budget: budget) == encoded(whole, json: json)) }
        let empty = Reply(whole.status, body: .stream { _ in nil })
        #expect(encoded(empty, budget: budget) == "ok x\n")
        #expect(encoded(empty, json: true, budget: budget) == "{\"ok\":true,\"x\":1,\"tweaks\":[]}\n")
    }

    @Test(
        arguments: [
            (Reply.ok(), #"{"ok":true}"#), (.ok("pong", [("pong", .bool(true))]), #"{"ok":true,"pong":true}"#),
            (.revision(43), #"{"ok":true,"rev":43}"#),
            (
                .error(TweakError(.outOfRange, "a \"b\"\n\u{2028}\u{1}", path: try? TweakPath("A", "B", "C"))),
                #"{"ok":false,"error":{"code":"out-of-range","message":"a \"b\"\n\u2028\u0001","path":"A/B/C"}}"#
            ),
            (
                .rows("entries", [(["x"], .string("\u{0}\\")), (["y"], .null)]),
                #"{"ok":true,"entries":["\u0000\\",null]}"#
            ),
            (.rows("entries", []), #"{"ok":true,"entries":[]}"#),
            (
                .info([("a", .int(.max)), ("b", .number(1e300)), ("c", .array([])), ("d", .object([("é", .int(-1))]))]
                ),
                #"{"ok":true,"a":9223372036854775807,"b":1e+300,"c":[],"d":{"é":-1}}"#
            ),
        ] as [(Reply, String)])
    func repliesAreJSON(_ reply: Reply, _ expected: String) throws {
        #expect(encoded(reply, json: true) == expected + "\n")
        #expect(try object(encoded(reply, json: true))["ok"] is Bool)
    }

    @Test func tweaksAreListedInJSON() throws {
        let reply = Reply(.ok(words: "", fields: []), body: .items(tweaks(Hostile().registry)))
        let text = encoded(reply, json: true)
        let list = try #require(try object(text)["tweaks"] as? [NSDictionary])
        let name = Hostile.name
        #expect(
            list.map { $0["path"] as? String } == ["string", "number", "choice", "secret", "action"].map {
                "\(name)/\(name)/\($0)"
            } + ["😀/plain/duration"])
        #expect(list.map { $0["kind"] as? String } == ["string", "number", "choice", "string", "action", "duration"])
        #expect(
            list[1]["value"] as? Double == 1.5 && list[1]["max"] as? Double == 2 && list[1]["unit"] as? String == name)
        #expect(
            list[2]["choices"] as? [[String: String]] == [
                ["name": "a", "label": name], ["name": name, "label": "b"], ["name": "two words", "label": "c"],
            ])
        #expect(list[3]["value"] is NSNull && list[3]["set"] as? Bool == true && list[3]["default"] == nil)
        #expect(list[4]["value"] == nil && list[5]["value"] as? String == "1ms")
        #expect(!text.contains("hunter2"))
    }

    @Test func changesAreEventsWithoutSecrets() throws {
        let registry = Hostile().registry
        let nodes = Array(registry.listing().nodes)
        let origin = TweakOrigin("uid 0\nok")
        for (node, old, new) in [
            (nodes[0], TweakValue.string(""), TweakValue.string("\nok")), (nodes[3], .string("a"), .string("hunter2")),
            (nodes[5], .duration(.seconds(1)), .duration(.seconds(2))),
        ] {
            let event = Event.change(
                WatchedChange(node: node, old: old, new: new, origin: origin, revision: 44), layer: .override)
            var encoder = ReplyEncoder()
            var bytes: [UInt8] = []
            encoder.append(event, to: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix("event 44 \(node.path.token) = ") && text.hasSuffix(" by uid 0\u{FFFD}ok\n"))
            #expect(text.utf8.count(where: { $0 == 10 }) == 1 && !text.contains("hunter2"))
            bytes = []
            encoder.isJSON = true
            encoder.append(event, to: &bytes)
            let json = try object(String(decoding: bytes, as: UTF8.self))
            #expect(json["event"] as? String == "change" && json["rev"] as? Int == 44)
            #expect(json["path"] as? String == node.path.joined && json["by"] as? String == "uid 0\u{FFFD}ok")
            #expect(json.description.contains("hunter2") == false)
        }
    }

    @Test func laggedCountsAreEvents() throws {
        var encoder = ReplyEncoder()
        var bytes: [UInt8] = []
        encoder.append(.lagged(revision: 44, count: 3), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "event 44 lagged 3\n")
        bytes = []
        encoder.isJSON = true
        encoder.append(.lagged(revision: 44, count: 3), to: &bytes)
        #expect(try object(String(decoding: bytes, as: UTF8.self)) == ["event": "lagged", "rev": 44, "count": 3])
    }
}
