// Splits the bytes of a connection into lines that end with CR LF, and bodies of a known length.

/// The unparsed bytes of a connection. Results do not depend on how the bytes were split into packets.
struct HTTPInput: Sendable {
    /// The reasons why a line is invalid.
    enum Fault: Error {
        case tooLong
        /// LF without CR.
        case bareLineFeed
        /// CR without LF.
        case bareReturn
        /// A byte that this kind of line may not contain.
        case badByte
    }

    /// The bytes that a line may contain.
    enum Alphabet {
        /// Visible ASCII and the space.
        case ascii
        /// Also the tab and bytes outside ASCII.
        case text

        fileprivate func contains(_ byte: UInt8) -> Bool {
            switch self {
            case .ascii: (0x20...0x7E).contains(byte)
            case .text: !HTTPSyntax.isControl(byte) || byte == HTTPSyntax.tab
            }
        }
    }

    private var buffer: [UInt8] = []
    /// The first byte that is not consumed.
    private var start = 0
    /// The end of the bytes that were scanned: valid, and without a line end.
    private var scanned = 0

    /// The number of bytes that are not consumed.
    var count: Int { buffer.count - start }

    var first: UInt8? { start < buffer.count ? buffer[start] : nil }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next line without its end, or nil when more bytes are needed. Throws at the first invalid byte.
    mutating func line(limit: Int, _ alphabet: Alphabet) throws(Fault) -> ArraySlice<UInt8>? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            if scanned > start, buffer[scanned - 1] == UInt8(ascii: "\r") {
                if byte != UInt8(ascii: "\n") { throw .bareReturn }
                return consume(to: scanned - 1, skipping: 2)
            }
            if byte == UInt8(ascii: "\n") { throw .bareLineFeed }
            if byte != UInt8(ascii: "\r") {
                if scanned - start >= limit { throw .tooLong }
                if !alphabet.contains(byte) { throw .badByte }
            }
            scanned += 1
        }
        return nil
    }

    /// Consumes a number of bytes; nil when more bytes are needed.
    mutating func consume(_ count: Int) -> ArraySlice<UInt8>? {
        count <= self.count ? consume(to: start + count, skipping: 0) : nil
    }

    private mutating func consume(to end: Int, skipping count: Int) -> ArraySlice<UInt8> {
        defer {
            start = end + count
            scanned = start
        }
        return buffer[start..<end]
    }

    /// The scanned part of an incomplete line.
    var unfinishedLine: ArraySlice<UInt8> { buffer[start..<scanned] }

    /// Drops consumed bytes once there are as many as remain, so that moving the rest has amortized constant cost.
    mutating func compact() {
        if count == 0 {
            // An idle connection must not keep the buffer of a large request.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        } else if start >= max(count, 4_096) {
            buffer.removeSubrange(..<start)
        } else {
            return
        }
        scanned -= start
        start = 0
    }

    /// Drops all bytes.
    mutating func removeAll() { self = HTTPInput() }
}
