// A line of text that can be drawn at any place and in any size, also between whole pixels.

/// Text set in the font.
///
/// It holds sums, not pixels: each entry is how much ink lies above and to the left of that corner. What lies in a
/// rectangle is then the sum and difference of four entries, however large or small the rectangle is. So a pixel of
/// the screen that is partly covered is known to be, and both motion and growth are smooth.
struct Lettering {
    /// What it says.
    let text: String
    /// The width in pixels of the font.
    let width: Int
    private let sums: [[Double]]

    /// Sets at most `limit` characters, one font pixel apart.
    init(_ text: String, limit: Int = 120) {
        let glyphs = text.prefix(limit).map(Font.glyph(for:))
        let rows = (0..<Font.height).map { row in Array(glyphs.map { $0[row] }.joined(separator: [false])) }
        self.text = text
        width = rows[0].count
        sums = rows.reduce(into: [Array(repeating: 0, count: width + 1)]) { sums, row in
            sums.append(Self.sum(of: row, below: sums[sums.count - 1]))
        }
    }

    /// The pixels of a screen that it touches with its left upper corner at `origin`, as far as they are in the window.
    func dots(at origin: Vector, scale: Double, columns: Range<Int>, rows: Range<Int>) -> [Dot] {
        let columns = Self.touched(from: origin.x, length: Double(width) * scale).clamped(to: columns)
        let rows = Self.touched(from: origin.y, length: Double(Font.height) * scale).clamped(to: rows)
        guard width > 0, !columns.isEmpty else { return [] }
        let edges = (columns.lowerBound..<columns.upperBound + 1).map { column in
            Place((Double(column) - origin.x) / scale, limit: width)
        }
        var dots: [Dot] = []
        for row in rows {
            let top = (Double(row) - origin.y) / scale
            let ink = ink(between: top, and: top + 1 / scale, at: edges)
            for (index, column) in columns.enumerated() {
                let share = Int((ink[index + 1] - ink[index]) * scale * scale * 256 + 0.5)
                if share > 0 { dots.append(Dot(x: column, y: row, share: min(share, 256))) }
            }
        }
        return dots
    }

    /// How much ink between two heights lies to the left of each of the edges.
    private func ink(between top: Double, and bottom: Double, at edges: [Place]) -> [Double] {
        let upper = Place(top, limit: Font.height)
        let lower = Place(bottom, limit: Font.height)
        guard let first = edges.first, let last = edges.last else { return [] }
        let profile = (first.index..<last.index + 2).map { column in
            lower.between(sums[lower.index][column], sums[lower.index + 1][column])
                - upper.between(sums[upper.index][column], sums[upper.index + 1][column])
        }
        return edges.map { edge in
            edge.between(profile[edge.index - first.index], profile[edge.index - first.index + 1])
        }
    }

    /// The whole pixels that a stretch touches.
    private static func touched(from start: Double, length: Double) -> Range<Int> {
        Int(start.rounded(.down))..<Int((start + length).rounded(.up))
    }

    private static func sum(of row: [Bool], below above: [Double]) -> [Double] {
        var sums = [0.0]
        var ink = 0.0
        for (index, isInked) in row.enumerated() {
            ink += isInked ? 1 : 0
            sums.append(above[index + 1] + ink)
        }
        return sums
    }
}

/// A place along the text: a font pixel, and how far into it.
private struct Place {
    let index: Int
    let share: Double

    init(_ place: Double, limit: Int) {
        let inside = max(0, min(Double(limit), place))
        index = min(Int(inside), limit - 1)
        share = inside - Double(index)
    }

    func between(_ before: Double, _ after: Double) -> Double { before + (after - before) * share }
}
