// Rasterizes a line of text at any position and size, with subpixel accuracy.

/// Text in the bitmap font, as a summed-area table.
///
/// Each entry is the ink above and to the left of that corner. The ink in a rectangle of any size is then a sum and
/// difference of four entries. So the coverage of each screen pixel is exact, and both motion and scaling are smooth.
struct Lettering {
    let text: String
    /// The width in pixels of the font.
    let width: Int
    private let sums: [[Double]]

    /// Rasterizes at most `limit` characters, one font pixel apart.
    init(_ text: String, limit: Int = 120) {
        let glyphs = text.prefix(limit).map(Font.glyph(for:))
        let rows = (0..<Font.height).map { row in Array(glyphs.map { $0[row] }.joined(separator: [false])) }
        self.text = text
        width = rows[0].count
        sums = rows.reduce(into: [Array(repeating: 0, count: width + 1)]) { sums, row in
            sums.append(Self.sum(of: row, below: sums[sums.count - 1]))
        }
    }

    /// The screen pixels that it covers with its upper left corner at `origin`, clipped to `columns` and `rows`.
    func dots(at origin: Vector, scale: Double, columns: Range<Int>, rows: Range<Int>) -> [Dot] {
        let columns = Self.covered(from: origin.x, length: Double(width) * scale).clamped(to: columns)
        let rows = Self.covered(from: origin.y, length: Double(Font.height) * scale).clamped(to: rows)
        guard width > 0, !columns.isEmpty else { return [] }
        let edges = (columns.lowerBound..<columns.upperBound + 1).map { column in
            Coordinate((Double(column) - origin.x) / scale, limit: width)
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

    /// The ink between two heights to the left of each edge.
    private func ink(between top: Double, and bottom: Double, at edges: [Coordinate]) -> [Double] {
        let upper = Coordinate(top, limit: Font.height)
        let lower = Coordinate(bottom, limit: Font.height)
        guard let first = edges.first, let last = edges.last else { return [] }
        let profile = (first.index..<last.index + 2).map { column in
            lower.interpolate(sums[lower.index][column], sums[lower.index + 1][column])
                - upper.interpolate(sums[upper.index][column], sums[upper.index + 1][column])
        }
        return edges.map { edge in
            edge.interpolate(profile[edge.index - first.index], profile[edge.index - first.index + 1])
        }
    }

    /// The whole pixels that an interval overlaps.
    private static func covered(from start: Double, length: Double) -> Range<Int> {
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

/// A coordinate in the text: the index of a font pixel, and the fraction within it.
private struct Coordinate {
    let index: Int
    let fraction: Double

    init(_ value: Double, limit: Int) {
        let clamped = max(0, min(Double(limit), value))
        index = min(Int(clamped), limit - 1)
        fraction = clamped - Double(index)
    }

    func interpolate(_ before: Double, _ after: Double) -> Double { before + (after - before) * fraction }
}
