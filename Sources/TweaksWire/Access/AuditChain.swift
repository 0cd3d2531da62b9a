// Links the lines of an audit by digests, so that an edited, removed or reordered line is noticed.

import Tweaks

/// The hash chain of an audit.
///
/// A line is `BODY,"chain":"LINK"}`: an object whose last member is the link, the SHA-256, in lower-case hexadecimal, of
/// the previous line's link and of BODY. The first chained line of each file also names the previous link, as the last
/// member of BODY: `"after":"LINK"`. Before the first line of all stand 64 zeros.
package enum AuditChain {
    /// The digits of a link.
    package static let digits = 64
    /// The link before the first line of all.
    package static let start = [UInt8](repeating: UInt8(ascii: "0"), count: digits)

    private static let mark = Array(",\"chain\":\"".utf8)
    private static let afterMark = Array(",\"after\":\"".utf8)
    private static let end = Array("\"}".utf8)
    /// The bytes that a link adds to a line …
    package static let linkBytes = mark.count + digits + 1
    /// … and the most, with the link before it.
    package static let overhead = mark.count + afterMark.count + 2 * digits + 2

    /// The link of a line after another one.
    package static func link(_ body: some Sequence<UInt8>, after previous: [UInt8]) -> [UInt8] {
        hexadecimal(SHA256.digest(previous + body))
    }

    /// Lower-case hexadecimal digits.
    package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Appends a line with its link.
    /// - Parameters:
    ///   - line: A JSON object, without its line feed.
    ///   - head: The link of the previous line; receives the line's own.
    ///   - isFirst: Whether no line before it in its file has a link.
    package static func append(
        _ line: ArraySlice<UInt8>, after head: inout [UInt8], isFirst: Bool, to bytes: inout [UInt8]
    ) {
        var body = line.dropLast()
        if isFirst { body += afterMark + head + [UInt8(ascii: "\"")] }
        head = link(body, after: head)
        bytes += body
        bytes += mark + head + end + [UInt8(ascii: "\n")]
    }

    /// A line with a link.
    package struct Line {
        package let body: ArraySlice<UInt8>
        package let link: [UInt8]

        /// Nil for a line without one: of an earlier version, incomplete, or of another program.
        package init?(_ line: ArraySlice<UInt8>) {
            let tail = line.suffix(AuditChain.mark.count + AuditChain.digits + AuditChain.end.count)
            guard tail.starts(with: AuditChain.mark), tail.suffix(AuditChain.end.count).elementsEqual(AuditChain.end)
            else { return nil }
            link = Array(tail.dropFirst(AuditChain.mark.count).prefix(AuditChain.digits))
            guard AuditChain.isLink(link) else { return nil }
            body = line.dropLast(tail.count)
        }

        /// The link that it names as the previous one, in the first line of a file.
        package var after: [UInt8]? {
            let tail = body.suffix(AuditChain.afterMark.count + AuditChain.digits + 1)
            guard tail.starts(with: AuditChain.afterMark), tail.last == UInt8(ascii: "\"") else { return nil }
            let link = Array(tail.dropFirst(AuditChain.afterMark.count).dropLast())
            return AuditChain.isLink(link) ? link : nil
        }

        /// Whether it is the line after one with this link.
        package func follows(_ previous: [UInt8]) -> Bool { AuditChain.link(body, after: previous) == link }
    }

    /// The last link in the last bytes of a file; nil if no line in them has one. A torn last line has none.
    package static func lastLink(_ bytes: [UInt8]) -> [UInt8]? {
        let newline = UInt8(ascii: "\n")
        var rest = bytes[...]
        while let end = rest.lastIndex(of: newline) {
            rest = rest[..<end]
            let start = rest.lastIndex(of: newline).map { $0 + 1 } ?? rest.startIndex
            if let line = Line(rest[start...]) { return line.link }
        }
        return nil
    }

    /// Whether a line in the last bytes of a file has a link.
    package static func hasLink(_ link: [UInt8], _ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { Line($0)?.link == link }
    }

    /// Whether it is a link: 64 lower-case hexadecimal digits.
    package static func isLink(_ text: some Collection<UInt8>) -> Bool {
        let numbers = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return text.count == digits && text.allSatisfy { numbers.contains($0) || letters.contains($0) }
    }
}
