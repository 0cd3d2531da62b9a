// Drives the editor's model without a terminal and a server: keys and lines go in, requests and screens come out.

import Testing
import Tweaks
import TweaksWire

@testable import tweakctl

/// A model with a tweak of every kind.
struct EditorHarness {
    var model: EditorModel
    private var decoder = KeyDecoder()
    /// The requests without an answer.
    private(set) var sent: [(line: String, kind: RequestKind)] = []
    private(set) var otherEffects: [Effect] = []
    let start = ContinuousClock.now

    static let tweaks = """
        {"ok":true,"rev":4,"watching":9,"tweaks":[\
        {"path":"Content/Text/Size","kind":"number","value":60,"default":60,"modified":false,"min":10,"max":100,\
        "step":0.5,"unit":"pt","help":"Label size"},\
        {"path":"Content/Text/String","kind":"string","value":"Tweaks","default":"Tweaks","modified":false},\
        {"path":"Content/Text/Color","kind":"color","value":"#FF8800FF","default":"#000000FF","modified":true},\
        {"path":"Content/Text/Alignment","kind":"choice","value":"left","default":"left","modified":false,\
        "choices":[{"name":"left","label":null},{"name":"center","label":null},{"name":"right","label":null}]},\
        {"path":"Content/Text/Font Name","kind":"string","value":"Avenir Next","default":"Avenir Next","modified":false},\
        {"path":"Player/Audio/Mute","kind":"action","help":"Silence"},\
        {"path":"Player/Audio/Muted","kind":"bool","value":false,"default":false,"modified":false},\
        {"path":"Player/Audio/Token","kind":"string","value":null,"set":false,"modified":false,"flags":["secret"]},\
        {"path":"Player/Status/Frames","kind":"number","value":25,"default":0,"modified":false,"flags":["read-only"]}]}
        """
    /// The time of day at the start: 2026-11-21T10:03:00Z.
    static let wallTime: Int64 = 1_795_255_380_000
    static let hello = ["  name: bounce", "  pid: 4711", "  instance: one", "  rev: 4"]

    /// Connects, reads the tweaks, selects the first one, and types keys.
    init(_ columns: Int = 80, _ rows: Int = 24, tweaks: String = Self.tweaks, keys: String = "") {
        model = EditorModel(
            name: "bounce", place: "/run/bounce.sock", size: ScreenSize(columns: columns, rows: rows), now: start,
            wallTime: Self.wallTime)
        connect(tweaks)
        type(keys)
    }

    mutating func connect(_ tweaks: String = Self.tweaks, hello: [String] = Self.hello) {
        model.connected()
        collectEffects()
        answer(Answer.fieldsRequest)
        answer("hello 1", hello)
        answer("watch *", status: tweaks)
    }

    mutating func disconnect() {
        model.lost()
        sent = []
    }

    /// Types bytes as a terminal sends them. `␛` is the Escape key, with a pause after it.
    mutating func type(_ keys: String) {
        for character in keys {
            if character == "␛" {
                model.press(.escape)
            } else {
                for key in decoder.decode(String(character).utf8) { model.press(key, on: Self.palette) }
            }
        }
        collectEffects()
    }

    private mutating func collectEffects() {
        for effect in model.takeEffects() {
            if case .send(let lines, let kind, let answer) = effect {
                sent.append((lines[answer], kind))
            } else {
                otherEffects.append(effect)
            }
        }
    }

    /// Answers the oldest request, which must be this line: in JSON with its text, as a server does, unless the status is
    /// a reply in JSON already.
    mutating func answer(
        _ line: String, _ body: [String] = [], status: String = "ok", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard !sent.isEmpty, sent[0].line == line else {
            Issue.record("“\(line)” was not sent, but \(lines)", sourceLocation: sourceLocation)
            return
        }
        let json = status.hasPrefix("{") ? status : reply(body, status).text
        let isRefusal = json.hasPrefix("{\"ok\":false")
        model.receive(Answer(body: [], status: json, isRefusal: isRefusal), for: sent.removeFirst().kind)
        collectEffects()
    }

