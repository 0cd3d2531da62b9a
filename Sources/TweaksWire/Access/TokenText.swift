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
        bytes.withUnsafeBufferPointer { split($0) }
        invalidateAmbiguousEntries()
        if table.entries.count > Self.countLimit {
            failure = TweakError(
                .tooMany, "it has \(table.entries.count) tokens; at most \(Self.countLimit) are taken")
        }
    }

    private mutating func split(_ bytes: UnsafeBufferPointer<UInt8>) {
        var start = TextEncoding.markLength(bytes)
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            var stop = end ?? bytes.count
            if stop > start, bytes[stop - 1] == UInt8(ascii: "\r") { stop -= 1 }
            let line = UnsafeBufferPointer(rebasing: bytes[start..<stop])
            let content = Self.content(line)
            lines.append(Line(bytes: Array(line), content: end == nil ? content.unterminated : content))
            start = (end ?? bytes.count) + 1
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
