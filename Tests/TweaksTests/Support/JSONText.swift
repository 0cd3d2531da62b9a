// Reads printed texts with Foundation's JSON parser.

import Foundation

/// The content of a printed value; an independent parser removes the quotes.
func unquoted(_ text: String) throws -> String {
    // In bytes: as a Character, a quote with a combining mark after it is not a quote.
    guard text.utf8.first == UInt8(ascii: "\"") else { return text }
    return try JSONDecoder().decode(String.self, from: Data(text.utf8))
}
