// Tests that encoded frames show the frame, with no more bytes than needed.

import Testing

@testable import bounce

@Suite struct FrameEncoderTests {
    private let red = Pixel(red: 255, green: 0, blue: 0)
    private let blue = Pixel(red: 0, green: 0, blue: 255)

    private func frame(_ columns: Int, _ rows: Int, _ text: String = "hello") -> Frame {
        Frame(canvas: Canvas(width: columns, height: rows * 2, color: red), status: Frame.Status(text: text))
    }

    @Test(arguments: [(1, 1), (7, 3), (40, 12)]) func theTerminalShowsEachOfManyRandomFrames(columns: Int, rows: Int) {
        var random = SeededGenerator(seed: 42)
        var terminal = FakeTerminal(columns: columns, rows: rows + 1)
        var encoder = FrameEncoder()
        var canvas = Canvas(width: columns, height: rows * 2, color: blue)
        for turn in 0..<200 {
            canvas.draw([random.dot(in: canvas), random.dot(in: canvas)], color: random.pixel(), alpha: 1)
            let status = "turn \(turn / 2)".prefix(columns)
            terminal.feed(encoder.encode(Frame(canvas: canvas, status: Frame.Status(text: String(status)))))
            #expect(terminal.pixels(rows: rows) == canvas.pixels)
            #expect(terminal.text(row: rows).hasPrefix(status))
        }
        #expect(terminal.errors == [])
    }

    @Test func anEqualFrameIsEncodedOnlyAfterForgetting() {
        var encoder = FrameEncoder()
        let first = encoder.encode(frame(9, 2))
        #expect(!first.isEmpty && encoder.encode(frame(9, 2)) == [])
        encoder.forget()
        #expect(encoder.encode(frame(9, 2)) == first)
    }

    @Test func aChangedPixelIsOneCell() {
        var encoder = FrameEncoder()
        var canvas = Canvas(width: 9, height: 4, color: blue)
        _ = encoder.encode(Frame(canvas: canvas))
        canvas.draw([Dot(x: 4, y: 2, share: 256)], color: red, alpha: 1)
        let cell = "\u{1B}[2;5H\u{1B}[48;2;0;0;255m\u{1B}[38;2;255;0;0m▀"
        let text = String(decoding: encoder.encode(Frame(canvas: canvas)), as: UTF8.self)
        #expect(text == "\u{1B}[?2026h\(cell)\u{1B}[?2026l")
    }

    @Test func afterAResizeTheWholeFrameIsEncoded() {
        var encoder = FrameEncoder()
        _ = encoder.encode(frame(9, 2))
        var terminal = FakeTerminal(columns: 6, rows: 4)
        terminal.feed(encoder.encode(frame(6, 3)))
        #expect(terminal.pixels(rows: 3) == frame(6, 3).canvas.pixels)
        #expect(terminal.text(row: 3) == "hello ")
    }

    @Test func aLongStatusIsTruncated() {
        var encoder = FrameEncoder()
        var terminal = FakeTerminal(columns: 5, rows: 2)
        terminal.feed(encoder.encode(frame(5, 1, "12345678")))
        #expect(terminal.text(row: 1) == "12345" && terminal.errors == [])
    }
}

/// SplitMix64, which gives the same numbers in each run.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// One of few colors, so that adjacent pixels are often equal.
    mutating func pixel() -> Pixel { [.black, .white, Pixel(red: 9, green: 99, blue: 199)][number(below: 3)] }

    mutating func dot(in canvas: Canvas) -> Dot {
        Dot(x: number(below: canvas.width), y: number(below: canvas.height), share: [128, 256][number(below: 2)])
    }
}
