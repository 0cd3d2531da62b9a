// Fuzzes telnet commands within lines, against a simple reference implementation.

import TweaksWire

/// The line reader with the commands of a telnet client. The first byte selects the chunk sizes.
enum TelnetTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let expected = ReferenceTelnet(stream)
        for sizes in [[], [1], [Int(choice), 1], [2, Int(choice >> 3)]] {
            let framing = Framing(stream, limit: 1 << 30, sizes: sizes)
            let lines = framing.lines.map { ReferenceTelnet.Line(bytes: $0.bytes, isPoisoned: $0.isPoisoned) }
            try expect(lines == expected.lines, "lines \(lines), expected \(expected.lines)")
            try expect(framing.answers == expected.answers, "answers \(framing.answers), not \(expected.answers)")
            try expect(framing.wasInterrupted == expected.wasInterrupted, "interrupted: \(framing.wasInterrupted)")
            try expect(framing.isUnfinished == !expected.unfinished.isEmpty, "unfinished: \(framing.isUnfinished)")
        }
    }
}

/// A byte-by-byte implementation of RFC 854, RFC 855 and the protocol's line ends.
struct ReferenceTelnet {
    struct Line: Equatable {
        var bytes: [UInt8]
        var isPoisoned: Bool
    }

    private(set) var lines: [Line] = []
    private(set) var answers: [UInt8] = []
    private(set) var wasInterrupted = false
    private(set) var unfinished: [UInt8] = []
    private var isPoisoned = false

    init(_ stream: [UInt8]) {
        var rest = stream[...]
        while let byte = rest.popFirst() {
            if byte == 255 { command(&rest) } else { data(byte) }
        }
    }

    private mutating func command(_ rest: inout ArraySlice<UInt8>) {
        switch rest.popFirst() {
        case 251?: rest.popFirst().map { answers += [255, 254, $0] }
        case 253?: rest.popFirst().map { answers += [255, 252, $0] }
        case 252?, 254?: _ = rest.popFirst()
        case 250?: skipSubnegotiation(&rest)
        case 244?:
            wasInterrupted = true
            isPoisoned = isPoisoned || unfinished.contains { $0 < 32 && $0 != 9 || $0 == 127 }
            unfinished = []
        default: break
        }
    }

    private func skipSubnegotiation(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.popFirst() {
            if byte == 255, rest.popFirst() == 240 { return }
        }
    }

    private mutating func data(_ byte: UInt8) {
        let isEnd = byte == 10 || byte == 0 && unfinished.last == 13
        if !isEnd { return unfinished.append(byte) }
        if unfinished.last == 13 { unfinished.removeLast() }
        // The byte order mark of a file that is sent.
        if lines.isEmpty, unfinished.starts(with: [0xef, 0xbb, 0xbf]) { unfinished.removeFirst(3) }
        lines.append(Line(bytes: unfinished, isPoisoned: isPoisoned))
        (unfinished, isPoisoned) = ([], false)
    }
}
