// Splits a byte stream into lines; strips telnet's control bytes and limits the length of a line.

import Tweaks

/// Splits a byte stream into lines. The result does not depend on how the bytes were divided into packets.
package struct LineReader: ~Copyable, Sendable {
    /// The next element of the stream.
    package enum Event: Equatable, Sendable {
        /// A line without its end.
        case line(Line)
        /// A line longer than the limit; the bytes after it cannot be framed.
        case tooLong
    }

    /// The range of a line in the buffer, and how it ended.
    package struct Line: Equatable, Sendable {
        let range: Range<Int>
        /// The client ends its lines with CR LF, so replies do, too.
        package let endsWithCRLF: Bool
        /// An interrupt discarded control characters from it; the line is still invalid.
        package let isPoisoned: Bool
    }

    /// The maximum bytes of a line, without its end.
    package var limit: Int
    private var buffer: [UInt8] = []
    /// The first byte that was not returned yet.
    private var start = 0
    /// There is no line end before this position.
    private var scanned = 0
    /// The unfinished line has no control character before this position.
    private var checked = 0
    /// The lines that lost telnet bytes, in order; empty for a stream without them.
    private var losses: [Loss] = []
    private var telnet = TelnetFilter()
    /// The first four bytes received, which tell the encoding, although some are like commands of telnet.
    private var opening: (bytes: UInt32, count: Int) = (0, 0)
    /// Whether a line was returned; the first one may begin with a byte order mark, if a file is sent as it is.
    private var hasReturnedLine = false

    /// The bytes that a line lost. They are counted by line, so the result does not depend on packets.
    private struct Loss {
        /// The start of the line.
        var start: Int
        /// Stripped bytes count toward the limit.
        var stripped = 0
        var isPoisoned = false
    }

    package init(limit: Int) { self.limit = limit }

    /// The number of buffered bytes.
    package var count: Int { buffer.count - start }

    /// The size of the buffer in memory.
    package var bufferCapacity: Int { buffer.capacity }

    /// Appends received bytes.
    /// - Returns: The bytes to send back to a telnet client, and whether it interrupted.
    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) -> TelnetFilter.Response {
        if start == buffer.count { compact() }
        if opening.count < 4 { keepOpening(bytes) }
        if telnet.isIdle, !bytes.contains(TelnetFilter.iac) {
            buffer.append(contentsOf: bytes)
            return TelnetFilter.Response()
        }
        return appendFiltered(bytes)
    }

    private mutating func keepOpening(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes.prefix(4 - opening.count) {
            opening = (opening.bytes << 8 | UInt32(byte), opening.count + 1)
        }
    }

    /// The name of the input's encoding, if it is UTF-16 or UTF-32.
    package var wideEncoding: String? {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: opening.bytes >> UInt32($0)) }
        // Telnet ends a line by CR NUL, and begins a command by FF.
        guard opening.count == 4, bytes[0] != UInt8(ascii: "\r"), bytes[0] != TelnetFilter.iac || bytes[3] == 0 else {
            return nil
        }
        return TextEncoding.wideName(bytes)
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
            recordLoss(lineStart) { $0.stripped += 1 }
        }
        return response
    }

    /// Handles Ctrl-C: discards the bytes since the last line end.
    private mutating func discardUnfinished(from end: Int) {
        let discarded = buffer[end...]
        let isPoisoned = discarded.contains(where: Self.isControl)
        recordLoss(end) { loss in
            loss.stripped += discarded.count
            loss.isPoisoned = loss.isPoisoned || isPoisoned
        }
        buffer.removeSubrange(end...)
        scanned = min(scanned, end)
        checked = min(checked, end)
    }

    /// Updates the loss of the last line.
    private mutating func recordLoss(_ start: Int, _ update: (inout Loss) -> Void) {
        if losses.last?.start != start { losses.append(Loss(start: start)) }
        update(&losses[losses.count - 1])
    }

    /// The start of the line that has no end yet.
    private var unfinishedStart: Int {
        var position = buffer.count
        while position > scanned, !endsLine(at: position - 1) { position -= 1 }
        return position > scanned ? position : start
    }

    /// Whether a byte ends a line: LF, or the NUL after a CR, telnet's encoding of a bare return.
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
        let count = buffer.count - start + (currentLoss?.stripped ?? 0) - 1
        if count <= limit { return nil }
        return count - markLength(to: buffer.count) > limit ? .tooLong : nil
    }

    /// The first byte at or after a position that may end a line.
    private static func possibleEnd(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var position = start
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") || bytes[position] == 0 { return position }
            position += 1
        }
        return nil
    }

    /// The length of the byte order mark in front of the first line.
    private func markLength(to end: Int) -> Int {
        hasReturnedLine ? 0 : TextEncoding.markLength(buffer[start..<end])
    }

    /// The loss of the line at `start`.
    private var currentLoss: Loss? { losses.first.flatMap { $0.start == start ? $0 : nil } }

    private mutating func finish(at end: Int) -> Event {
        let hasReturn = end > start && buffer[end - 1] == UInt8(ascii: "\r")
        let loss = currentLoss
        start += markLength(to: end)
        hasReturnedLine = true
        let line = Line(
            range: start..<(hasReturn ? end - 1 : end), endsWithCRLF: hasReturn, isPoisoned: loss?.isPoisoned ?? false)
        if loss != nil { losses.removeFirst() }
        start = end + 1
        checked = start
        return line.range.count + (loss?.stripped ?? 0) > limit ? .tooLong : .line(line)
    }

    /// Passes the bytes of a line to `body`; the line is valid until more bytes are appended.
    package func withBytes<Result>(of line: Line, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[line.range])) }
    }

    /// Whether the input ended inside a line.
    package var hasUnfinishedLine: Bool { start < buffer.count }

    /// Whether the unfinished line holds a control character, so that it can never become valid.
    package mutating func unfinishedLineIsInvalid() -> Bool {
        if currentLoss?.isPoisoned == true { return true }
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

    /// Discards all buffered bytes.
    package mutating func removeAll() {
        start = buffer.count
        compact()
        losses = []
    }

    /// Drops the bytes of returned lines; call it when no line is in use.
    package mutating func compact() {
        if start == buffer.count {
            // An idle session must not keep the buffer of a long line.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        } else {
            buffer.removeSubrange(..<start)
        }
        scanned -= start
        checked -= start
        scanned = max(scanned, 0)
        checked = max(checked, 0)
        for position in losses.indices { losses[position].start -= start }
        start = 0
    }
}

