// Finds the declaration of a tweak in its file by the three texts of its path.

import Tweaks

/// Where a build recorded a declaration: `Module/File.swift:12`.
package struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
    package let module: String
    package let file: String
    package let line: Int

    /// Nil for a text of another form. A file is a plain name: a place is compared with those of files, and never opened.
    package init?(_ text: String) {
        let parts = text.pathParts
        guard parts.count == 2, !parts[0].isEmpty, Quoting.isSafe(text),
            parts[0].utf8.allSatisfy({ $0.isIdentifierHead || $0.isASCIIDigit }),
            let colon = parts[1].utf8.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(parts[1][parts[1].utf8.index(after: colon)...]), line > 0
        else { return nil }
        module = parts[0]
        file = String(parts[1][..<colon])
        self.line = line
        if !file.hasSuffix(".swift") || file.hasPrefix(".") { return nil }
    }

    package var description: String { "\(module)/\(file):\(line)" }
}

/// A declaration in a file.
struct Declaration {
    /// The group of tokens that it is in.
    let group: Int
    /// The tokens of the default.
    let value: Range<Int>
    /// Whether the default is the initial value of a property, after which other code follows.
    let isProperty: Bool
    /// The type of its values that it has besides the default; empty for one that is not known here.
    let type: String?
    /// The tokens of the argument `in:`.
    let range: Range<Int>?
    /// The lines from its first token to its last.
    let lines: ClosedRange<Int>
    /// For a `TweakGroup`: the name of the part.
    let part: String?
}

/// Looks for the declaration of one path.
struct DeclarationFinder {
    private let source: SwiftSource
    private let path: TweakPath

    /// The functions and types that declare a tweak. `init` is the implicit form with a declared type.
    static let names: Set = ["Tweak", "tweakValue", "tweakInline", "tweakBind", "TweakGroup", "register", "init"]

    init(_ path: TweakPath, in source: SwiftSource) {
        self.path = path
        self.source = source
    }

    /// The declaration that the build recorded at a line.
    func declaration(at line: Int) throws(BakeRefusal) -> Declaration {
        let found = all
        let there = found.filter { $0.lines.contains(line) }
        if there.count == 1 { return there[0] }
        if there.count > 1 { throw BakeRefusal("is declared twice in line \(line); write the value by hand") }
        guard let other = found.first else {
            throw BakeRefusal(
                "is not declared there by these three texts; a name that is computed cannot be found, so write the value "
                    + "by hand")
        }
        let places = found.count == 1 ? "in line \(other.lines.lowerBound)" : "in \(found.count) other places"
        throw BakeRefusal("is declared \(places), not where the build recorded it; \(BakeRefusal.rebuild)")
    }

    private var all: [Declaration] {
        source.groups.indices.flatMap { group in
            let reader = SwiftReader(source, group)
            return source.calls[group].compactMap { declaration($0, group, reader) }
        }
    }

    private func declaration(_ call: SwiftCall, _ group: Int, _ reader: SwiftReader) -> Declaration? {
        let unlabeled = call.unlabeled
        let first = call.name == "tweakBind" ? 2 : 0
        let texts = unlabeled.dropFirst(first).prefix(3).map { text($0.tokens, reader) }
        guard texts.count >= 2, isSame(texts[0], path.category), isSame(texts[1], path.collection) else { return nil }
        let name = texts.count == 3 ? texts[2] : nil
        var part: String?
        var next = first + 3
        if call.name == "TweakGroup" {
            part = self.part(ofGroup: name)
            if part == nil { return nil }
            next = name == nil ? 2 : 3
        } else if !isSame(name, path.name) {
            return nil
        }
        return declaration(call, part, unlabeled.dropFirst(next).first, group, reader)
    }

    /// The declaration with its default, which is an argument, or what its property begins with.
    private func declaration(
        _ call: SwiftCall, _ part: String?, _ argument: SwiftCall.Argument?, _ group: Int, _ reader: SwiftReader
    ) -> Declaration? {
        let given = argument ?? call["wrappedValue"]
        guard let value = given?.tokens ?? (call.isAttribute ? initialValue(after: call.end, reader) : nil) else {
            return nil
        }
        let isProperty = given == nil
        let last = reader.group.tokens[isProperty ? value.lowerBound : call.end]
        return Declaration(
            group: group, value: value, isProperty: isProperty,
            type: isProperty ? reader.propertyType(before: value.lowerBound - 1) : call.type, range: call["in"]?.tokens,
            lines: reader.group.tokens[call.start].line...last.line, part: part)
    }

    /// The text of an argument that is a string and nothing else.
    private func text(_ tokens: Range<Int>, _ reader: SwiftReader) -> String? {
        guard tokens.count == 1, case .string(let shape) = reader.group.tokens[tokens.lowerBound].kind else {
            return nil
        }
        return SwiftString.text(source.bytes[reader.group.tokens[tokens.lowerBound].range], shape)
    }

    private func isSame(_ text: String?, _ part: String) -> Bool { text == part }

    /// The name of the part whose tweak has the path, in a group with this name.
    private func part(ofGroup name: String?) -> String? {
        guard let name else { return path.name.prefix(1).lowercased() + path.name.dropFirst() }
        guard path.name.hasPrefix(name + " ") else { return nil }
        return String(path.name.dropFirst(name.count + 1))
    }

    /// The tokens after the `=` of the property that an attribute belongs to, up to the end of the file.
    private func initialValue(after end: Int, _ reader: SwiftReader) -> Range<Int>? {
        var position = end + 1
        // Other attributes and modifiers: `@MainActor private(set) static`.
        while reader.word(position) != "var" {
            guard
                reader.word(position) != nil || reader.isSymbol("@", at: position) || reader.isSymbol("(", at: position)
            else { return nil }
            position = max(position, reader.group.closings[position]) + 1
        }
        position += 2
        if reader.isSymbol(":", at: position) { position = afterType(position + 1, reader) }
        let isAssigned = reader.isSymbol("=", at: position) && !reader.isSymbol("=", at: position + 1)
        return isAssigned && position + 1 < reader.count ? (position + 1)..<reader.count : nil
    }

    private func afterType(_ start: Int, _ reader: SwiftReader) -> Int {
        var position = start
        while let token = reader.token(position), !reader.isSymbol("=", at: position) {
            // A property without an initial value.
            if token.beginsLine, position > start { break }
            position = max(position, reader.group.closings[position]) + 1
        }
        return position
    }
}
