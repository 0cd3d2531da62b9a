// Bytes to lines: framing, telnet's control bytes, and the limit on a line's length.

/// Cuts a byte stream into lines. The result does not depend on how the bytes were chopped into packets.
package struct LineReader: Sendable {
    /// What the stream holds next.
    package enum Event: Equatable, Sendable {
        /// A line without its end.
        case line(Line)
        /// A line longer than the limit; nothing after it can be trusted.
        case tooLong
    }

    /// Where a line stands in the buffer, and how it ended.
    package struct Line: Equatable, Sendable {
        let range: Range<Int>
        /// The client ends its lines by CR LF; so shall we.
        package let endsWithCRLF: Bool
        /// Control characters were discarded from it by an interrupt; it is bad all the same.
        package let isPoisoned: Bool
    }

    /// The most bytes of a line, its end not counted.
    package var limit: Int
    private var buffer: [UInt8] = []
    /// The first byte that was not handed out.
    private var start = 0
    /// Up to here no line end was found.
    private var scanned = 0
    /// Up to here the unfinished line holds no control character.
    private var checked = 0
    /// Telnet bytes stripped from the unfinished line: they count towards the limit.
    private var stripped = 0
    /// The start of a line that is too long because of them.
    private var overflow: Int?
    private var isPoisoned = false
    private var telnet = TelnetFilter()

    package init(limit: Int) { self.limit = limit }

    /// How many bytes wait.
    package var count: Int { buffer.count - start }

    /// Adds bytes as they arrived.
    /// - Returns: What has to be sent back to a telnet client, and whether it interrupted.
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) -> TelnetFilter.Response {
        if start == buffer.count { compact() }
        if telnet.isIdle, !bytes.contains(TelnetFilter.iac) {
            buffer.append(contentsOf: bytes)
            return TelnetFilter.Response()
        }
        return appendFiltered(bytes)
    }

    private mutating func appendFiltered(_ bytes: UnsafeBufferPointer<UInt8>) -> TelnetFilter.Response {
        var response = TelnetFilter.Response()
        var lineStart = unfinishedStart
        for byte in bytes {
            switch telnet.filter(byte) {
            case .data:
                buffer.append(byte)
                if endsLine(at: buffer.count - 1) { (lineStart, stripped) = (buffer.count, 0) }
                continue
            case .nothing: break
            case .reply(let reply): response.reply += reply
            case .interrupt:
                response.wasInterrupted = true
                discardUnfinished(from: lineStart)
            }
            stripped += 1
            // Noted where it happens, so that it does not matter how the bytes were chopped.
            if buffer.count - lineStart + stripped > limit, overflow == nil { overflow = lineStart }
        }
        return response
    }

    /// Ctrl-C: what was typed since the last line end is gone.
    private mutating func discardUnfinished(from end: Int) {
        if buffer[end...].contains(where: Self.isControl) { isPoisoned = true }
        stripped += buffer.count - end
        buffer.removeSubrange(end...)
        scanned = min(scanned, end)
        checked = min(checked, end)
    }

    /// Where the line begins that has no end yet.
    private var unfinishedStart: Int {
        var position = buffer.count
        while position > start, !endsLine(at: position - 1) { position -= 1 }
        return position
    }

    /// Whether a byte ends a line: LF, or the NUL after a CR, which is how telnet sends a bare return.
    private func endsLine(at position: Int) -> Bool {
        let byte = buffer[position]
        if byte == UInt8(ascii: "\n") { return true }
        return byte == 0 && position > start && buffer[position - 1] == UInt8(ascii: "\r")
    }

    /// The next line, or nil when more bytes are needed.
    package mutating func next() -> Event? {
        if let overflow, overflow <= start { return .tooLong }
        while scanned < buffer.count {
            scanned += 1
            if endsLine(at: scanned - 1) { return finish(at: scanned - 1) }
        }
        // One more for a CR that may belong to the line's end.
        return buffer.count - start > limit + 1 ? .tooLong : nil
    }

    private mutating func finish(at end: Int) -> Event {
        let hasReturn = end > start && buffer[end - 1] == UInt8(ascii: "\r")
        let line = Line(
            range: start..<(hasReturn ? end - 1 : end), endsWithCRLF: hasReturn, isPoisoned: isPoisoned)
        start = end + 1
        checked = start
        isPoisoned = false
        return line.range.count > limit ? .tooLong : .line(line)
    }

    /// Lends the bytes of a line; valid until more bytes are added.
    package func withBytes<Result>(of line: Line, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[line.range])) }
    }

    /// Whether the input ended inside a line.
    package var hasUnfinishedLine: Bool { start < buffer.count }

    /// Whether the unfinished line holds a control character, so that it can never become a good one.
    package mutating func unfinishedLineIsHopeless() -> Bool {
        if isPoisoned { return true }
        // The last byte may be the CR of a line end.
        while checked < buffer.count {
            let byte = buffer[checked]
            if byte == UInt8(ascii: "\r"), checked == buffer.count - 1 { return false }
            if Self.isControl(byte) { return true }
            checked += 1
        }
        return false
    }

    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    /// Forgets all that waits.
    package mutating func removeAll() {
        start = buffer.count
        compact()
        stripped = 0
        overflow = nil
        isPoisoned = false
    }

    /// Drops the bytes that were handed out; call it when no line is in use.
    package mutating func compact() {
        if start == buffer.count {
            // A long line must not leave its buffer behind on an idle session.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 4_096)
        } else {
            buffer.removeSubrange(..<start)
        }
        scanned -= start
        checked -= start
        scanned = max(scanned, 0)
        checked = max(checked, 0)
        overflow = overflow.map { $0 - start }
        start = 0
    }
}
