// The text of a config file as assignments, by the grammar of the protocol, with everything that is wrong in it.

package import Tweaks
import TweaksWire

/// A config file, parsed. What its values are worth is for the registry to say.
package struct ConfigFile: Sendable {
    package private(set) var entries: [ConfigEntry] = []
    /// The lines that are no assignments.
    package private(set) var problems: [ConfigProblem] = []

    /// As many bytes as a line of the protocol may have.
    private static let lineLimit = 65_536

    /// Parses the bytes of a file.
    /// - Parameter name: What the file is called, for `explain`.
    package init(_ bytes: [UInt8], name: String) {
        bytes.withUnsafeBufferPointer { bytes in
            // What some editors put in front of UTF-8.
            var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            var number = 1
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
                add(UnsafeBufferPointer(rebasing: bytes[start..<(hasReturn ? end - 1 : end)]), number, name)
                start = end + 1
                number += 1
            }
        }
    }

    private mutating func add(_ line: UnsafeBufferPointer<UInt8>, _ number: Int, _ name: String) {
        do throws(TweakError) {
            guard let (path, text) = try Self.assignment(line) else { return }
            let origin = TweakOrigin("\(name):\(number)")
            entries.append(ConfigEntry(path: path, text: text, line: number, origin: origin))
        } catch {
            problems.append(ConfigProblem(line: number, error: error))
        }
    }

    /// Path and value; nil for a blank line, a comment, and a line of saved output that begins with `ok`.
    private static func assignment(
        _ line: UnsafeBufferPointer<UInt8>
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
        case .request: throw TweakError(.usage, "a config file holds assignments alone: PATH = VALUE")
        }
    }
}
