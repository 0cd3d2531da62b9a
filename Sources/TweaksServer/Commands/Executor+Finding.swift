// Commands that find and explain tweaks: find, complete, describe, explain, conflicts.

import Foundation
import Tweaks
import TweaksWire

extension Executor {
    /// Tweaks whose path or help holds every word, best first.
    func find(_ words: [String]) -> Reply {
        let words = words.map { $0.lowercased() }
        var found: [(rank: Int, node: TweakNode)] = []
        for node in registry.listing().nodes {
            if let rank = Self.rank(node, words) { found.append((rank, node)) }
        }
        // Stable: equals stay in listing order.
        let sorted = found.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        return lines(sorted.map(\.element.node), .explained)
    }

    /// How well a tweak fits, 0 best; nil when a word is nowhere in it.
    private static func rank(_ node: TweakNode, _ words: [String]) -> Int? {
        let path = node.path.joined.lowercased()
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let name = path[(slash.map { path.utf8.index(after: $0) } ?? path.startIndex)...]
        var total = 0
        for word in words {
            if name == word {
            } else if name.hasPrefix(word) {
                total += 1
            } else if name.contains(word) {
                total += 2
            } else if path.contains(word) {
                total += 3
            } else if node.definition.help?.lowercased().contains(word) == true {
                total += 4
            } else {
                return nil
            }
        }
        return total
    }

    func describe(_ path: String) throws(TweakError) -> Reply {
        let tweak = try lookUp(path)
        let node = tweak.node
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(node.definition.kind.rawValue)),
        ]
        if let value = tweak.value {
            let isSecret = node.definition.flags.contains(.secret)
            fields.append(("value", isSecret ? .null : value.json))
            if isSecret { fields.append(("set", .bool(node.isSet(value)))) }
        }
        fields += node.facts(isModified: tweak.isModified)
        fields.append(("source", .string(node.source.description)))
        return .facts(fields)
    }

    func explain(_ path: String) throws(TweakError) -> Reply {
        let tweak = try lookUp(path)
        let layers = tweak.layers
        let isFigure = tweak.flags.contains(.readOnly)
        let rows = layers.enumerated().map { position, layer -> (lines: [String], json: JSON) in
            let wins = position == layers.count - 1
            let isSecret = tweak.flags.contains(.secret)
            // What a figure shows was published by the program; it is nobody's override.
            let name = isFigure && layer.layer != .default ? "published" : layer.layer.description
            let value = tweak.node.shownText(layer.value)
            let time = Self.wallClock(layer.time)
            let json: [(String, JSON)] = [
                ("layer", .string(name)), ("value", isSecret ? .null : layer.value.json),
                ("by", .string(layer.origin.description)), ("time", .string(time)), ("current", .bool(wins)),
            ]
            let line = "\(wins ? "→" : " ") \(Self.padded(name, 18)) \(value)  by \(layer.origin) at \(time)"
            return ([line], .object(json))
        }
        return .rows("layers", rows)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Layers are stamped by a clock that never jumps; people want to read the other one.
    private static func wallClock(_ instant: ContinuousClock.Instant) -> String {
        let age = ContinuousClock.now - instant
        return Date(timeIntervalSinceNow: -(age / .seconds(1))).formatted(.iso8601)
    }

    func conflicts() -> Reply {
        .rows(
            "conflicts",
            registry.conflicts.map { conflict in
                let json: [(String, JSON)] = [
                    ("path", .string(conflict.path.joined)), ("first", .string(conflict.first.description)),
                    ("second", .string(conflict.second.description)), ("differences", .string(conflict.differences)),
                ]
                return ([conflict.description], .object(json))
            })
    }

    // MARK: Completion

    /// How a line could go on: commands, then paths part by part, then the words a value may be.
    func complete(_ text: String) -> Reply {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map { String($0) }
        let isNewWord = text.isEmpty || text.hasSuffix(" ")
        let last = isNewWord ? "" : words.last ?? ""
        let before = isNewWord ? words : Array(words.dropLast())
        var candidates: [String] = []
        if before.isEmpty { candidates += Command.all.map(\.name).filter { $0.hasPrefix(last) } }
        if let path = before.last, let tweak = registry[path] {
            candidates += Self.values(of: tweak).filter { $0.hasPrefix(last) }
        } else {
            candidates += paths(from: last)
        }
        return .rows("candidates", candidates.prefix(200).map { ([$0], .string($0)) })
    }

    private static func values(of tweak: AnyTweak) -> [String] {
        switch tweak.kind {
        case .bool: ["true", "false", "toggle"]
        case .choice: tweak.choices.map { TweakValue.choice($0.name).text }
        default: []
        }
    }

    /// The next part of every path that begins so.
    private func paths(from start: String) -> [String] {
        let depth = start.utf8.count { $0 == UInt8(ascii: "/") }
        var found: [String] = []
        for node in registry.listing().nodes where node.path.joined.hasPrefix(start) {
            let parts = node.path.joined.pathParts
            let candidate = depth >= 2 ? node.path.token : parts.prefix(depth + 1).joined(separator: "/") + "/"
            if found.last != candidate { found.append(candidate) }
        }
        return found
    }
}
