// Bytes to lines that end by CR LF, and to bodies of a known length.

/// The bytes of a connection that were not made sense of yet. What it says does not depend on how they were chopped.
struct HTTPInput: Sendable {
    /// What makes a line one that cannot be read.
    enum Fault: Error {
        case tooLong
        /// LF without CR.
        case bareLineFeed
        /// CR without LF.
        case bareReturn
        /// A byte that no line of this kind may hold.
        case badByte
    }

    /// The bytes that a line may hold.
    enum Alphabet {
        /// Visible ASCII and the blank.
        case ascii
        /// The tab and all that is not ASCII, too.
        case text

        fileprivate func holds(_ byte: UInt8) -> Bool {
            switch self {
            case .ascii: (0x20...0x7E).contains(byte)
            case .text: !HTTPSyntax.isControl(byte) || byte == HTTPSyntax.tab
            }
        }
    }

    private var buffer: [UInt8] = []
    /// The first byte that was not handed out.
    private var start = 0
    /// Up to here the line has no end, and nothing is wrong with it.
    private var scanned = 0

    /// How many bytes wait.
    var count: Int { buffer.count - start }

    var first: UInt8? { start < buffer.count ? buffer[start] : nil }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next line without its end, or nil when more bytes are needed. What is wrong shows at the first bad byte.
    mutating func line(limit: Int, _ alphabet: Alphabet) throws(Fault) -> ArraySlice<UInt8>? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            if scanned > start, buffer[scanned - 1] == UInt8(ascii: "\r") {
                if byte != UInt8(ascii: "\n") { throw .bareReturn }
                return hand(out: scanned - 1, skipping: 2)
            }
            if byte == UInt8(ascii: "\n") { throw .bareLineFeed }
            if byte != UInt8(ascii: "\r") {
                if scanned - start >= limit { throw .tooLong }
                if !alphabet.holds(byte) { throw .badByte }
            }
            scanned += 1
        }
        return nil
    }

    /// So many bytes, or nil when they have not come yet.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        count <= self.count ? hand(out: start + count, skipping: 0) : nil
    }

    private mutating func hand(out end: Int, skipping count: Int) -> ArraySlice<UInt8> {
        defer {
            start = end + count
            scanned = start
        }
        return buffer[start..<end]
    }

    /// The line as far as it has come.
    var unfinishedLine: ArraySlice<UInt8> { buffer[start..<scanned] }

    /// Drops what was handed out, now and then: moving what is left must cost no more than what was handed out before.
    mutating func compact() {
        if count == 0 {
            // A large request must not leave its buffer behind on an idle connection.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        } else if start >= max(count, 4_096) {
            buffer.removeSubrange(..<start)
        } else {
            return
        }
        scanned -= start
        start = 0
    }

    /// Forgets all that waits.
    mutating func removeAll() { self = HTTPInput() }
}
