// The lines of a token file, in the words of the protocol: NAME VERIFIER SCOPE… [expires TIME] [rate N]; plain-auth off.

package import Tweaks

/// A token file, line by line, as it stands there.
///
/// A line that is wrong gives nothing, and the others count all the same: deleting a line shall take a token away
/// whatever is wrong elsewhere. What could be meant in two ways gives nothing either.
package struct TokenText: Sendable {
    /// A line of the file.
    package struct Line: Sendable, Equatable {
        /// As it stands there, without its end.
        package let bytes: [UInt8]
        package let content: Content
    }

    /// What a line says.
    package enum Content: Sendable, Equatable {
        /// Nothing, or a comment.
        case nothing
        case entry(TokenEntry)
        /// Tokens are not to be shown in plain.
        case plainAuthOff
        /// It is wrong. The name is the one it would have given something to.
        case problem(TweakError, name: String?)
    }

    /// Something that is wrong; without a line where it is the file as a whole.
    package struct Problem: Sendable, Equatable, CustomStringConvertible {
        package let line: Int?
        package let error: TweakError

        /// `12: code text`.
        package var description: String { (line.map { "\($0): " } ?? "") + error.description }
    }

    /// A longer line says nothing, as in the protocol.
    package static let lineLimit = 65_536
    /// More tokens make the whole file void.
    package static let countLimit = 10_000
    /// So does a larger file.
    package static let sizeLimit = 2_097_152

    package private(set) var lines: [Line] = []
    /// Why nothing of it counts.
    private var failure: TweakError?

    /// Takes the bytes of a file.
    package init(_ bytes: [UInt8]) {
        if bytes.count > Self.sizeLimit {
            failure = TweakError(.tooLong, "it has \(bytes.count) bytes; a token file holds at most \(Self.sizeLimit)")
            return
        }
        bytes.withUnsafeBufferPointer { split($0) }
        voidWhatIsAmbiguous()
        if table.entries.count > Self.countLimit {
            failure = TweakError(
                .tooMany, "it has \(table.entries.count) tokens; at most \(Self.countLimit) are taken")
        }
    }

    private mutating func split(_ bytes: UnsafeBufferPointer<UInt8>) {
        // What some editors put in front of UTF-8.
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            var stop = end ?? bytes.count
            if stop > start, bytes[stop - 1] == UInt8(ascii: "\r") { stop -= 1 }
            let line = UnsafeBufferPointer(rebasing: bytes[start..<stop])
            let content = Self.content(line)
            lines.append(Line(bytes: Array(line), content: end == nil ? content.unended : content))
            start = (end ?? bytes.count) + 1
        }
    }

    // MARK: What counts

    /// The tokens that count.
    package var table: TokenTable {
        if failure != nil { return TokenTable() }
        return TokenTable(
            lines.compactMap { if case .entry(let entry) = $0.content { entry } else { nil } },
            refusesPlain: lines.contains { $0.content == .plainAuthOff })
    }

    /// The tokens that only plain `auth` can show, as older lines have them.
    package var plainOnly: [TokenEntry] { table.entries.filter { $0.scram == nil } }

    /// Everything that is wrong, in order.
    package var problems: [Problem] {
        let wrong = lines.enumerated().compactMap { position, line -> Problem? in
            guard case .problem(let error, _) = line.content else { return nil }
            return Problem(line: position + 1, error: error)
        }
        return (failure.map { [Problem(line: nil, error: $0)] } ?? []) + wrong
    }

    /// A name that stands there twice, right or wrong, and a token that does: nobody can say which line was meant.
    private mutating func voidWhatIsAmbiguous() {
        var names: [String: [Int]] = [:]
        var digests: [[UInt8]: [Int]] = [:]
        for (position, line) in lines.enumerated() {
            if let name = line.content.name { names[name, default: []].append(position) }
            if case .entry(let entry) = line.content { digests[entry.digest, default: []].append(position) }
        }
        for (name, positions) in names where positions.count > 1 {
            void(positions, "\(name): the name stands in \(Self.text(positions)); none of them counts, leave one")
        }
        for positions in digests.values where positions.count > 1 {
            void(positions, "the same token stands in \(Self.text(positions)); none of them counts, leave one")
        }
    }

    private mutating func void(_ positions: [Int], _ reason: String) {
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
    /// Whom it is about.
    package var name: String? {
        switch self {
        case .nothing, .plainAuthOff: nil
        case .entry(let entry): entry.name
        case .problem(_, let name): name
        }
    }

    /// The same of a line without an end. It may be the beginning of one, which could give more than the whole:
    /// for ever, say, because `expires` is not written yet.
    fileprivate var unended: TokenText.Content {
        guard case .entry(let entry) = self else { return self }
        let reason = "\(entry.name): the last line does not end with a line break, as if it were still being written"
        return .problem(TweakError(.badLine, reason), name: entry.name)
    }
}
