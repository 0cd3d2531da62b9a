// Parses a token file; its lines are NAME VERIFIER SCOPE… [expires TIME] [rate N], or plain-auth off.

package import Tweaks

/// A parsed token file, with all its lines.
///
/// An invalid line defines no token, and the others still apply: deleting a line must revoke a token, even where other
/// lines are invalid. An ambiguous line defines no token either. While there is an invalid line, plain sign-in is off: the
/// line may be the one that turns it off.
package struct TokenText: Sendable {
    /// A line of the file.
    package struct Line: Sendable, Equatable {
        /// The original bytes, without the line end.
        package let bytes: [UInt8]
        package let content: Content
    }

    /// The parsed content of a line.
    package enum Content: Sendable, Equatable {
        /// Blank, or a comment.
        case nothing
        case entry(TokenEntry)
        /// Tokens sent in plain are refused.
        case plainAuthOff
        /// Invalid; `name` is the token's, where it could be parsed.
        case problem(TweakError, name: String?)
    }

    /// An error of one line, or of the whole file where `line` is nil.
    package struct Problem: Sendable, Equatable, CustomStringConvertible {
        package let line: Int?
        package let error: TweakError

        /// `12: code text`.
        package var description: String { (line.map { "\($0): " } ?? "") + error.description }
    }

    /// The maximum bytes of a line, as in the protocol.
    package static let lineLimit = 65_536
    /// A file with more tokens is invalid as a whole.
    package static let countLimit = 10_000
    /// A larger file is invalid as a whole, in bytes.
    package static let sizeLimit = 2_097_152

    package private(set) var lines: [Line] = []
    /// The reason why the whole file is invalid.
    private var failure: TweakError?

    /// Parses the bytes of a file.
    package init(_ bytes: [UInt8]) {
        if bytes.count > Self.sizeLimit {
            failure = TweakError(.tooLong, "it has \(bytes.count) bytes; a token file holds at most \(Self.sizeLimit)")
            return
        }
        if let objection = TextEncoding.objection(to: bytes) {
            failure = TweakError(.badLine, objection)
            return
        }
        TextEncoding.forEachLine(of: bytes) { line, _, isEnded in
            let content = Self.content(line)
            lines.append(Line(bytes: Array(line), content: isEnded ? content : content.unterminated))
            return true
        }
        invalidateAmbiguousEntries()
        if table.entries.count > Self.countLimit {
            failure = TweakError(
                .tooMany, "it has \(table.entries.count) tokens; at most \(Self.countLimit) are taken")
        }
    }

    // MARK: Results

    /// The valid tokens.
    package var table: TokenTable {
        if failure != nil { return TokenTable(refusesPlain: true) }
        return TokenTable(
            lines.compactMap { if case .entry(let entry) = $0.content { entry } else { nil } },
            refusesPlain: hasDirective || !problems.isEmpty)
    }

    private var hasDirective: Bool { lines.contains { $0.content == .plainAuthOff } }

    /// Whether plain sign-in is off only because a line, or the file, is not understood.
    package var refusesPlainByMistake: Bool { !hasDirective && !problems.isEmpty }

    /// What follows from that, for logs and terminals.
    package static let plainOffByMistake =
        "plain sign-in (auth TOKEN, Authorization: Bearer) is off until every line is understood: correct or delete the "
        + "ignored lines"

    /// The tokens of older lines, which only plain `auth` can send.
    package var plainOnly: [TokenEntry] { table.entries.filter { $0.scram == nil } }

    /// All errors, in the order of lines.
    package var problems: [Problem] {
        let wrong = lines.enumerated().compactMap { position, line -> Problem? in
            guard case .problem(let error, _) = line.content else { return nil }
            return Problem(line: position + 1, error: error)
        }
        return (failure.map { [Problem(line: nil, error: $0)] } ?? []) + wrong
    }

    /// Invalidates all lines of a name or a token that occurs twice: the intended one is unknown.
    private mutating func invalidateAmbiguousEntries() {
        var names: [String: [Int]] = [:]
        var digests: [[UInt8]: [Int]] = [:]
        for (position, line) in lines.enumerated() {
            if let name = line.content.name { names[name, default: []].append(position) }
            if case .entry(let entry) = line.content { digests[entry.digest, default: []].append(position) }
        }
        for (name, positions) in names where positions.count > 1 {
            invalidate(positions, "\(name): the name is in \(Self.text(positions)); all are ignored, keep one")
        }
        for positions in digests.values where positions.count > 1 {
            invalidate(positions, "the same token is in \(Self.text(positions)); all are ignored, keep one")
        }
    }

    private mutating func invalidate(_ positions: [Int], _ reason: String) {
        for position in positions {
            guard case .entry(let entry) = lines[position].content else { continue }
            lines[position] = Line(
                bytes: lines[position].bytes, content: .problem(TweakError(.ambiguous, reason), name: entry.name))
        }
    }

    private static func text(_ positions: [Int]) -> String {
        let numbers = positions.prefix(5).map { String($0 + 1) }.joined(separator: ", ")
        return "lines \(numbers)" + (positions.count > 5 ? " and \(positions.count - 5) more" : "")
    }
}

extension TokenText.Content {
    /// The name of the token.
    package var name: String? {
        switch self {
        case .nothing, .plainAuthOff: nil
        case .entry(let entry): entry.name
        case .problem(_, let name): name
        }
    }

    /// The content of a line without an end: invalid, since a partial line could grant more than the whole one, for
    /// example without its `expires`.
    fileprivate var unterminated: TokenText.Content {
        guard case .entry(let entry) = self else { return self }
        let reason = "\(entry.name): the last line does not end with a line break, as if it were still being written"
        return .problem(TweakError(.badLine, reason), name: entry.name)
    }
}

// MARK: - Lines

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
        var expires: Int64?
        var rate: Int?
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
        String(decoding: AuditChain.hexadecimal(bytes), as: UTF8.self)
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
