// What is sent shows the frame, and no more is sent than it takes.

import Testing

@testable import bounce

@Suite("Frames become bytes")
struct FrameEncoderTests {
    private let red = Pixel(red: 255, green: 0, blue: 0)
    private let blue = Pixel(red: 0, green: 0, blue: 255)
    private let hello = Frame.Status(text: "hello")

    @Test("After each of many random frames the terminal shows just that frame", arguments: [(1, 1), (7, 3), (40, 12)])
    func showsEachFrame(columns: Int, rows: Int) {
        var random = SplitMix(seed: 42)
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
        #expect(terminal.complaints == [])
    }

    @Test func anEqualFrameIsNoBytes() {
        var encoder = FrameEncoder()
        let frame = Frame(canvas: Canvas(width: 9, height: 4, color: red), status: hello)
        #expect(!encoder.encode(frame).isEmpty)
        #expect(encoder.encode(frame) == [])
    }

    @Test func onePixelIsOneCell() {
        var encoder = FrameEncoder()
        var canvas = Canvas(width: 9, height: 4, color: blue)
        _ = encoder.encode(Frame(canvas: canvas))
        canvas.draw([Dot(x: 4, y: 2, share: 256)], color: red, alpha: 1)
        let cell = "\u{1B}[2;5H\u{1B}[48;2;0;0;255m\u{1B}[38;2;255;0;0m▀"
        #expect(text(encoder.encode(Frame(canvas: canvas))) == "\u{1B}[?2026h\(cell)\u{1B}[?2026l")
    }

    @Test func afterAResizeAllIsDrawn() {
        var encoder = FrameEncoder()
        _ = encoder.encode(Frame(canvas: Canvas(width: 9, height: 4, color: red), status: hello))
        let frame = Frame(canvas: Canvas(width: 6, height: 6, color: red), status: hello)
        var terminal = FakeTerminal(columns: 6, rows: 4)
        terminal.feed(encoder.encode(frame))
        #expect(terminal.pixels(rows: 3) == frame.canvas.pixels)
        #expect(terminal.text(row: 3) == "hello ")
    }

    @Test func afterForgettingAllIsDrawn() {
        var encoder = FrameEncoder()
        let frame = Frame(canvas: Canvas(width: 9, height: 4, color: red), status: hello)
        let first = encoder.encode(frame)
        encoder.forget()
        #expect(encoder.encode(frame) == first)
    }

    @Test func aLongStatusIsCutOff() {
        var encoder = FrameEncoder()
        var terminal = FakeTerminal(columns: 5, rows: 2)
        terminal.feed(
            encoder.encode(
                Frame(canvas: Canvas(width: 5, height: 2, color: red), status: Frame.Status(text: "12345678"))))
        #expect(terminal.text(row: 1) == "12345")
        #expect(terminal.complaints == [])
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Random numbers that are the same each time.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func number(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }

    /// One of few colours, so that neighbours are often equal.
    mutating func pixel() -> Pixel { [.black, .white, Pixel(red: 9, green: 99, blue: 199)][number(below: 3)] }

    mutating func dot(in canvas: Canvas) -> Dot {
        Dot(x: number(below: canvas.width), y: number(below: canvas.height), share: [128, 256][number(below: 2)])
    }
}
