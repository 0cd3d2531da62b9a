// Decodes and encodes the JSON of a fleet's keys; a malformed key does not affect the others.

import Tweaks
import TweaksStorage

/// The reason why a key's content is invalid.
package struct FleetProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
}

/// The fields of a JSON object being decoded.
struct FleetFields {
    let json: JSON

    init(_ json: JSON) { self.json = json }

    /// - Parameter max: The size limit in bytes.
    init(_ bytes: [UInt8], max: Int) throws(FleetProblem) {
        guard bytes.count <= max else { throw FleetProblem("it has more than \(max) bytes") }
        do throws(JSONReader.Problem) {
            json = try JSON(bytes, maxValues: 100_000)
        } catch {
            throw FleetProblem("it is not JSON: \(error)")
        }
        guard case .object = json else { throw FleetProblem("it is not a JSON object") }
    }

    func optional(_ name: String) -> JSON? { json[name].flatMap { $0 == .null ? nil : $0 } }

    /// Reads a text of at most 200 bytes unless `max` differs.
    func text(_ name: String, max: Int = 200) throws(FleetProblem) -> String {
        guard let text = json[name]?.string, text.utf8.count <= max else {
            throw FleetProblem("“\(name)” is missing, or is not a text of at most \(max) bytes")
        }
        return text
    }

    func optionalText(_ name: String, max: Int = 200) throws(FleetProblem) -> String? {
        optional(name) == nil ? nil : try text(name, max: max)
    }

    func whole(_ name: String) throws(FleetProblem) -> UInt64 {
        guard let number = json[name]?.wholeNumber else {
            throw FleetProblem("“\(name)” is missing, or is not a whole number")
        }
        return number
    }

    /// Reads a whole number of at most 63 bits.
    func count(_ name: String, or standard: Int64? = nil) throws(FleetProblem) -> Int64 {
        if let standard, optional(name) == nil { return standard }
        guard let number = Int64(exactly: try whole(name)) else { throw FleetProblem("“\(name)” is too large") }
        return number
    }

    func time(_ name: String) throws(FleetProblem) -> Int64 {
        guard let time = TimeText.parse(try text(name)) else {
            throw FleetProblem("“\(name)” is not a time like 2026-11-21T09:30:00Z")
        }
        return time
    }

    func optionalTime(_ name: String) throws(FleetProblem) -> Int64? { optional(name) == nil ? nil : try time(name) }

    func path(_ name: String = "path") throws(FleetProblem) -> TweakPath {
        guard let path = try? TweakPath(try text(name, max: 400)) else {
            throw FleetProblem("“\(name)” is not category/collection/name")
        }
        return path
    }

    func kind() throws(FleetProblem) -> StoredKind {
        let name = try text("kind")
        guard let kind = StoredKind(kind: name, of: try optionalText("of")) else {
            throw FleetProblem("this version has no values of kind \(Quoting.excerpt(name))")
        }
        return kind
    }

    func value(_ name: String = "value", _ kind: StoredKind) throws(FleetProblem) -> TweakValue {
        guard let value = json[name].flatMap({ kind.value($0) }) else {
            throw FleetProblem("“\(name)” is missing, or is not a value of kind \(kind.kind.rawValue)")
        }
        return value
    }

    /// Reads an optional array. Any other type is an error: a condition that is ignored could not stop a rollout.
    func array(_ name: String, max: Int) throws(FleetProblem) -> [JSON] {
        guard let json = optional(name) else { return [] }
        guard case .array(let elements) = json else { throw FleetProblem("“\(name)” is not an array") }
        guard elements.count <= max else { throw FleetProblem("“\(name)” has more than \(max) elements") }
        return elements
    }

    func elements(_ name: String, max: Int) throws(FleetProblem) -> [FleetFields] {
        try array(name, max: max).map { FleetFields($0) }
    }

    /// Reads the fields of an optional object.
    func members(_ name: String) throws(FleetProblem) -> [(String, JSON)] {
        guard let json = optional(name) else { return [] }
        guard case .object(let fields) = json else { throw FleetProblem("“\(name)” is not an object") }
        return fields
    }

    /// Reads an optional array of texts.
    func texts(_ name: String, max: Int) throws(FleetProblem) -> [String] {
        var texts: [String] = []
        for json in try array(name, max: max) {
            guard let text = json.string else { throw FleetProblem("“\(name)” holds something that is not a text") }
            texts.append(text)
        }
        return texts
    }

    func flag(_ name: String) throws(FleetProblem) -> Bool {
        switch optional(name) {
        case nil: return false
        case .bool(let value)?: return value
        default: throw FleetProblem("“\(name)” is not true or false")
        }
    }

    /// Reads an optional number of seconds; limited so that sums cannot overflow.
    func seconds(_ name: String, from least: Int64 = 1) throws(FleetProblem) -> Int64? {
        if optional(name) == nil { return nil }
        let seconds = try count(name)
        guard (least...1_000_000_000).contains(seconds) else {
            throw FleetProblem("“\(name)” is not \(least)…1000000000")
        }
        return seconds
    }
}

extension [(String, JSON)] {
    /// The object as one line of JSON.
    var line: [UInt8] { Array<UInt8>(JSON.object(self).text.utf8) }

    mutating func add(_ name: String, _ json: JSON?) { if let json { append((name, json)) } }
}

extension JSON {
    static func time(_ milliseconds: Int64) -> JSON { .string(TimeText.print(milliseconds)) }

    /// A text, shortened to the limit of its reader.
    static func text(_ text: String, max: Int = 200) -> JSON { .string(text.cut(to: max)) }
}

extension String {
    /// A number with zeros in front, so that texts of it sort by number.
    func padded(to length: Int) -> String { String(repeating: "0", count: Swift.max(0, length - utf8.count)) + self }

    /// Shortens a text, ending it with an ellipsis, if it is longer than a number of bytes.
    /// - Parameter cost: The encoded size of a part.
    func cut(to max: Int, cost: (String) -> Int = { $0.utf8.count }) -> String {
        if cost(self) <= max { return self }
        var short = ""
        var left = max - 3
        for character in self {
            left -= cost(String(character))
            if left < 0 { break }
            short.append(character)
        }
        return short + "…"
    }
}
