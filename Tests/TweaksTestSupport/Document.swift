// Reads documents and sources of this package, and compares what guides show with the code of tests.

import Foundation

/// A text file of this package.
package struct Document {
    package let text: String

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL

    /// - Parameter path: From the root of the repository.
    package init(_ path: String) throws {
        text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The files below a directory with a suffix.
    package static func files(_ directory: String, _ suffix: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: root.appendingPathComponent(directory).path)
        return (all?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(suffix) }.map { "\(directory)/\($0)" }
    }

    /// The cells of all tables below a heading, and before the next one of its level, without the heads of the tables.
    package func rows(below heading: String) -> [[String]] {
        let mark = heading.prefix { $0 == "#" } + " "
        let lines = text.splitLines().drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix(mark) }
        let tables = lines.split { !$0.hasPrefix("| ") }
        return tables.flatMap { $0.dropFirst(2) }.map { line in
            line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        }
    }

    /// Whether it has the lines of a block in their order; blank lines, indentation and imports do not count.
    package func shows(_ block: DocumentedBlock) -> Bool {
        Self.plain(text).contains(Self.plain(block.text))
    }

    private static func plain(_ code: String) -> String {
        let lines = code.splitLines().map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.filter { !$0.isEmpty && !$0.hasPrefix("import ") }.joined(separator: "\n")
    }
}
