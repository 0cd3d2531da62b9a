// Detects and masks tokens in lines and messages.

import Tweaks
import TweaksWire

/// Recognizes tokens.
enum Secrets {
    /// Whether a line that is being typed is an `auth` command.
    static func isAuthentication(_ line: String) -> Bool {
        let word = line.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" && $0 != "\"" && $0 != "'" }
        return word.lowercased() == "auth"
    }

    /// Whether a line must not be stored: it is an `auth` command, or has what looks like a token.
    static func containsToken(_ line: String) -> Bool {
        isAuthentication(line) || line.firstRange(of: TokenSecret.prefix) != nil
    }

    /// The token of an `auth` line.
    static func token(of line: String) -> String? {
        guard isAuthentication(line) else { return nil }
        return CommandText.tokens(line).dropFirst().first?.text
    }

    /// Masks everything that looks like a token, and a known secret.
    static func masked(_ text: String, _ secret: String? = nil) -> String {
        // All at once, because the secret may occur in the mask itself.
        let text = secret.map { $0.isEmpty ? text : text.replacing($0, with: mask) } ?? text
        guard text.firstRange(of: TokenSecret.prefix) != nil else { return text }
        return maskedByForm(text)
    }

    private static let mask = "(token)"

    private static func maskedByForm(_ text: String) -> String {
        var (result, rest) = ("", text[...])
        while let found = rest.firstRange(of: TokenSecret.prefix) {
            let tail = rest[found.upperBound...]
            let word = tail.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            result += rest[..<found.lowerBound]
            // A short word is an example; a long one is, or was, a token.
            result += word.count >= 16 ? mask : TokenSecret.prefix + word
            rest = rest[word.endIndex...]
        }
        return result + rest
    }
}

extension Answer {
    /// A copy with a token masked, which only a hostile server repeats.
    func masked(_ secret: String) -> Answer {
        Answer(
            body: body.map { Secrets.masked($0, secret) }, status: Secrets.masked(status, secret), isRefusal: isRefusal)
    }
}
