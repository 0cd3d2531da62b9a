// A token in two halves: a browser keeps one as a cookie, and its page the other.

import TweaksWire

/// The halves of a token, each of which alone is as good as random: one is a one-time pad for the other.
///
/// A browser shows a cookie to every port of its host (RFC 6265, section 8.5). With the whole token in it, any user of
/// this machine who gets somebody to look at a page of theirs would have it. What a page stores is for its own port alone.
package struct SplitToken: Equatable, Sendable {
    /// Scripts cannot read it.
    package let cookie: String
    /// What the page sends along, as the header `Tweaks-Key`.
    package let key: String

    /// Nil for what is no token.
    package init?(_ token: String) {
        var generator = SystemRandomNumberGenerator()
        self.init(token, using: &generator)
    }

    /// With another's random bits.
    package init?(_ token: String, using generator: inout some RandomNumberGenerator) {
        guard TokenSecret.isWellFormed(token) else { return nil }
        let key = TokenSecret.make(using: &generator).dropFirst(TokenSecret.prefix.count)
        guard let cookie = Self.combined(token.dropFirst(TokenSecret.prefix.count), key) else { return nil }
        (self.cookie, self.key) = (cookie, String(key))
    }

    /// The token that two halves make; nil where one of them is none.
    package static func token(cookie: some StringProtocol, key: some StringProtocol) -> String? {
        combined(cookie, key).map { TokenSecret.prefix + $0 }
    }

    /// Letter by letter, each of which is six bits; to combine is also to take apart.
    private static func combined(_ left: some StringProtocol, _ right: some StringProtocol) -> String? {
        guard left.utf8.count == TokenSecret.count, right.utf8.count == TokenSecret.count else { return nil }
        let letters = TokenSecret.alphabet
        var result: [UInt8] = []
        for (one, other) in zip(left.utf8, right.utf8) {
            guard let one = letters.firstIndex(of: one), let other = letters.firstIndex(of: other) else { return nil }
            result.append(letters[one ^ other])
        }
        return String(decoding: result, as: UTF8.self)
    }
}
