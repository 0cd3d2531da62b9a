// Encodes frames as terminal escape sequences; only changed cells since the previous frame.

/// Keeps the frame on the terminal and encodes the difference to the next one.
struct FrameEncoder {
    private var shown: Frame?
    private var bytes: [UInt8] = []
    private var pen = Pen()

    /// Makes the next frame redraw the whole terminal.
    mutating func forget() { shown = nil }

    /// The bytes that change the previous frame into this one; empty if they are equal.
    mutating func encode(_ frame: Frame) -> [UInt8] {
        let old = shown.flatMap { $0.canvas.hasSize(of: frame.canvas) ? $0 : nil }
        bytes.removeAll(keepingCapacity: true)
        pen = Pen()
        if old == nil { bytes += "\u{1B}[0m\u{1B}[2J".utf8 }
        draw(frame.canvas, over: old?.canvas)
        if frame.status != old?.status { draw(frame.status, below: frame.canvas) }
        shown = frame
        // Synchronized output: the terminal shows the frame when it is complete.
        return bytes.isEmpty ? [] : Array("\u{1B}[?2026h".utf8) + bytes + Array("\u{1B}[?2026l".utf8)
    }

    private mutating func draw(_ canvas: Canvas, over old: Canvas?) {
        let pixels = canvas.pixels
        let before = old?.pixels ?? []
        for row in 0..<canvas.height / 2 {
            var isCursorInPlace = false
            for column in 0..<canvas.width {
                let index = row * 2 * canvas.width + column
                let upper = pixels[index]
                let lower = pixels[index + canvas.width]
                if !before.isEmpty, before[index] == upper, before[index + canvas.width] == lower {
                    isCursorInPlace = false
                    continue
                }
                if !isCursorInPlace { move(toRow: row, column: column) }
                put(upper, over: lower)
                isCursorInPlace = true
            }
        }
    }

    private mutating func draw(_ status: Frame.Status?, below canvas: Canvas) {
        guard let status else { return }
        let text = status.text.unicodeScalars.prefix(canvas.width)
        move(toRow: canvas.height / 2, column: 0)
        setForeground(status.color)
        setBackground(status.background)
        bytes += String(String.UnicodeScalarView(text)).utf8
        bytes += repeatElement(UInt8(ascii: " "), count: canvas.width - text.count)
    }

    private mutating func move(toRow row: Int, column: Int) {
        bytes += "\u{1B}[\(row + 1);\(column + 1)H".utf8
    }

    /// Writes two pixels as one cell. A blank needs no foreground.
    private mutating func put(_ upper: Pixel, over lower: Pixel) {
        setBackground(lower)
        guard upper != lower else { return bytes.append(UInt8(ascii: " ")) }
        setForeground(upper)
        bytes += Self.halfBlock
    }

    private mutating func setForeground(_ color: Pixel) {
        if pen.foreground != color { writeColor("38", color) }
        pen.foreground = color
    }

    private mutating func setBackground(_ color: Pixel) {
        if pen.background != color { writeColor("48", color) }
        pen.background = color
    }

    private mutating func writeColor(_ ground: String, _ color: Pixel) {
        bytes += "\u{1B}[\(ground);2;".utf8
        bytes += Self.decimals[Int(color.red)]
        bytes.append(UInt8(ascii: ";"))
        bytes += Self.decimals[Int(color.green)]
        bytes.append(UInt8(ascii: ";"))
        bytes += Self.decimals[Int(color.blue)]
        bytes.append(UInt8(ascii: "m"))
    }

    /// The terminal's current colors, where this frame has set them.
    private struct Pen {
        var foreground: Pixel?
        var background: Pixel?
    }

    private static let decimals = (0...255).map { Array(String($0).utf8) }
    private static let halfBlock = Array("▀".utf8)
}
