// Tests line ends, telnet commands and the length limit, with input in pieces of any size.

import Testing
import TweaksTestSupport
import TweaksWire

/// The result of reading a stream, as far as it does not depend on the pieces.
struct Reading: Equatable, Sendable, CustomStringConvertible {
    enum Event: Equatable, Sendable {
        case line(String, crlf: Bool)
        /// A line from which an interrupt removed control characters.
        case poisoned(String)
        case tooLong
    }

    var events: [Event] = []
    /// Bytes for the telnet client.
    var replies: [UInt8] = []
    var interrupts = 0
    var isUnfinished = false
    /// Whether the unfinished line can never become valid.
    var isInvalid = false

    var description: String {
        "\(events) replies \(replies) interrupts \(interrupts) unfinished \(isUnfinished) invalid \(isInvalid)"
    }

    /// Reads pieces of the given sizes; the last size is used for the rest.
    init(_ bytes: [UInt8], limit: Int, chunks: [Int]) {
        var reader = LineReader(limit: limit)
        var rest = bytes[...]
        var sizes = chunks[...]
        while !rest.isEmpty, events.last != .tooLong {
            let size = sizes.count > 1 ? sizes.removeFirst() : sizes.first ?? rest.count
            let response = Array(rest.prefix(size)).withUnsafeBufferPointer { reader.append($0) }
            rest = rest.dropFirst(size)
            replies += response.reply
            interrupts += response.wasInterrupted ? 1 : 0
            readEvents(&reader)
        }
        isUnfinished = reader.hasUnfinishedLine
        isInvalid = reader.unfinishedLineIsInvalid()
    }

    private mutating func readEvents(_ reader: inout LineReader) {
        while let event = reader.next() {
            guard case .line(let line) = event else { return events.append(.tooLong) }
            let text = reader.withBytes(of: line) { String(decoding: $0, as: UTF8.self) }
            events.append(line.isPoisoned ? .poisoned(text) : .line(text, crlf: line.endsWithCRLF))
            // As sessions do.
            if events.count.isMultiple(of: 3) { reader.compact() }
        }
        // This must not change later events.
        _ = reader.unfinishedLineIsInvalid()
    }
}

/// Reads a stream as a whole, byte by byte and in random pieces, and expects equal results.
func read(_ bytes: [UInt8], limit: Int = 1_000, at location: SourceLocation = #_sourceLocation) -> Reading {
    let whole = Reading(bytes, limit: limit, chunks: [max(1, bytes.count)])
    var chunkings = [[1], [2], [3], [7]]
    for seed in 1...12 {
        var generator = SeededGenerator(seed: UInt64(seed))
        chunkings.append((0...bytes.count).map { _ in Int.random(in: 1...9, using: &generator) })
    }
    // After a line that is too long nothing is read, and earlier replies depend on the pieces.
    for chunks in chunkings {
        let reading = Reading(bytes, limit: limit, chunks: chunks)
        if whole.events.last == .tooLong {
            #expect(reading.events == whole.events, "chunks \(chunks)", sourceLocation: location)
        } else {
            var (one, other) = (reading, whole)
            (one.interrupts, other.interrupts) = (min(one.interrupts, 1), min(other.interrupts, 1))
            #expect(one == other, "chunks \(chunks)", sourceLocation: location)
        }
    }
    return whole
}

@Suite struct LineReaderTests {
    @Test(arguments: [
        ("", []), ("a\n", [Reading.Event.line("a", crlf: false)]), ("a\r\n", [.line("a", crlf: true)]),
        ("a\r\0", [.line("a", crlf: true)]), ("\n", [.line("", crlf: false)]), ("\r\n", [.line("", crlf: true)]),
        ("\r\0", [.line("", crlf: true)]),
        ("a\nb\r\nc\n", [.line("a", crlf: false), .line("b", crlf: true), .line("c", crlf: false)]),
        (
            "a\n\n\nb\n",
            [.line("a", crlf: false), .line("", crlf: false), .line("", crlf: false), .line("b", crlf: false)]
        ),
        // A CR or NUL inside a line does not end it; the tokenizer refuses the line.
        ("a\rb\n", [.line("a\rb", crlf: false)]), ("a\r\r\n", [.line("a\r", crlf: true)]),
        ("a\0\n", [.line("a\0", crlf: false)]), ("\n\0\n", [.line("", crlf: false), .line("\0", crlf: false)]),
        ("a\r\0\0\n", [.line("a", crlf: true), .line("\0", crlf: false)]),
        ("a\r\0\n", [.line("a", crlf: true), .line("", crlf: false)]), ("ä€😀\n", [.line("ä€😀", crlf: false)]),
    ])
    func linesEndWithLFOrCRLFOrCRNUL(_ text: String, _ events: [Reading.Event]) {
        let reading = read(Array(text.utf8))
        #expect(reading.events == events)
        #expect(!reading.isUnfinished && reading.replies.isEmpty)
    }

    @Test(arguments: [
        ("a", true, false), ("a\nb", true, false), ("a\r", true, false), ("\r", true, false), ("a\n", false, false),
        ("", false, false), ("\u{1}", true, true), ("a\nb\u{7F}", true, true), ("a\rb", true, true),
        ("a\r\r", true, true), ("\0", true, true), ("a\tb", true, false), ("\u{1}\nb", true, false),
    ])
    func unfinishedLinesAreKnownAndMayBeInvalid(_ text: String, _ isUnfinished: Bool, _ isInvalid: Bool) {
        let reading = read(Array(text.utf8))
        #expect(reading.isUnfinished == isUnfinished && reading.isInvalid == isInvalid)
    }

