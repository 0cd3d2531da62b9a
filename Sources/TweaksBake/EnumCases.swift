// Reads the enumerations that a file declares: their cases with their raw values.

import Tweaks

/// The cases of one enumeration.
struct EnumCases {
    let type: String
    private let cases: [(name: String, rawValue: String)]

    /// The enumerations that a file declares.
    static func all(in source: SwiftSource) -> [EnumCases] {
        let reader = SwiftReader(source, 0)
        return (0..<reader.count).compactMap { EnumCases(at: $0, reader) }
    }

    private init?(at position: Int, _ reader: SwiftReader) {
        guard reader.word(position) == "enum", let type = reader.word(position + 1) else { return nil }
        var open = position + 2
        while let token = reader.token(open), !reader.isSymbol("{", at: open) {
            if token.kind == .directive || open > position + 100 { return nil }
            open += 1
        }
        guard reader.isSymbol("{", at: open), reader.group.closings[open] > open else { return nil }
        self.type = type
        cases = Self.cases(open, reader)
    }

    /// What follows each `case` in the body; the code in members is in brackets of its own.
    private static func cases(_ open: Int, _ reader: SwiftReader) -> [(name: String, rawValue: String)] {
        var result: [(name: String, rawValue: String)] = []
        var position = open + 1
        while position < reader.group.closings[open] {
            if reader.word(position) == "case" {
                repeat {
                    guard let name = reader.word(position + 1) else {
                        position += 1
                        break
                    }
                    position += 2
                    var rawValue = name
                    if reader.isSymbol("=", at: position) {
                        if let text = text(position + 1, reader) { rawValue = text }
                        position += 2
                    }
                    result.append((name, rawValue))
                } while reader.isSymbol(",", at: position)
            } else {
                position = max(position, reader.group.closings[position]) + 1
            }
        }
        return result
    }

    private static func text(_ position: Int, _ reader: SwiftReader) -> String? {
        guard let token = reader.token(position), case .string(let shape) = token.kind else { return nil }
        return SwiftString.text(reader.source.bytes[token.range], shape)
    }

    /// The case whose raw value, or name, is a choice's.
    func name(of choice: String) -> String? { cases.first { $0.rawValue == choice }?.name }

    /// The raw value of a case.
    func rawValue(of name: String) -> String? { cases.first { $0.name == name }?.rawValue }

    func has(_ name: String) -> Bool { cases.contains { $0.name == name } }
}

extension SwiftSource {
    /// The only enumeration of the file that has this case, with or without the name of its type; nil if there is none.
    func enumeration(_ type: [String], with name: String) -> EnumCases? {
        let found = enumerations.filter { (type.isEmpty || type.last == $0.type) && $0.has(name) }
        return found.count == 1 ? found[0] : nil
    }
}
