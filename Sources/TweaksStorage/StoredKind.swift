// Encodes and decodes the kind of stored values.

package import Tweaks

/// The kind of the values in one entry of a file: `"kind":"number"`, `"kind":"list","of":"int"`; if one of the values
/// is null, `"kind":"optional","of":"int"`.
package struct StoredKind: Sendable {
    package let kind: TweakKind
    package let component: TweakKind?

    /// The kind of values of one tweak; nil without values.
    package init?(_ values: [TweakValue?]) {
        let values = values.compactMap(\.self)
        guard let first = values.first else { return nil }
        let isOptional = values.contains(.notSet)
        kind = isOptional ? .optional : first.kind
        component =
            isOptional ? values.first { $0 != .notSet }?.kind : values.lazy.compactMap(\.componentKind).first
    }

    /// Decodes a kind. Nil if this build does not have it.
    package init?(kind: String, of component: String?) {
        guard let kind = TweakKind(rawValue: kind), kind != .action else { return nil }
        self.kind = kind
        if let component {
            guard let component = TweakKind(rawValue: component) else { return nil }
            self.component = component
        } else {
            self.component = nil
        }
    }

    /// Appends the kind as fields after others of an object.
    /// - Parameter space: The text after commas and colons.
    func append(to bytes: inout [UInt8], space: String = "") {
        bytes.append(",\(space)\"kind\":\(space)\"\(kind.rawValue)\"")
        if let component { bytes.append(",\(space)\"of\":\(space)\"\(component.rawValue)\"") }
    }

    /// The kind as fields of an object.
    package var fields: [(String, JSON)] {
        [("kind", .string(kind.rawValue))] + (component.map { [("of", .string($0.rawValue))] } ?? [])
    }

    /// Decodes a value; nil if it has another kind, or more values than any list.
    package func value(_ json: JSON) -> TweakValue? {
        json.elements.count > TweakValue.maxListCount ? nil : TweakValue(json, as: kind, of: component)
    }
}

extension [UInt8] {
    /// Appends a quoted string. Most strings need no escapes and are copied.
    mutating func append(json text: String) {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        guard isPlain else { return append(Quoting.json(text)) }
        append(0x22)
        append(text)
        append(0x22)
    }

    /// Appends text, such as a key with its colon, and a quoted string.
    mutating func append(_ text: String, json string: String) {
        append(text)
        append(json: string)
    }

    /// Appends a value; false, with nothing appended, if it has no exact text, which no tweak can have.
    mutating func append(stored value: TweakValue) -> Bool {
        guard let json = value.storedJSON else { return false }
        if case .string(let text) = json { append(json: text) } else { json.append(to: &self) }
        return true
    }
}

extension TweakValue {
    /// The stored form of a value; nil if it has no exact text, which no tweak can have.
    package var storedJSON: JSON? {
        switch json {
        case .null where self != .notSet: nil
        case .number(let number) where number == 0 && number.sign == .minus: .literal("-0.0")
        case let json: json
        }
    }
}

extension JSONReader {
    /// The value of a key, which may occur once.
    mutating func value(_ key: String, isNew: Bool = true) throws(Problem) -> JSON {
        if !isNew { throw problem("“\(key)” is there twice") }
        return try JSON(&self)
    }

    mutating func text(_ key: String, isNew: Bool = true) throws(Problem) -> String {
        guard let text = try value(key, isNew: isNew).string else { throw problem("“\(key)” is not a string") }
        return text
    }

    mutating func whole(_ key: String) throws(Problem) -> Int64 {
        guard case .literal(let text) = try scalar(), let number = Int64(text) else {
            throw problem("“\(key)” is not a whole number")
        }
        return number
    }
}
