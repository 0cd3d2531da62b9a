// The other side of the quotes, read by somebody else's parser.

import Foundation

/// What a printed value says: Foundation takes the quotes off, so that the printer is not judged by its own author.
func unquoted(_ text: String) throws -> String {
    // By bytes: to Swift a quote with a combining mark behind it is another character.
    guard text.utf8.first == UInt8(ascii: "\"") else { return text }
    return try JSONDecoder().decode(String.self, from: Data(text.utf8))
}
