// A text of assignments, one a line, by the grammar of the protocol, with everything that is wrong in it.

package import Tweaks

/// A config file, or what somebody imports, parsed. What its values are worth is for the registry to say.
package struct AssignmentLines: Sendable {
    /// `PATH = VALUE`.
    package struct Assignment: Sendable, Equatable {
        package let path: String
        /// One token without its quotes.
        package let text: String
        package let line: Int
    }

    package private(set) var assignments: [Assignment] = []
    /// The lines that are no assignments.
    package private(set) var problems: [ConfigProblem] = []

    /// As many bytes as a line of the protocol may have.
    package static let lineLimit = 65_536

    /// Parses a text.
    /// - Parameters:
    ///   - subject: What holds it, for errors: `a config file`.
    ///   - mostProblems: With so many of them the rest is not looked at.
    package init(_ bytes: [UInt8], in subject: String, mostProblems: Int = .max) {
        bytes.withUnsafeBufferPointer { bytes in
            // What some editors put in front of UTF-8.
            var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            var number = 1
            while start < bytes.count, problems.count < mostProblems {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
                add(UnsafeBufferPointer(rebasing: bytes[start..<(hasReturn ? end - 1 : end)]), number, subject)
                start = end + 1
                number += 1
            }
        }
    }

    private mutating func add(_ line: UnsafeBufferPointer<UInt8>, _ number: Int, _ subject: String) {
        do throws(TweakError) {
            guard let (path, text) = try Self.assignment(line, subject) else { return }
            assignments.append(Assignment(path: path, text: text, line: number))
        } catch {
            problems.append(ConfigProblem(line: number, error: error))
        }
    }

    /// Path and value; nil for a blank line, a comment, and a line of saved output that begins with `ok`.
    private static func assignment(
        _ line: UnsafeBufferPointer<UInt8>, _ subject: String
    ) throws(TweakError) -> (path: String, text: String)? {
        if line.count > lineLimit {
            throw TweakError(.tooLong, "the line has \(line.count) bytes; a line holds at most \(lineLimit)")
        }
        let tokens = try? Tokenizer.tokens(line)
        if let tokens, tokens.count == 3, !tokens[1].isQuoted, tokens[1].text == "=",
            tokens[0].isQuoted || tokens[0].text != "ok"
        {
            return (tokens[0].text, tokens[2].text)
        }
        switch ParsedLine(line) {
        case .blank, .ignored: return nil
        case .failure(let error, _): throw error
        case .request: throw TweakError(.usage, "\(subject) holds assignments alone: PATH = VALUE")
        }
    }
}
