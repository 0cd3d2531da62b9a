// Records how the line reader splits a byte stream, in chunks of any size.

import TweaksWire

/// The lines of a stream and other results of the reader; the same for every chunking.
struct Framing: Equatable {
    /// One line as the reader returns it.
    struct Line: Equatable {
        let bytes: [UInt8]
        let endsWithCRLF: Bool
        let isPoisoned: Bool
    }

    private(set) var lines: [Line] = []
    private(set) var isTooLong = false
    /// The bytes to send back to a telnet client.
    private(set) var answers: [UInt8] = []
    private(set) var wasInterrupted = false
    private(set) var isUnfinished = false
    private(set) var isHopeless = false

    /// Reads a stream.
    /// - Parameter sizes: As of ``chunks(of:sizes:)``.
    init(_ stream: [UInt8], limit: Int, sizes: [Int] = []) {
        var reader = LineReader(limit: limit)
        for (number, chunk) in chunks(of: stream, sizes: sizes).enumerated() where !isTooLong {
            let response = chunk.withUnsafeBufferPointer { reader.append($0) }
            answers += response.reply
            wasInterrupted = wasInterrupted || response.wasInterrupted
            readLines(&reader)
            // A session does this when it has run its lines, and sometimes in between.
            if !number.isMultiple(of: 2) { reader.compact() }
        }
        isUnfinished = reader.hasUnfinishedLine
        isHopeless = reader.unfinishedLineIsInvalid()
    }

    private mutating func readLines(_ reader: inout LineReader) {
        while !isTooLong, let event = reader.next() {
            switch event {
            case .tooLong: isTooLong = true
            case .line(let line):
                let bytes = reader.withBytes(of: line) { Array($0) }
                lines.append(Line(bytes: bytes, endsWithCRLF: line.endsWithCRLF, isPoisoned: line.isPoisoned))
            }
        }
        _ = reader.unfinishedLineIsInvalid()
    }

    /// Whether two readings of one stream agree. Nothing is read after a line that is too long, and how far the reader
    /// got by then may differ.
    func agrees(with other: Framing) -> Bool {
        isTooLong ? other.isTooLong && lines == other.lines : self == other
    }
}
