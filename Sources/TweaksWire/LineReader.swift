// Bytes to lines: framing, telnet's control bytes, and the limit on a line's length.

/// Cuts a byte stream into lines. The result does not depend on how the bytes were chopped into packets.
package struct LineReader: ~Copyable, Sendable {
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
    /// The lines that telnet bytes were stripped from, in order. Of a stream without them there are none.
    private var marks: [Mark] = []
    private var telnet = TelnetFilter()

    /// What a line has lost. Kept with the line, so that it does not matter how the bytes were chopped.
    private struct Mark {
        /// Where the line begins.
        var start: Int
        /// Lost bytes count towards the limit.
        var stripped = 0
        var isPoisoned = false
    }

    package init(limit: Int) { self.limit = limit }

    /// How many bytes wait.
    package var count: Int { buffer.count - start }

    /// How much memory they take.
    package var heldBytes: Int { buffer.capacity }

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
                if endsLine(at: buffer.count - 1) { lineStart = buffer.count }
                continue
            case .nothing: break
            case .reply(let reply): response.reply += reply
            case .interrupt:
                response.wasInterrupted = true
                discardUnfinished(from: lineStart)
            }
            mark(lineStart) { $0.stripped += 1 }
        }
        return response
    }

    /// Ctrl-C: what was typed since the last line end is gone.
    private mutating func discardUnfinished(from end: Int) {
        let discarded = buffer[end...]
        let isPoisoned = discarded.contains(where: Self.isControl)
        mark(end) { mark in
            mark.stripped += discarded.count
            mark.isPoisoned = mark.isPoisoned || isPoisoned
        }
        buffer.removeSubrange(end...)
        scanned = min(scanned, end)
        checked = min(checked, end)
    }

    /// Notes what the last line has lost.
    private mutating func mark(_ start: Int, _ note: (inout Mark) -> Void) {
        if marks.last?.start != start { marks.append(Mark(start: start)) }
        note(&marks[marks.count - 1])
    }

    /// Where the line begins that has no end yet.
    private var unfinishedStart: Int {
        var position = buffer.count
        while position > scanned, !endsLine(at: position - 1) { position -= 1 }
        return position > scanned ? position : start
    }

    /// Whether a byte ends a line: LF, or the NUL after a CR, which is how telnet sends a bare return.
    private func endsLine(at position: Int) -> Bool {
        let byte = buffer[position]
        if byte == UInt8(ascii: "\n") { return true }
        return byte == 0 && position > start && buffer[position - 1] == UInt8(ascii: "\r")
    }

    /// The next line, or nil when more bytes are needed.
    package mutating func next() -> Event? {
        while scanned < buffer.count {
            let end = buffer.withUnsafeBufferPointer { Self.possibleEnd($0, from: scanned) }
            guard let end else {
                scanned = buffer.count
                break
            }
            scanned = end + 1
            if endsLine(at: end) { return finish(at: end) }
        }
        // One more for a CR that may belong to the line's end.
        return buffer.count - start + (lost?.stripped ?? 0) - 1 > limit ? .tooLong : nil
    }

    /// The first byte from a place on that may end a line.
    private static func possibleEnd(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var position = start
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") || bytes[position] == 0 { return position }
            position += 1
        }
        return nil
    }

    /// What the first line that was not handed out has lost.
    private var lost: Mark? { marks.first.flatMap { $0.start == start ? $0 : nil } }

    private mutating func finish(at end: Int) -> Event {
        let hasReturn = end > start && buffer[end - 1] == UInt8(ascii: "\r")
        let lost = lost
        let line = Line(
            range: start..<(hasReturn ? end - 1 : end), endsWithCRLF: hasReturn, isPoisoned: lost?.isPoisoned ?? false)
        if lost != nil { marks.removeFirst() }
        start = end + 1
        checked = start
        return line.range.count + (lost?.stripped ?? 0) > limit ? .tooLong : .line(line)
    }

    /// Lends the bytes of a line; valid until more bytes are added.
    package func withBytes<Result>(of line: Line, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[line.range])) }
    }

    /// Whether the input ended inside a line.
    package var hasUnfinishedLine: Bool { start < buffer.count }

    /// Whether the unfinished line holds a control character, so that it can never become a good one.
    package mutating func unfinishedLineIsHopeless() -> Bool {
        if lost?.isPoisoned == true { return true }
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
        marks = []
    }

    /// Drops the bytes that were handed out; call it when no line is in use.
    package mutating func compact() {
        if start == buffer.count {
            // A long line must not leave its buffer behind on an idle session.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        } else {
            buffer.removeSubrange(..<start)
        }
        scanned -= start
        checked -= start
        scanned = max(scanned, 0)
        checked = max(checked, 0)
        for position in marks.indices { marks[position].start -= start }
        start = 0
    }
}
