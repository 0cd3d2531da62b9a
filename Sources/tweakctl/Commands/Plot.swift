// Draws numbers over time in the terminal, with Braille: each character has two by four dots.

import Tweaks
import TweaksSystem

/// A line chart with two axes. It knows nothing of processes; any numbers and times are safe.
struct Plot {
    struct Point: Equatable {
        /// In milliseconds since 1970.
        let time: Int64
        /// Finite.
        let value: Double
    }

    /// Oldest first.
    let points: [Point]
    /// The declared bounds, which make the scale the same at all times.
    var lower: Double?
    var upper: Double?
    /// The time at the right end, in milliseconds since 1970.
    let end: Int64
    /// The time from the left end to the right one, in milliseconds.
    let length: Int64
    /// Points farther apart than this are not connected, in milliseconds.
    let gap: Int64
    /// The label of a value.
    let text: (Double) -> String

    /// The lines of the chart, each at most as wide as the columns; none without a point, or where there is no room.
    /// - Parameter rows: The number of lines, with the axis of time.
    func lines(columns: Int, rows: Int) -> [String] {
        let (low, high) = scale
        let labels = [text(high), text(low)]
        let margin = labels.map(TextWidth.of).max() ?? 0
        let (width, height) = (columns - margin - 2, rows - 2)
        guard !points.isEmpty, width > 0, height > 0 else { return [] }
        let canvas = drawn(Canvas(columns: width, rows: height), low, high)
        let body = (0..<height).map { row in
            let label = row == 0 ? labels[0] : row == height - 1 ? labels[1] : ""
            let axis = label.isEmpty ? " │" : " ┤"
            return String(repeating: " ", count: margin - TextWidth.of(label)) + label + axis + canvas.line(row)
        }
        let indent = String(repeating: " ", count: margin + 1)
        return body + ["\(indent)└\(String(repeating: "─", count: width))", indent + " " + times(width)]
    }

    /// The lowest and the highest value of the chart.
    private var scale: (low: Double, high: Double) {
        let values = points.map(\.value)
        let low = lower ?? values.min() ?? 0
        let high = upper ?? values.max() ?? 0
        if low < high { return (low, high) }
        // A line that never moves is in the middle.
        let room = max(abs(low) / 10, 1)
        let greatest = Double.greatestFiniteMagnitude
        return (max(min(low, high) - room, -greatest), min(max(low, high) + room, greatest))
    }

    private func drawn(_ empty: Canvas, _ low: Double, _ high: Double) -> Canvas {
        var canvas = empty
        var before: (time: Int64, dot: Dot)?
        for point in points {
            let dot = Dot(
                x: canvas.x(1 - share(of: Double(end) - Double(point.time), Double(length))),
                // Halves, because the difference may be no finite number.
                y: canvas.y(share(of: point.value / 2 - low / 2, high / 2 - low / 2)))
            let isNear = before.map { Double(point.time) - Double($0.time) <= Double(gap) } ?? false
            canvas.connect(isNear ? before?.dot ?? dot : dot, dot)
            before = (point.time, dot)
        }
        return canvas
    }

    private func share(of part: Double, _ whole: Double) -> Double {
        let share = part / whole
        return share.isFinite ? min(max(share, 0), 1) : 0.5
    }

    private func times(_ width: Int) -> String {
        let seconds = length / 1_000
        let start = seconds % 60 == 0 ? "\(seconds / 60) min ago" : "\(seconds) s ago"
        let space = width - start.utf8.count - 3
        if space > 0 { return start + String(repeating: " ", count: space) + "now" }
        return start.utf8.count <= width ? start : ""
    }
}

/// The place of a dot, from the upper left corner.
private struct Dot {
    let x: Int
    let y: Int
}

/// Characters of Braille.
private struct Canvas {
    let columns: Int
    let rows: Int
    private var cells: [UInt8]
    /// The bits of the dots of a character, row by row.
    private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Array(repeating: 0, count: columns * rows)
    }

    func x(_ share: Double) -> Int { Int((share * Double(2 * columns - 1)).rounded()) }

    func y(_ share: Double) -> Int { Int(((1 - share) * Double(4 * rows - 1)).rounded()) }

    mutating func connect(_ start: Dot, _ end: Dot) {
        let steps = max(abs(end.x - start.x), abs(end.y - start.y), 1)
        for step in 0...steps {
            let x = start.x + ((end.x - start.x) * step + steps / 2) / steps
            let y = start.y + Int((Double((end.y - start.y) * step) / Double(steps)).rounded())
            cells[y / 4 * columns + x / 2] |= Self.bits[y % 4][x % 2]
        }
    }

    /// A row without the empty space at its end.
    func line(_ row: Int) -> String {
        let cells = cells[row * columns..<(row + 1) * columns]
        let end = cells.lastIndex { $0 != 0 }.map { $0 + 1 } ?? cells.startIndex
        return String(
            String.UnicodeScalarView(
                cells[..<end].map { $0 == 0 ? " " : Unicode.Scalar(0x2800 + UInt32($0)) ?? " " }))
    }
}
