// An editor without terminal and server: keys and lines go in, requests and screens come out.

import Testing
import Tweaks
import TweaksTerminal

@testable import tweakctl

/// A model with a few tweaks of every sort, driven by hand.
struct EditorBench {
    var model: EditorModel
    private var decoder = KeyDecoder()
    /// What was sent, and not answered yet.
    private(set) var sent: [(line: String, ask: Ask)] = []
    private(set) var other: [Effect] = []
    let start = ContinuousClock.now

    static let facts = """
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

    /// Connected, with everything read, and the first tweak selected.
    init(_ columns: Int = 80, _ rows: Int = 24, facts: String = Self.facts) {
        model = EditorModel(
            name: "bounce", place: "/run/bounce.sock", size: ScreenSize(columns: columns, rows: rows), now: start)
        connect(facts)
    }

    mutating func connect(_ facts: String = Self.facts, hello: [String] = Self.hello) {
        model.connected()
        collect()
        answer("hello 1", hello)
        answer("watch *", status: facts)
    }

    /// Types as a terminal sends it. `␛` is the Escape key, with a pause behind it.
    mutating func type(_ keys: String) {
        for character in keys {
            if character == "␛" {
                model.press(.escape)
            } else {
                for key in decoder.decode(String(character).utf8) { model.press(key) }
            }
        }
        collect()
    }

    private mutating func collect() {
        for effect in model.takeEffects() {
            if case .send(let lines, let ask, let answer) = effect {
                sent.append((lines[answer], ask))
            } else {
                other.append(effect)
            }
        }
    }

    /// The server answers what it was asked longest ago, which shall be this line.
    mutating func answer(
        _ line: String, _ body: [String] = [], status: String = "ok", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard !sent.isEmpty, sent[0].line == line else {
            Issue.record("“\(line)” was not asked, but \(sent.map(\.line))", sourceLocation: sourceLocation)
            return
        }
        let ask = sent.removeFirst().ask
        let isRefusal = status.hasPrefix("error") || status.hasPrefix("{\"ok\":false")
        model.hear(Answer(body: body, status: status, isRefusal: isRefusal), for: ask)
        collect()
    }

    mutating func event(_ line: String) {
        model.hear(event: line)
        collect()
    }

    mutating func lose() {
        model.lost()
        sent = []
    }

    /// Lets time pass.
    mutating func pass(_ duration: Duration) {
        model.now = model.now + duration
        model.tick()
        collect()
    }

    /// Goes to a tweak.
    mutating func select(_ path: String) {
        guard let row = model.rows.firstIndex(where: { model.identity(of: $0) == path }) else { return }
        model.go(to: row)
    }

    var lines: [String] { sent.map(\.line) }
    var notice: String? { model.notice?.text }

    func tweak(_ path: String) throws -> EditorTweak { model.tweaks[try #require(model.positions[path])] }

    func frame(_ palette: Palette = Palette(depth: .full, hasBlocks: true)) -> Frame {
        EditorScreen(model, palette).frame
    }
}
