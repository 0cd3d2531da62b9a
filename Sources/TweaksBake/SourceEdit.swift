// Replaces parts of a file, and leaves all other bytes as they are.

/// A part of a file and the text that takes its place.
struct SourceEdit: Equatable {
    let range: Range<Int>
    let text: String

    /// The same with a sign in parentheses where it would join an operator: `x=5` becomes `x=(-5)`, because `=` has blanks
    /// on both sides or on none.
    func separated(in bytes: [UInt8]) -> SourceEdit {
        guard text.hasPrefix("-"), range.lowerBound > 0, "=<>!&|^~+-*/%?".utf8.contains(bytes[range.lowerBound - 1])
        else { return self }
        return SourceEdit(range: range, text: "(\(text))")
    }

    /// Replaces several parts; nil if two of them overlap.
    static func apply(_ edits: [SourceEdit], to bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var position = 0
        for edit in sorted(edits) {
            if edit.range.lowerBound < position { return nil }
            result += bytes[position..<edit.range.lowerBound]
            result += edit.text.utf8
            position = edit.range.upperBound
        }
        return result + bytes[position...]
    }

    static func sorted(_ edits: [SourceEdit]) -> [SourceEdit] {
        edits.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
    }
}

/// Why a default is not rewritten: a predicate of the tweak, and the remedy.
package struct BakeRefusal: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let rebuild = "the source differs from the build, so build the program, start it again and repeat this"
}
