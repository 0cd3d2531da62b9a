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
    package var problems: [ConfigProblem] { allProblems.first }
    /// The same, with how many there are in all.
    package private(set) var allProblems: ConfigProblems

    /// As many bytes as a line of the protocol may have.
    package static let lineLimit = 65_536

    /// Parses a text.
    /// - Parameters:
    ///   - subject: What holds it, for errors: `a config file`.
    ///   - mostProblems: With so many of them the rest is not looked at.
    ///   - listedProblems: So many are listed, and the others counted.
    ///   - mostAssignments: With more of them it is wrong as a whole, and the rest is not looked at.
    ///   - isCancelled: Asked now and then; once it is, the rest is not looked at.
    package init(
        _ bytes: [UInt8], in subject: String, mostProblems: Int = .max, listedProblems: Int = .max,
        mostAssignments: Int = .max, isCancelled: () -> Bool = { false }
    ) {
        allProblems = ConfigProblems(limit: listedProblems)
        bytes.withUnsafeBufferPointer { bytes in
            // What some editors put in front of UTF-8.
            var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            var number = 1
            while start < bytes.count, allProblems.count < mostProblems {
                if number % 256 == 0, isCancelled() { return }
                if assignments.count > mostAssignments {
                    let text = "\(subject) has at most \(mostAssignments) assignments; leave out what is the default"
                    return allProblems.append(ConfigProblem(line: number - 1, error: TweakError(.tooMany, text)))
                }
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
            allProblems.append(ConfigProblem(line: number, error: error))
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
        // Whether the value is a secret is not known here.
        case .nearly(let correction): throw correction.error(showsValue: false)
        case .failure(let error, _): throw error
        case .request: throw TweakError(.usage, "\(subject) holds assignments alone: PATH = VALUE")
        }
    }
}
