// Checks the bytes that a session received against the bytes it sent: framing, and one status for each request.

import Tweaks
import TweaksWire

/// The two directions of a connection that has ended.
struct ReplyChecker {
    let sent: [UInt8]
    let received: [UInt8]
    /// Whether another session may have kicked it: then its last line is an unrequested error.
    let mayBeKicked: Bool

    func check() throws(Finding) {
        var statuses: [Substring] = []
        // By bytes: to Swift, CR LF is one character.
        let lines = withoutTelnet.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for bytes in lines.dropLast() {
            let line = String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
            if let status = try status(in: line[...]) { statuses.append(status) }
        }
        try checkCount(statuses)
    }

    /// The received bytes without telnet commands.
    private var withoutTelnet: [UInt8] {
        var rest = received[...]
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == 255 { rest = rest.dropFirst(2) } else { bytes.append(byte) }
        }
        return bytes
    }

    // MARK: Lines

    /// The status line without a leading prompt; nil for any other valid line.
    private func status(in line: Substring) throws(Finding) -> Substring? {
        var line = line
        while let prompt = ["> ", "*> "].first(where: line.hasPrefix) { line = line.dropFirst(prompt.count) }
        try expect(!line.unicodeScalars.contains(where: Quoting.isUnsafe), "an unsafe character in \(line)")
        if line.hasPrefix("{") {
            try expect(line.hasSuffix("}"), "JSON without an end: \(line)")
            return line.hasPrefix("{\"ok\":") ? line : nil
        }
        if line == "ok" || line.hasPrefix("ok ") { return line }
        if line.hasPrefix("error ") {
            let code = line.split(separator: " ", maxSplits: 2).dropFirst().first.map { String($0) } ?? ""
            try expect(TweakError.Code(rawValue: code) != nil, "unknown error code \(code)")
            return line
        }
        // A prompt may be alone on a line, before an event or an interrupt.
        let isOther = line.isEmpty || line.hasPrefix("  ") || line.hasPrefix("event ") || line.contains(" = ")
        try expect(isOther, "an invalid line: \(line)")
        return nil
    }

    // MARK: Statuses

    /// Each request has one status, in order, unless the session ended early.
    private func checkCount(_ statuses: [Substring]) throws(Finding) {
        let framing = Framing(sent, limit: 65_536)
        var (expected, hasQuit) = (framing.isUnfinished || framing.isTooLong ? 1 : 0, false)
        for line in framing.lines {
            switch line.isPoisoned ? .failure(ParsedLine.badLine, .fatalUnlessProven) : parse(line.bytes) {
            case .blank, .ignored: break
            case .failure, .correctable: expected += 1
            case .request(let request):
                expected += 1
                hasQuit = hasQuit || request.command == .quit
            }
        }
        let last = statuses.last ?? ""
        let isError = last.hasPrefix("error ") || last.hasPrefix("{\"ok\":false")
        // A line that can never be a request ends an unproven session, even if it is interrupted afterwards.
        let wasHopeless = isError && sent.firstRange(of: Self.interrupt) != nil
        let most = expected + (mayBeKicked && isError || wasHopeless ? 1 : 0)
        try expect(statuses.count <= most, "\(statuses.count) statuses for \(expected) requests")
        if statuses.count >= expected || hasQuit { return }
        try expect(
            isError,
            "\(statuses.count) statuses for \(expected) requests: \(String(decoding: received, as: UTF8.self))")
    }

    /// Telnet's IAC IP.
    private static let interrupt: [UInt8] = [255, 244]

    private func parse(_ line: [UInt8]) -> ParsedLine { line.withUnsafeBufferPointer { ParsedLine($0) } }
}
