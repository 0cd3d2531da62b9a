// Converts values of tweaks to those of swift-configuration, and back.

import Configuration
import Foundation
import Tweaks

/// A value that is not of the wanted type, or may not be shown: the subject, what is wrong, and the remedy.
struct ConfigProblem: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension TweakValue {
    /// This value as a program reads it by a type; nil if it has none, or not in this type.
    ///
    /// Whole numbers are doubles, too, durations are seconds or text, and bytes are text in base64, as in files. Colors,
    /// points, curves and choices are text.
    func content(_ type: ConfigType) -> ConfigContent? {
        switch type {
        case .bool: bool.map { .bool($0) }
        case .int: int.map { .int($0) }
        case .double: double.map { .double($0) }
        case .string: string.map { .string($0) }
        case .bytes: bytes.map { .bytes($0) }
        case .boolArray: list(\.bool).map { .boolArray($0) }
        case .intArray: list(\.int).map { .intArray($0) }
        case .doubleArray: list(\.double).map { .doubleArray($0) }
        case .stringArray: list(\.string).map { .stringArray($0) }
        case .byteChunkArray: list(\.bytes).map { .byteChunkArray($0) }
        }
    }

    private var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    private var int: Int? {
        switch self {
        case .int(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    private var double: Double? {
        switch self {
        case .number(let value): value
        case .int(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .duration(let value): value / .seconds(1)
        default: nil
        }
    }

    private var string: String? {
        switch self {
        case .string(let text), .choice(let text): text
        case .duration, .color, .point, .curve: text
        default: nil
        }
    }

    private var bytes: [UInt8]? {
        if case .string(let text) = self { ConfigBytesFromBase64StringDecoder().decode(text) } else { nil }
    }

    private func list<Element>(_ element: (TweakValue) -> Element?) -> [Element]? {
        guard case .list(let values) = self else { return nil }
        let elements = values.compactMap(element)
        return elements.count == values.count ? elements : nil
    }
}
