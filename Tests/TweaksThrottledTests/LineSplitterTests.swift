// Tests that lines do not depend on the pieces of input.

import Testing

@testable import throttled

@Suite struct LineSplitterTests {
    private static let limit = 8

    static let cases: [(bytes: [UInt8], lines: [LineSplitter.Line])] = [
        ([], []), (Array("a\nbc\n".utf8), [.text("a"), .text("bc")]),
        (Array("a\r\nb\rc\r\n\r\n\n".utf8), [.text("a"), .text("b\rc"), .text(""), .text("")]),
        (Array("12345678\n12345678\r\n123456789\n1\n".utf8), [.text("12345678"), .text("12345678"), long, .text("1")]),
        (Array("123456789".utf8), [.unterminated]), (Array("1234567890".utf8), [long]),
        (Array("a\nb".utf8), [.text("a"), .unterminated]), (Array("a\r".utf8), [.unterminated]),
        (Array(repeating: 0, count: 1_000) + [10, 65, 10], [long, .text("A")]),
        (Array(repeating: 120, count: 1_000), [long]),
        ([0xFF, 10, 0xC3, 10, 0xE2, 0x82, 0xAC, 10], [.invalidUTF8, .invalidUTF8, .text("€")]),
        ([0, 1, 0x1B, 10], [.text("\0\u{1}\u{1B}")]),
    ]

    private static let long = LineSplitter.Line.tooLong(limit: limit)

    @Test(arguments: cases) func linesDoNotDependOnThePieces(bytes: [UInt8], lines: [LineSplitter.Line]) {
        for size in [1, 2, 3, 7, 1_000_000] {
            var splitter = LineSplitter()
            var found: [LineSplitter.Line] = []
            for begin in stride(from: 0, to: bytes.count, by: size) {
                splitter.append(bytes[begin..<min(begin + size, bytes.count)])
                while let line = splitter.next(limit: Self.limit) { found.append(line) }
            }
            splitter.end()
            while let line = splitter.next(limit: Self.limit) { found.append(line) }
            #expect(found == lines, "in pieces of \(size)")
            #expect(splitter.isExhausted)
        }
    }

    @Test func aLowerLimitAppliesToAnUnfinishedLine() {
        var splitter = LineSplitter()
        splitter.append(Array("123456".utf8)[...])
        #expect(splitter.next(limit: 8) == nil)
        splitter.append(Array("7\n".utf8)[...])
        #expect(splitter.next(limit: 4) == .tooLong(limit: 4))
    }
}
