// What must not be shown or written down: tokens, wherever they turn up.

import Tweaks
import TweaksWire

/// Keeps tokens out of sight.
enum Secrets {
    /// Whether a line that is typed shows a token, or may be about to.
    static func isAuthentication(_ line: String) -> Bool {
        let word = line.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" && $0 != "\"" && $0 != "'" }
        return word.lowercased() == "auth"
    }

    /// Whether a line had better not be kept: it shows a token, or holds what looks like one.
    static func areIn(_ line: String) -> Bool {
        isAuthentication(line) || line.firstRange(of: TokenSecret.prefix) != nil
    }

    /// The token of a line that shows one.
    static func token(of line: String) -> String? {
        guard isAuthentication(line) else { return nil }
        return CommandText.tokens(line).dropFirst().first?.text
    }

    /// Text without what looks like a token, and without one that is known.
    static func masked(_ text: String, _ secret: String? = nil) -> String {
        // In one go: the mask may hold what it stands for.
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
            // A few letters are somebody's word for it; more are, or were, a token.
            result += word.count >= 16 ? mask : TokenSecret.prefix + word
            rest = rest[word.endIndex...]
        }
        return result + rest
    }
}

extension Answer {
    /// The same without a token, which no honest server repeats.
    func masked(_ secret: String) -> Answer {
        Answer(
            body: body.map { Secrets.masked($0, secret) }, status: Secrets.masked(status, secret), isRefusal: isRefusal)
    }
}
