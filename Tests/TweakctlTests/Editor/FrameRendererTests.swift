// Tests that frames are drawn with few bytes, and that the terminal then shows the frame.

import Testing
import Tweaks
import TweaksTestSupport

@testable import tweakctl

@Suite struct FrameRendererTests {
    private static let palettes = [Palette.Depth.none, .eight, .sixteen, .indexed, .full].map {
        Palette(depth: $0, hasBlocks: true)
    }

    private func frame(_ lines: [String], columns: Int = 10, cursor: Frame.Cursor? = nil) -> Frame {
        Frame(lines: lines.map { StyledLine($0).fitted(to: columns) }, columns: columns, cursor: cursor)
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "␛")
    }

    @Test func onlyChangedLinesAreDrawn() {
        var renderer = FrameRenderer(palette: Self.palettes[0])
        #expect(text(renderer.bytes(for: frame(["one", "two"]))) == "␛[0m␛[2J␛[1;1Hone␛[K␛[2;1Htwo␛[K")
        #expect(renderer.bytes(for: frame(["one", "two"])).isEmpty)
        #expect(text(renderer.bytes(for: frame(["one", "2"]))) == "␛[2;1H2␛[K")
        // Erasing at the last column would erase its character.
        #expect(text(renderer.bytes(for: frame(["0123456789", "2"]))) == "␛[1;1H0123456789")
        #expect(text(renderer.bytes(for: frame(["", "2"]))) == "␛[1;1H␛[K")
        renderer.forget()
        #expect(text(renderer.bytes(for: frame(["", "2"]))) == "␛[0m␛[2J␛[1;1H␛[K␛[2;1H2␛[K")
        #expect(text(renderer.bytes(for: frame(["a"]))).hasPrefix("␛[0m␛[2J"))
    }

    @Test func theCursorIsHiddenWhileLinesAreDrawn() {
        var renderer = FrameRenderer(palette: Self.palettes[0])
        _ = renderer.bytes(for: frame(["one"]))
        #expect(text(renderer.bytes(for: frame(["one"], cursor: .init(row: 0, column: 2)))) == "␛[1;3H␛[?25h")
        #expect(
            text(renderer.bytes(for: frame(["two"], cursor: .init(row: 0, column: 3))))
                == "␛[?25l␛[1;1Htwo␛[K␛[1;4H␛[?25h")
        #expect(text(renderer.bytes(for: frame(["two"]))) == "␛[?25l")
    }

    @Test func colorsFitTheDepthOfTheTerminal() {
        var line = StyledLine(on: .selected)
        line.add("a", .strong)
        line.add("  ", swatch: TweakColor(red8: 255, green8: 0, blue8: 128))
        line.pad(to: 5)
        let expected = [
            "␛[0;7;1ma␛[0;7m    ␛[0m", "␛[0;37;44;1ma␛[0;37;44;45m  ␛[0;37;44m  ␛[0m",
            "␛[0;97;44;1ma␛[0;97;44;105m  ␛[0;97;44m  ␛[0m",
            "␛[0;38;5;231;48;5;24;1ma␛[0;38;5;231;48;5;24;48;5;198m  ␛[0;38;5;231;48;5;24m  ␛[0m",
            "␛[0;38;5;231;48;5;24;1ma␛[0;38;5;231;48;5;24;48;2;255;0;128m  ␛[0;38;5;231;48;5;24m  ␛[0m",
        ]
        for (palette, bytes) in zip(Self.palettes, expected) {
            var renderer = FrameRenderer(palette: palette)
            let shown = text(renderer.bytes(for: Frame(lines: [line], columns: 5)))
            #expect(shown.dropFirst("␛[0m␛[2J␛[1;1H".count) == bytes)
        }
    }

    @Test func withoutBlockCharactersTheScreenIsASCII() {
        var renderer = FrameRenderer(palette: Palette(depth: .none, hasBlocks: false))
        #expect(renderer.bytes(for: EditorHarness().frame(renderer.palette)).allSatisfy { $0 < 0x80 })
    }

    @Test(
        arguments: [
            ("xterm", "", nil, 8, Palette.Depth.eight), ("xterm-256color", "", nil, 256, .indexed),
            ("xterm-16color", "", nil, 16, .sixteen), ("rxvt-88color", "", nil, 88, .sixteen),
            ("tmux-256color", "truecolor", nil, 256, .full), ("xterm-mono", "", nil, 0, .none),
            ("kitty-direct", "", nil, 32_767, .full), ("some", "", nil, 1 << 24, .full),
            ("xterm-256color", "24bit", "1", 256, .none), ("vt100", "truecolor", nil, 0, .none),
            ("dumb", "truecolor", nil, 256, .none),
            // Without an entry the name must suffice.
            ("new", "", nil, nil, .sixteen), ("new-256color", "", nil, nil, .indexed),
            ("new-direct", "", nil, nil, .full),
        ] as [(String, String, String?, Int?, Palette.Depth)])
    func theTerminalSetsTheDepth(
        _ term: String, _ colorTerm: String, _ noColor: String?, _ colors: Int?, _ depth: Palette.Depth
    ) {
        #expect(Palette.depth(term: term, colorTerm: colorTerm, noColor: noColor, colors: colors) == depth)
    }

    /// Eight colors are 30 to 47; the bright ones may be invisible there.
    @Test func aTerminalWithEightColorsGetsNoOthers() {
        let harness = EditorHarness(keys: "jjc")
        var renderer = FrameRenderer(palette: Palette(depth: .eight, hasBlocks: true))
        var emulator = ScreenEmulator(columns: 80, rows: 24)
        emulator.feed(renderer.bytes(for: harness.frame(renderer.palette)))
        let codes = emulator.attributes.compactMap { Int($0) }
        #expect(codes.contains { (40...47).contains($0) } && codes.allSatisfy { $0 < 48 && $0 != 38 })
    }

    /// With wide characters and combining marks.
    @Test(arguments: 0..<20) func theTerminalShowsEachFrameAfterAnyOther(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var renderer = FrameRenderer(palette: Self.palettes[Int(seed) % Self.palettes.count])
        var emulator = ScreenEmulator(columns: 12, rows: 4)
        let pieces = ["a", "  ", "日本", "e\u{301}", "…", "long text", "😀", ""]
        for _ in 0..<50 {
            let lines = (0..<4).map { _ -> StyledLine in
                var line = StyledLine(on: Bool.random(using: &random) ? .none : .selected)
                for _ in 0..<3 {
                    let role: Role = Bool.random(using: &random) ? .faint : .field
                    line.add(pieces.randomElement(using: &random) ?? "", role)
                }
                return line.fitted(to: 12)
            }
            let frame = Frame(lines: lines, columns: 12)
            emulator.feed(renderer.bytes(for: frame))
            #expect(emulator.text == frame.text && emulator.unknown.isEmpty)
            #expect(lines.allSatisfy { $0.width == 12 })
        }
    }
}