    @Test(arguments: ["\n", "\r\n", "\r\0"]) func theLimitDoesNotCountTheLineEnd(_ lineEnd: String) {
        for (count, fits) in [(0, true), (1, true), (9, true), (10, true), (11, false), (12, false), (1_000, false)] {
            let line = String(repeating: "x", count: count)
            let reading = read(Array("ok\n\(line)\(lineEnd)after\n".utf8), limit: 10)
            let second: Reading.Event = fits ? .line(line, crlf: lineEnd != "\n") : .tooLong
            #expect(reading.events.dropFirst().first == second, "\(count)")
            #expect(reading.events.count == (fits ? 3 : 2))
        }
    }

    @Test(arguments: [(10, false), (11, false), (12, true), (13, true)])
    func anUnfinishedLineCanBeTooLong(_ count: Int, _ isTooLong: Bool) {
        // The eleventh byte may be the CR of the line's end.
        let reading = read([UInt8](repeating: 120, count: count), limit: 10)
        #expect(reading.events == (isTooLong ? [.tooLong] : []))
    }

    private static let (iac, dont, `do`, wont, will, sb, ip, se) = (
        255 as UInt8, 254 as UInt8, 253 as UInt8, 252 as UInt8, 251 as UInt8, 250 as UInt8, 244 as UInt8, 240 as UInt8
    )

    /// Bytes in the middle of `ab`, and the reply.
    @Test(
        arguments: [
            ([iac, `do`, 3], [iac, wont, 3]), ([iac, will, 24], [iac, dont, 24]), ([iac, wont, 1], []),
            ([iac, dont, 1], []), ([iac, `do`, 6, iac, `do`, 6], [iac, wont, 6, iac, wont, 6]),
            // Options and parameters that look like commands or line ends.
            ([iac, `do`, iac], [iac, wont, iac]), ([iac, `do`, 10], [iac, wont, 10]),
            ([iac, sb, 24, 0, 120, 10, 13, iac, se], []), ([iac, sb, 24, iac, iac, 10, iac, se], []),
            ([iac, 241], []), ([iac, 242], []), ([iac, iac], []), ([iac, 10], []),
        ] as [([UInt8], [UInt8])])
    func telnetCommandsAreRemoved(_ bytes: [UInt8], _ reply: [UInt8]) {
        let reading = read([97] + bytes + [98, 13, 10, 99, 10])
        #expect(reading.events == [.line("ab", crlf: true), .line("c", crlf: false)])
        #expect(reading.replies == reply && reading.interrupts == 0)
    }

    @Test func anInterruptDiscardsTheLineSoFar() {
        let reading = read(Array("one\ntwo".utf8) + [Self.iac, Self.ip] + Array("three\nfour\n".utf8))
        #expect(reading.events == [.line("one", crlf: false), .line("three", crlf: false), .line("four", crlf: false)])
        #expect(reading.interrupts > 0)
    }

    @Test func aLineWithControlCharactersBeforeAnInterruptIsPoisoned() {
        let reading = read([1, 2, Self.iac, Self.ip] + Array("ping\nping\n".utf8))
        #expect(reading.events == [.poisoned("ping"), .line("ping", crlf: false)])
    }

    /// Editors begin files with it, and nc sends files as they are.
    @Test func aByteOrderMarkInFrontOfTheFirstLineIsSkipped() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let line = Array("0123456789\n".utf8)
        #expect(
            read(mark + line + mark + [97, 10], limit: 10).events == [
                .line("0123456789", crlf: false), .line("\u{FEFF}a", crlf: false),
            ])
        #expect(read(mark + line.dropLast(), limit: 10).events.isEmpty)
        #expect(read(mark + [0x30] + line, limit: 10).events == [.tooLong])
        #expect(read(mark + [13, 10] + line, limit: 10).events.first == .line("", crlf: true))
    }

    @Test func removedBytesCountForTheLimit() {
        let command: [UInt8] = [Self.iac, Self.wont, 1]
        func line(_ commands: Int, _ text: String) -> [UInt8] {
            Array((0..<commands).map { _ in command }.joined()) + Array(text.utf8)
        }
        #expect(read(line(3, "x\n"), limit: 10).events == [.line("x", crlf: false)])
        let text = { Array(($0 as String).utf8) }
        for bytes in [
            line(4, "x\n"), line(3, "xx\n"), text("xx") + line(3, "\n"), line(4, ""),
            text("12345678") + [Self.iac, Self.ip] + text("123456\n"),
        ] { #expect(read(bytes, limit: 10).events == [.tooLong], "\(bytes)") }
        // Only for their own line.
        #expect(read(line(3, "x\n") + line(3, "y\n") + line(0, "0123456789\n"), limit: 10).events.count == 3)
    }

    @Test(arguments: 1...60) func randomStreamsDoNotDependOnThePieces(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let alphabet: [UInt8] = [10, 10, 13, 0, 97, 98, 9, 1, 127, 255, 255, 253, 251, 250, 240, 244, 195, 164]
        let bytes = (0..<200).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        let reading = read(bytes, limit: Int.random(in: 5...60, using: &generator))
        #expect(!reading.events.isEmpty)
    }
}