/// Strips telnet commands (RFC 854) and refuses every option (RFC 855): the reply to `DO x` is `WONT x`, to `WILL x`
/// `DONT x`. Without a reply the client would discard all output after Ctrl-C.
package struct TelnetFilter: Sendable {
    static let iac: UInt8 = 255
    private static let (se, ip, sb, will, wont, `do`, dont) = (
        240 as UInt8, 244 as UInt8, 250 as UInt8, 251 as UInt8, 252 as UInt8, 253 as UInt8, 254 as UInt8
    )

    /// The result of filtering one byte.
    enum Outcome: Equatable {
        case data
        case nothing
        case reply([UInt8])
        case interrupt
    }

    /// The server's reaction to a run of bytes.
    package struct Response: Equatable, Sendable {
        /// Bytes to send back.
        package var reply: [UInt8] = []
        /// Ctrl-C: the unfinished line is discarded.
        package var wasInterrupted = false
    }

    private enum State: Equatable, Sendable {
        case idle, command
        case option(UInt8)
        case subnegotiation, subnegotiationCommand
    }

    private var state = State.idle

    var isIdle: Bool { state == .idle }

    mutating func filter(_ byte: UInt8) -> Outcome {
        switch state {
        case .idle:
            if byte != Self.iac { return .data }
            state = .command
        case .command: return command(byte)
        case .option(let verb):
            state = .idle
            if verb == Self.do { return .reply([Self.iac, Self.wont, byte]) }
            if verb == Self.will { return .reply([Self.iac, Self.dont, byte]) }
        case .subnegotiation: if byte == Self.iac { state = .subnegotiationCommand }
        case .subnegotiationCommand: state = byte == Self.se ? .idle : .subnegotiation
        }
        return .nothing
    }

    private mutating func command(_ byte: UInt8) -> Outcome {
        switch byte {
        case Self.will, Self.wont, Self.do, Self.dont: state = .option(byte)
        case Self.sb: state = .subnegotiation
        case Self.ip:
            state = .idle
            return .interrupt
        default: state = .idle  // An escaped 255, invalid in UTF-8, is stripped, too.
        }
        return .nothing
    }
}
