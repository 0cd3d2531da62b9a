// Finds the fenced blocks of a document that serve as tests.

import Testing

/// One fenced block of a document.
package struct DocumentedBlock: Sendable, CustomTestStringConvertible {
    package let text: String
    package let document: String
    /// The line at which it begins in the document.
    package let line: Int

    package var testDescription: String { "\(document) line \(line)" }

    /// All blocks of a document with a marker after the fence, in order.
    /// - Parameter path: From the root of the repository.
    package static func all(_ mark: String, of path: String) -> [DocumentedBlock] {
        guard let document = try? Document(path).text else { return [] }
        var blocks: [DocumentedBlock] = []
        var open: (lines: [String], line: Int)?
        for (number, line) in document.splitLines().enumerated() {
            if line.hasPrefix("```") {
                if let open {
                    blocks.append(.init(text: open.lines.joined(separator: "\n"), document: path, line: open.line))
                }
                open = open == nil && line == "```" + mark ? ([], number + 1) : nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }
}
