// Parses one line of a token file into an entry, and formats an entry as a line.

import Tweaks

extension TokenText {
    /// Parses one line.
    static func content(_ line: UnsafeBufferPointer<UInt8>) -> Content {
        if line.count > lineLimit {
            let reason = "the line has \(line.count) bytes; a line holds at most \(lineLimit)"
            return .problem(TweakError(.tooLong, reason), name: nil)
        }
        let tokens: [Token]
        do throws(TokenizingError) {
            tokens = try Tokenizer.tokens(line)
        } catch {
            return .problem(text(of: error), name: nil)
        }
        guard let first = tokens.first else { return .nothing }
        let name = PresetName.isName(first.text) ? first.text : nil
        do throws(TweakError) {
            if try isDirective(tokens) { return .plainAuthOff }
            return .entry(try entry(tokens))
        } catch {
            return .problem(error, name: name)
        }
    }

    private static func text(of error: TokenizingError) -> TweakError {
        switch error {
        case .badLine: ParsedLine.badLine
        case .badQuoting:
            TweakError(.badQuoting, "quotes must surround a whole word, as in \"write:Content/Font Name\"")
        }
    }

    /// - Throws: An error with the name and the cause; it repeats no text that could be a token.
    private static func entry(_ tokens: [Token]) throws(TweakError) -> TokenEntry {
        let name = tokens[0].text
        guard PresetName.isName(name) else {
            throw TweakError(
                .badValue,
                "the first word is not a valid token name; use 1–64 of A–Z a–z 0–9 . _ - and no . at the beginning")
        }
        guard tokens.count > 1, let verifier = verifier(tokens[1].text) else {
            throw TweakError(
                .badValue,
                "\(name): after the name comes a verifier, \(Scram.mechanism):ID:KEY:KEY; tweakctl token new writes "
                    + "such a line")
        }
        var rest = tokens[2...]
        let scopes = try scopes(&rest, name)
        let (expires, rate) = try options(&rest, name)
        return TokenEntry(name: name, verifier: verifier, scopes: scopes, expires: expires, commitsPerSecond: rate)
    }

    /// Whether the line is `plain-auth off`; a token of that name has a verifier as its second word.
    private static func isDirective(_ tokens: [Token]) throws(TweakError) -> Bool {
        guard tokens[0].isBare(plainAuth), tokens.count < 2 || verifier(tokens[1].text) == nil else { return false }
        if tokens.count == 2, tokens[1].isBare("off") { return true }
        throw TweakError(.usage, "\(plainAuth): write \(plainAuth) off, or delete the line to allow it")
    }

    private static let plainAuth = "plain-auth"

    private static func verifier(_ text: String) -> TokenEntry.Verifier? {
        ScramVerifier(text: text).map(TokenEntry.Verifier.scram) ?? digest(text).map(TokenEntry.Verifier.sha256)
    }

    private static func digest(_ text: String) -> [UInt8]? {
        let digits = text.utf8.dropFirst(digestPrefix.utf8.count).compactMap(nibble)
        guard text.utf8.starts(with: digestPrefix.utf8), digits.count == 2 * SHA256.count,
            text.utf8.count == digestPrefix.utf8.count + digits.count
        else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static let digestPrefix = "sha256:"

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    // MARK: Scopes and options

    private static func scopes(_ rest: inout ArraySlice<Token>, _ name: String) throws(TweakError) -> [TweakScope] {
        var scopes: [TweakScope] = []
        while let token = rest.first, !isOption(token) {
            rest.removeFirst()
            do throws(TweakError) {
                scopes.append(try TweakScope(token.text))
            } catch {
                throw TweakError(error.code, "\(name): \(error.message)")
            }
        }
        if scopes.isEmpty {
            throw TweakError(.usage, "\(name): it has no scope; write read, write, run or admin after the verifier")
        }
        return scopes
    }

    private static func isOption(_ token: Token) -> Bool { token.isBare("expires") || token.isBare("rate") }

    private static func options(
        _ rest: inout ArraySlice<Token>, _ name: String
    ) throws(TweakError) -> (expires: Int64?, rate: Int?) {
        var (expires, rate) = (Int64?.none, Int?.none)
        while let option = rest.popFirst() {
            let value = rest.popFirst()
            switch option.text {
            case "expires" where isOption(option) && expires == nil:
                guard let time = value.flatMap({ TimeText.parse($0.text) }) else {
                    throw TweakError(.badValue, "\(name): expires takes a time, such as 2026-12-21T00:00:00Z")
                }
                expires = time
            case "rate" where isOption(option) && rate == nil:
                guard let number = value.flatMap({ Int($0.text) }), rates.contains(number) else {
                    throw TweakError(
                        .badValue,
                        "\(name): rate takes a number of commits a second, \(rates.lowerBound) to \(rates.upperBound)")
                }
                rate = number
            default:
                throw TweakError(
                    .usage, "\(name): only expires TIME and rate N can follow the scopes, each at most once")
            }
        }
        return (expires, rate)
    }

    /// The valid rates of commits of a token.
    package static let rates = 1...1_000_000

    // MARK: Writing

    /// The line that turns plain `auth` off, without its end.
    package static let plainAuthOff = "\(plainAuth) off"

    /// The line of a token, without its end.
    package static func line(_ entry: TokenEntry) -> String {
        var words = [entry.name, entry.scram?.text ?? digestPrefix + hexadecimal(entry.digest)]
        words += entry.scopes.map(\.token)
        if let expires = entry.expires { words += ["expires", TimeText.print(expires).replacingZeroFraction] }
        if let rate = entry.commitsPerSecond { words += ["rate", String(rate)] }
        return words.joined(separator: " ")
    }

    /// Formats a digest, or the beginning of one.
    package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The comment at the end of a line, with its `#`; empty where there is none.
    package static func comment(_ line: [UInt8]) -> [UInt8] {
        line.withUnsafeBufferPointer { bytes in
            guard let whole = try? Tokenizer.tokens(bytes) else { return [] }
            // The first # that adds no token: others may be in quotes.
            for position in bytes.indices where bytes[position] == UInt8(ascii: "#") {
                let before = UnsafeBufferPointer(rebasing: bytes[..<position])
                if (try? Tokenizer.tokens(before)) == whole { return Array(bytes[position...]) }
            }
            return []
        }
    }
}

extension String {
    /// The time without a fraction of zero.
    fileprivate var replacingZeroFraction: String { hasSuffix(".000Z") ? dropLast(5) + "Z" : self }
}
