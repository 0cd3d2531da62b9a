// Edits a token file line by line: adds, replaces or removes one token and leaves all other lines unchanged.

import Tweaks
import TweaksSystem
import TweaksWire

/// The lines of a token file that is being changed.
struct TokenLines {
    private let path: String
    private let text: TokenText
    /// The current content, with all changes applied.
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8], _ path: String) {
        (self.bytes, self.path, text) = (bytes, path, TokenText(bytes))
    }

    /// The content with a token appended.
    func adding(_ entry: TokenEntry) throws(Failure) -> [UInt8] {
        if let position = text.lines.firstIndex(where: { $0.content.name == entry.name }) {
            throw failure(
                "\(entry.name) exists already, in line \(position + 1); choose another name, or tweakctl token revoke "
                    + entry.name)
        }
        // The last line may be incomplete: ending it would put it into effect.
        if bytes.last != UInt8(ascii: "\n"), let last = text.lines.last, last.content != .nothing {
            throw failure("its last line does not end with a line break; add one, or delete the line")
        }
        let ending = bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? "" : "\n"
        let new = bytes + Array((ending + TokenText.line(entry) + "\n").utf8)
        // The process must accept the line, or there is no token.
        guard TokenText(new).table[entry.name] == entry else {
            throw failure("the file is full; it can have at most \(TokenText.countLimit) tokens")
        }
        return new
    }

    /// Revokes a token, or some of its scopes.
    /// - Returns: The remaining scopes; empty if the token is removed.
    mutating func revoke(_ name: String, _ scopes: [TweakScope]) throws(Failure) -> [TweakScope] {
        let lines = text.lines.filter { $0.content.name == name }
        guard !lines.isEmpty else { throw absent(name) }
        var left: [TweakScope] = []
        var newLine: [UInt8]?
        if !scopes.isEmpty {
            guard case .entry(let entry) = lines[0].content else {
                throw failure("\(name): its line is invalid and has no effect; revoke the token without naming scopes")
            }
            left = try Self.left(of: entry, without: scopes, failure)
            newLine = left.isEmpty ? nil : entry.with(left).line(TokenText.comment(lines[0].bytes))
        }
        rewrite(name, newLine)
        return left
    }

    /// Replaces the secret of a token. Its name, scopes and comment stay.
    /// - Parameter expires: The new expiry; nil keeps the old one.
    mutating func renew(_ name: String, _ secret: String, _ expires: Int64?) throws(Failure) -> TokenEntry {
        guard let line = text.lines.first(where: { $0.content.name == name }) else { throw absent(name) }
        guard case .entry(let old) = line.content else {
            throw failure("\(name): its line is invalid and has no effect; revoke it, and make a new token")
        }
        let entry = TokenEntry(
            name: name, token: secret, scopes: old.scopes, expires: expires ?? old.expires,
            commitsPerSecond: old.commitsPerSecond)
        if !entry.isLive(Expiry.now) { throw failure("\(name) has expired; add --expires, as in --expires 30d") }
        rewrite(name, entry.line(TokenText.comment(line.bytes)))
        return entry
    }

    private func absent(_ name: String) -> Failure {
        let near = Spelling.nearest(to: name, among: text.lines.compactMap(\.content.name))
        return failure("there is no token \(name)" + (near.map { "; did you mean \($0)?" } ?? ""))
    }

    private static func left(
        of entry: TokenEntry, without scopes: [TweakScope], _ failure: (String) -> Failure
    ) throws(Failure) -> [TweakScope] {
        for scope in scopes where !entry.scopes.contains(scope) {
            let given = entry.scopes.map(\.token).joined(separator: " ")
            throw failure("\(entry.name) does not have \(scope.token), but \(given); name one of these")
        }
        return entry.scopes.filter { !scopes.contains($0) }
    }

    /// Replaces the lines of a name by another one, or removes them.
    private mutating func rewrite(_ name: String, _ newLine: [UInt8]?) {
        var (new, start) = ([UInt8](), 0)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (new, start) = (Array(bytes[..<3]), 3) }
        for line in text.lines {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
            if line.content.name != name {
                new += bytes[start..<end]
            } else if let newLine {
                new += newLine + bytes[(start + line.bytes.count)..<end]
            }
            start = end
        }
        bytes = new
    }

    private func failure(_ reason: String) -> Failure { Failure(.refused, "\(path): \(reason)") }
}

extension TokenEntry {
    fileprivate func with(_ scopes: [TweakScope]) -> TokenEntry {
        TokenEntry(
            name: name, verifier: verifier, scopes: scopes, expires: expires, commitsPerSecond: commitsPerSecond)
    }

    /// The line with its comment.
    fileprivate func line(_ comment: [UInt8]) -> [UInt8] {
        Array(TokenText.line(self).utf8) + (comment.isEmpty ? [] : [UInt8(ascii: " ")] + comment)
    }
}

/// Times in milliseconds since 1970, by the wall clock.
enum Expiry {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Parses `30d`, `2w`, `12h`, `1h30m`, or a time such as `2026-12-21T00:00:00Z`.
    /// - Returns: Nil for anything else, for the past, and beyond the year 9999.
    static func parse(_ text: String, now: Int64) -> Int64? {
        let end = TimeText.parse(text) ?? length(text).flatMap { now.addingIfPossible($0) }
        guard let end, end > now, end <= latest else { return nil }
        // Whole seconds, as the token file has them.
        return end - end % 1_000
    }

    private static let latest: Int64 = 253_402_300_799_999

    private static func length(_ text: String) -> Int64? {
        for (unit, milliseconds) in [("d", Int64(86_400_000)), ("w", 604_800_000)] where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast()), count > 0 else { return nil }
            let (product, isTooMuch) = count.multipliedReportingOverflow(by: milliseconds)
            return isTooMuch ? nil : product
        }
        return DurationText.parse(text).map { $0 / 1_000_000 }
    }

    /// `in 3 days`, `expired 2 hours ago`: the largest unit, rounded down. Up to a minute is added, so that a new token
    /// of 30 days shows 30 days.
    static func text(_ end: Int64, now: Int64) -> String {
        let exact = (end - now).magnitude / 1_000
        let seconds = end > now && exact >= 3_540 ? exact + 60 : exact
        let units: [(String, UInt64)] = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)]
        let (name, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
        let count = seconds / length
        let words = "\(count) \(name)\(count == 1 ? "" : "s")"
        return end <= now ? "expired \(words) ago" : "in \(words)"
    }
}

extension Int64 {
    fileprivate func addingIfPossible(_ other: Int64) -> Int64? {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? nil : sum
    }
}
