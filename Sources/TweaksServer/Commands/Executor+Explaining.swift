// The command explain: every layer of a tweak, who set it, when, which one wins, and what files say that is not in effect.

import Tweaks
import TweaksWire

extension Executor {
    typealias Row = (lines: [String], json: JSON)

    func explain(_ path: String, _ session: Session) throws(TweakError) -> Reply {
        let view = view(session)
        if view[path] == nil, let rows = heldRows(path, view) { return .rows("layers", rows) }
        let tweak = try lookUp(path, session)
        let layers = tweak.layers
        let rows = layers.enumerated().map { position, layer in
            row(layer, of: tweak, wins: position == layers.count - 1)
        }
        return .rows("layers", rows + remarks(tweak.node, layers))
    }

    private func row(_ layer: TweakLayerValue, of tweak: AnyTweak, wins: Bool) -> Row {
        let isSecret = tweak.flags.contains(.secret)
        // What a figure shows was published by the program; it is nobody's override.
        let isPublished = tweak.flags.contains(.readOnly) && layer.layer != .default
        let name = isPublished ? "published" : layer.layer.description
        let time = wallClock(layer.time)
        let left = layer.expires.map { registry.timeLeft($0) }
        let json: [(String, JSON)] = [
            ("layer", .string(name)), ("value", isSecret ? .null : layer.value.json),
            ("by", .string(layer.origin.description)), ("time", .string(time)), ("current", .bool(wins)),
        ]
        let value = tweak.node.shownText(layer.value)
        let end = left.map { ", \(TimeLeft.text($0)) left" } ?? ""
        let line = "\(wins ? "→" : " ") \(Self.padded(name, 18)) \(value)  by \(layer.origin) at \(time)\(end)"
        return ([line], .object(json + (left.map(TimeLeft.fields) ?? [])))
    }

    // MARK: What is not in effect

    private func remarks(_ node: TweakNode, _ layers: [TweakLayerValue]) -> [Row] {
        let unfit = registry.aside(node).map { aside in
            remark(
                "the \(aside.layer) of \(aside.entry.origin) is not in effect: \(aside.reason.message)",
                aside.layer, aside.entry)
        }
        guard let (old, new) = registry.changeBeneath(node) else { return unfit }
        let beneath = layers.last { $0.layer < .override }?.layer ?? .default
        let (subject, source) = Self.names(of: beneath)
        let change = node.isSecret ? "changed" : "changed \(old.text) → \(new.text)"
        let remedy = "reset \(node.path.token) to take the \(source)"
        let text = "\(subject) \(change) since; the override stays, \(remedy)"
        return unfit + [(["  \(text)"], .object([("remark", .string(text)), ("layer", .string(beneath.description))]))]
    }

    /// What a layer beneath overrides is called, and its value.
    private static func names(of layer: TweakLayer) -> (subject: String, value: String) {
        switch layer {
        case .configFile: ("file", "file's")
        case .fleet: ("fleet", "fleet's")
        case .default, .override, .temporaryOverride: ("what lies beneath", "default")
        }
    }

    /// What files have for a path that no tweak has.
    private func heldRows(_ text: String, _ view: TweakView) -> [Row]? {
        guard let path = try? TweakPath(text), view.knows(path) else { return nil }
        let rows = registry.heldEntries(path).map { layer, entry in
            remark("no tweak has this path; the \(layer) of \(entry.origin) waits for one to register", layer, entry)
        }
        return rows.isEmpty ? nil : rows
    }

    // Without the value: only the definition could say whether it is a secret, or what it means.
    private func remark(_ text: String, _ layer: TweakLayer, _ entry: StoredEntry) -> Row {
        let time = wallClock(entry.time)
        let json: [(String, JSON)] = [
            ("layer", .string(layer.description)), ("by", .string(entry.origin.description)),
            ("time", .string(time)), ("current", .bool(false)), ("remark", .string(text)),
        ]
        return (["  \(text) (\(time))"], .object(json))
    }

    // MARK: Texts

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Layers are stamped by a clock that never jumps; people want to read the other one.
    private func wallClock(_ instant: ContinuousClock.Instant) -> String {
        TimeText.seconds(hooks.wallClock(at: instant))
    }
}
