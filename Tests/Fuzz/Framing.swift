// What the line reader makes of a byte stream, in pieces of any size.

import TweaksWire

/// The lines of a stream and what surrounds them; the same for every chunking.
struct Framing: Equatable {
    /// One line as the reader hands it out.
    struct Line: Equatable {
        let bytes: [UInt8]
        let endsWithCRLF: Bool
        let isPoisoned: Bool
    }

    private(set) var lines: [Line] = []
    private(set) var isTooLong = false
    /// Sent back to a telnet client.
    private(set) var answers: [UInt8] = []
    private(set) var wasInterrupted = false
    private(set) var isUnfinished = false
    private(set) var isHopeless = false

    /// Reads a stream.
    /// - Parameter sizes: The sizes of the pieces, over and over; none: all at once.
    init(_ stream: [UInt8], limit: Int, sizes: [Int] = []) {
        var reader = LineReader(limit: limit)
        var (position, turn) = (0, 0)
        while position < stream.count, !isTooLong {
            let size = sizes.isEmpty ? stream.count : sizes[turn % sizes.count]
            let end = min(position + max(size, 1), stream.count)
            let response = stream[position..<end].withUnsafeBufferPointer { reader.append($0) }
            (position, turn) = (end, turn + 1)
            answers += response.reply
            wasInterrupted = wasInterrupted || response.wasInterrupted
            take(&reader)
            // As a session does when it has run its lines, and now and then in between.
            if turn.isMultiple(of: 2) { reader.compact() }
        }
        isUnfinished = reader.hasUnfinishedLine
        isHopeless = reader.unfinishedLineIsHopeless()
    }

    private mutating func take(_ reader: inout LineReader) {
        while !isTooLong, let event = reader.next() {
            switch event {
            case .tooLong: isTooLong = true
            case .line(let line):
                let bytes = reader.withBytes(of: line) { Array($0) }
                lines.append(Line(bytes: bytes, endsWithCRLF: line.endsWithCRLF, isPoisoned: line.isPoisoned))
            }
        }
        _ = reader.unfinishedLineIsHopeless()
    }

    /// Whether two readings of one stream tell the same. Behind a line that is too long nothing is read, and how far the
    /// reader had looked by then is its own affair.
    func agrees(with other: Framing) -> Bool {
        isTooLong ? other.isTooLong && lines == other.lines : self == other
    }
}
