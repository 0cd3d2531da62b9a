// Tests the dots of letters: their total coverage, their places and their scale.

import Testing

@testable import bounce

@Suite struct LetteringTests {
    private let wide = -1000..<1000

    @Test func onlyPrintableASCIIHasGlyphs() {
        let printable = (UInt8(32)...126).map { Font.glyph(for: Character(Unicode.Scalar($0))) }
        #expect(Set(printable).count == 95)
        #expect(printable.allSatisfy { $0.count == Font.height && (1...5).contains($0[0].count) })
        let box = Font.glyph(for: "é")
        #expect(!printable.contains(box))
        for character in ["\u{7F}", "\n", "漢", "👩‍👩‍👧"] as [Character] { #expect(Font.glyph(for: character) == box) }
    }

    @Test(arguments: ["I", "Tweaks", "gÄ~", " "]) func atScale1TheDotsAreTheGlyphs(text: String) {
        let rows = picture(of: text).split(separator: "\n")
        let glyphs = text.map(Font.glyph(for:))
        for (row, line) in rows.enumerated() {
            #expect(line == glyphs.map { String($0[row].map { $0 ? "█" : "·" }) }.joined(separator: "·"))
        }
    }

    @Test func theGlyphsOfHiAreDrawn() {
        #expect(
            picture(of: "Hi") == """
                █···█··█·
                █···█····
                █···█·██·
                █████··█·
                █···█··█·
                █···█··█·
                █···█·███
                ·········
                """)
    }

    @Test(arguments: [0.3, 0.5, 1, 1.7, 2, 12.25]) func theCoverageIsProportionalToTheArea(scale: Double) {
        let lettering = Lettering("Tweaks!")
        func coverage(at origin: Vector, _ scale: Double) -> Double {
            let dots = lettering.dots(at: origin, scale: scale, columns: wide, rows: wide)
            return dots.map { Double($0.share) }.reduce(0, +) / 256 / scale / scale
        }
        let expected = coverage(at: .zero, 1)
        for origin in [Vector(0, 0), Vector(0.25, -7.4), Vector(-20.9, 3.5)] {
            #expect(abs(coverage(at: origin, scale) - expected) < expected * 0.02)
        }
    }

    @Test func dotsAreLimitedToTheWindow() {
        let dots = Lettering(String(repeating: "W", count: 120)).dots(
            at: Vector(-300, -60), scale: 15, columns: 0..<20, rows: 0..<10)
        #expect(!dots.isEmpty && dots.allSatisfy { (0..<20).contains($0.x) && (0..<10).contains($0.y) })
        #expect(Lettering("").dots(at: Vector(0.5, 0.5), scale: 3, columns: wide, rows: wide) == [])
    }

    /// The picture at scale 1, with a mark for each dot.
    private func picture(of text: String) -> String {
        let lettering = Lettering(text)
        let dots = lettering.dots(at: .zero, scale: 1, columns: wide, rows: wide)
        var rows = Array(repeating: Array(repeating: Character("·"), count: lettering.width), count: Font.height)
        for dot in dots { rows[dot.y][dot.x] = dot.share == 256 ? "█" : "?" }
        return rows.map { String($0) }.joined(separator: "\n")
    }
}
