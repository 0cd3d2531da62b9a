// Drives the editor's model without a terminal and a server: keys and lines go in, requests and screens come out.

import Testing

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
    static let hello = ["  name: bounce", "  pid: 4711", "  instance: one", "  rev: 4"]

    /// Connects, reads the tweaks, selects the first one, and types keys.
    init(_ columns: Int = 80, _ rows: Int = 24, tweaks: String = Self.tweaks, keys: String = "") {
        model = EditorModel(
            name: "bounce", place: "/run/bounce.sock", size: ScreenSize(columns: columns, rows: rows), now: start)
        connect(tweaks)
        type(keys)
    }

    mutating func connect(_ tweaks: String = Self.tweaks, hello: [String] = Self.hello) {
        model.connected()
        collectEffects()
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
                for key in decoder.decode(String(character).utf8) { model.press(key) }
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

    /// Answers the oldest request, which must be this line.
    mutating func answer(
        _ line: String, _ body: [String] = [], status: String = "ok", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard !sent.isEmpty, sent[0].line == line else {
            Issue.record("“\(line)” was not sent, but \(lines)", sourceLocation: sourceLocation)
            return
        }
        let isRefusal = status.hasPrefix("error") || status.hasPrefix("{\"ok\":false")
        model.receive(Answer(body: body, status: status, isRefusal: isRefusal), for: sent.removeFirst().kind)
        collectEffects()
    }

    mutating func event(_ line: String) {
        model.receive(event: line)
        collectEffects()
    }

    mutating func advance(by duration: Duration) {
        model.now = model.now + duration
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

    func frame(_ palette: Palette = Palette(depth: .full, hasBlocks: true)) -> Frame {
        EditorScreen(model, palette).frame
    }

    /// The first line on the screen that shows a name.
    func row(_ name: String) -> String { frame().lines.map(\.text).first { $0.contains(" \(name) ") } ?? "" }
}
