// Handles the command explain: shows every layer of a tweak, its author and time, and stored values not in effect.

import Tweaks
import TweaksWire

extension Executor {
    typealias Row = (lines: [String], json: JSON)

    func explain(_ path: String, _ session: Session) throws(TweakError) -> Reply {
        let view = view(session)
        if view[path] == nil, let rows = pendingRows(path, view) { return .rows("layers", rows) }
        let tweak = try lookUp(path, session)
        let layers = tweak.layers
        let rows = layers.enumerated().map { position, layer in
            row(layer, of: tweak, wins: position == layers.count - 1)
        }
        return .rows("layers", rows + remarks(tweak.node, layers))
    }

    private func row(_ layer: TweakLayerValue, of tweak: AnyTweak, wins: Bool) -> Row {
        // A figure's value was published by the program; it is not an override.
        let isPublished = tweak.flags.contains(.readOnly) && layer.layer != .default
        let name = isPublished ? "published" : layer.layer.description
        let time = wallClock(layer.moment)
        let left = layer.end.map { registry.timeLeft($0) }
        let value = tweak.node.shown(layer.value)
        let json: [(String, JSON)] = [
            ("layer", .string(name)), ("overridden", .bool(layer.layer.isOverride && !isPublished)),
            ("value", value.json),
            ("by", .string(layer.origin.description)), ("time", .string(time)), ("current", .bool(wins)),
        ]
        let end = left.map { ", \(TimeLeft.text($0)) left" } ?? ""
        let line = "\(wins ? "→" : " ") \(Self.padded(name, 18)) \(value.text)  by \(layer.origin) at \(time)\(end)"
        return ([line], .object(json + (left.map(TimeLeft.fields) ?? [])))
    }

    // MARK: Values not in effect

    private func remarks(_ node: TweakNode, _ layers: [TweakLayerValue]) -> [Row] {
        let invalid = registry.quarantined(node).map { quarantined in
            remark(
                "the \(quarantined.layer) of \(quarantined.entry.origin) is not in effect: "
                    + quarantined.reason.message, quarantined.layer, quarantined.entry)
        }
        guard let (old, new) = registry.underlyingValueChange(node) else { return invalid }
        let underlying = layers.last { $0.layer < .override }?.layer ?? .default
        let (subject, source) = Self.names(of: underlying)
        let change = node.isSecret ? "changed" : "changed \(old.text) → \(new.text)"
        let remedy = "reset \(node.path.token) to take the \(source)"
        let text = "\(subject) \(change) since; the override stays, \(remedy)"
        let json = JSON.object([("remark", .string(text)), ("layer", .string(underlying.description))])
        return invalid + [(["  \(text)"], json)]
    }

    /// The names of a layer below the overrides and of its value.
    private static func names(of layer: TweakLayer) -> (subject: String, value: String) {
        switch layer {
        case .configFile: ("file", "file's")
        case .default: ("the next layer", "default")
        default: (layer.name, "\(layer.name)'s")
        }
    }

    /// The stored values of a path that no tweak has.
    private func pendingRows(_ text: String, _ view: TweakView) -> [Row]? {
        guard let path = try? TweakPath(text), view.canSee(path) else { return nil }
        let rows = registry.pendingEntries(path).map { layer, entry in
            remark("no tweak has this path; the \(layer) of \(entry.origin) waits for one to register", layer, entry)
        }
        return rows.isEmpty ? nil : rows
    }

    // Omits the value: without a definition it is unknown whether it is a secret and what it means.
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

    /// Converts the time of a layer, which a monotonic clock gives, to a wall clock time.
    private func wallClock(_ time: Moment) -> String {
        TimeText.seconds(hooks.wallClock(at: time))
    }
}