    /// - Parameter line: In JSON, or in text, which is sent as the JSON that means the same.
    mutating func event(_ line: String) {
        model.receive(event: line.hasPrefix("{") ? line : eventObject(line).text)
        collectEffects()
    }

    /// The JSON of a reply: what the text says, as fields, and the text itself.
    private func reply(_ body: [String], _ status: String) -> JSON {
        let words = status.split(separator: " ", maxSplits: 2).map { String($0) }
        var fields: [(String, JSON)] = [("ok", .bool(words[0] == "ok"))]
        if words[0] == "error", words.count == 3 {
            fields.append(("error", .object([("code", .string(words[1])), ("message", .string(words[2]))])))
        } else if words.count == 3, words[1] == "rev", let number = words[2].split(separator: " ").first {
            fields.append(("rev", .int(Int64(number) ?? 0)))
        }
        let tweaks = body.compactMap { TweakRow($0) }.map { JSON.object(self.fields($0)) }
        if !tweaks.isEmpty { fields.append(("tweaks", .array(tweaks))) }
        let rows = body.filter { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
        let names = rows.map { row in JSON.object([("name", .string(String(row.prefix { $0 != " " })))]) }
        fields.append(("presets", .array(names)))
        let layers = rows.map { row in
            let time: [(String, JSON)] = row.hasSuffix(" left") ? [("timeLeft", .string("1m"))] : []
            return JSON.object([("current", .bool(row.hasPrefix("→")))] + time)
        }
        fields.append(("layers", .array(layers)))
        return .object(fields + [("text", .array((body + [status]).map(JSON.string)))])
    }

    private func fields(_ row: TweakRow) -> [(String, JSON)] {
        let path = CommandText.tokens(row.path).first?.text ?? row.path
        let value = CommandText.tokens(row.value).first?.text ?? row.value
        if ["(set)", "(unset)"].contains(value) { return [("path", .string(path)), ("set", .bool(value == "(set)"))] }
        let tweak = model.positions[path].map { model.tweaks[$0] }
        let typed = tweak.flatMap { TweakValue(parsing: value, as: $0.kind, of: $0.component) }
        return [("path", .string(path)), ("value", typed?.json ?? .string(value))]
    }

    private func eventObject(_ line: String) -> JSON {
        guard let row = TweakRow(line), let revision = row.revision.flatMap({ Int64($0) }) else {
            return .object([("event", .string("lagged")), ("rev", .int(44)), ("count", .int(3))])
        }
        let origin = row.note.ranges(of: "by ").last.map { String(row.note[$0.upperBound...]) } ?? ""
        return .object(
            [("event", .string("change")), ("rev", .int(revision))] + fields(row) + [("by", .string(origin))])
    }

    mutating func advance(by duration: Duration) {
        model.now = model.now + duration
        model.wallTime += Int64(duration / .milliseconds(1))
        model.tick()
        collectEffects()
    }

    mutating func select(_ path: String) {
        guard let row = model.rows.firstIndex(where: { model.identity(of: $0) == path }) else { return }
        model.go(to: row)
    }

    /// The path of the tweak with a name.
    func path(of name: String) -> String? { model.tweaks.map(\.path).first { $0.hasSuffix("/\(name)") } }

    /// The lines of the requests without an answer.
    var lines: [String] { sent.map(\.line) }
    var notice: String? { model.notice?.text }
    var size: EditorTweak { get throws { try tweak("Content/Text/Size") } }

    func tweak(_ path: String) throws -> EditorTweak { model.tweaks[try #require(model.positions[path])] }

    static let palette = Palette(depth: .full, hasBlocks: true)

    func frame(_ palette: Palette = Self.palette) -> Frame {
        EditorScreen(model, palette).frame
    }

    /// The first line on the screen that shows a name.
    func row(_ name: String) -> String { frame().lines.map(\.text).first { $0.contains(" \(name) ") } ?? "" }
}
