// Converts keys and values of swift-configuration to what a source gives to its tweaks.

import Configuration
import Foundation
import Tweaks

extension AbsoluteConfigKey {
    /// The key of a tweak: `http.client.maxAttempts` for `HTTP/Client/Max Attempts`. Of a path in `Config` the category is
    /// left out, and in `Config/General` the collection, too.
    init(_ path: TweakPath) {
        var parts = [path.category, path.collection, path.name]
        if parts[0].lowercased() == "config" {
            parts.removeFirst()
            if parts[0].lowercased() == "general" { parts.removeFirst() }
        }
        self.init(parts.map { Self.camelCase($0) })
    }

    /// `maxAttempts` for `Max Attempts`, `urlSession` for `URLSession`, `http` for `HTTP`.
    private static func camelCase(_ part: String) -> String {
        let words = part.split { !$0.isLetter && !$0.isNumber }
        let first = words.first ?? ""
        let capitals = first.prefix { $0.isUppercase }
        // The last of several capitals begins the next word, if there is one.
        let hasNext = capitals.count > 1 && first.dropFirst(capitals.count).first?.isLetter == true
        let head = capitals.dropLast(hasNext ? 1 : 0)
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return head.lowercased() + first.dropFirst(head.count) + rest.joined()
    }
}

extension ConfigContent {
    /// The value as a source gives it to a tweak of a kind.
    func entry(_ kind: TweakKind, _ origin: TweakOrigin) -> TweakSourceEntry {
        switch self {
        case .string(let text): .text(text, origin: origin)
        // A duration of swift-configuration is a number of seconds; `Duration` traps on what is beyond its range.
        case .double(let value) where kind == .duration && abs(value) < 1e9:
            .value(.duration(.seconds(value)), origin: origin)
        case .double(let value): .value(.number(value), origin: origin)
        case .int(let value): .value(.int(Int64(value)), origin: origin)
        case .bool(let value): .value(.bool(value), origin: origin)
        case .bytes(let bytes): .text(Data(bytes).base64EncodedString(), origin: origin)
        // As text: the same list may be one of texts, choices or durations.
        case .stringArray(let texts): .text(TweakValue.list(texts.map { .string($0) }).text, origin: origin)
        case .intArray(let values): .text(TweakValue.list(values.map { .int(Int64($0)) }).text, origin: origin)
        case .doubleArray(let values): .text(TweakValue.list(values.map { .number($0) }).text, origin: origin)
        case .boolArray(let values): .text(TweakValue.list(values.map { .bool($0) }).text, origin: origin)
        case .byteChunkArray(let chunks):
            .text(TweakValue.list(chunks.map { .string(Data($0).base64EncodedString()) }).text, origin: origin)
        }
    }
}

extension TweakKind {
    /// The types by which a provider is asked for a value of this kind, in this order: files know whether a value is a
    /// number, the environment has text.
    var configTypes: [ConfigType] {
        switch self {
        case .bool: [.bool]
        case .int: [.int]
        case .number: [.double]
        case .duration: [.string, .double]
        case .list: [.stringArray, .intArray, .doubleArray, .boolArray]
        case .optional: [.string, .int, .double, .bool]
        case .string, .choice, .color, .point, .curve: [.string]
        case .action: []
        }
    }
}
