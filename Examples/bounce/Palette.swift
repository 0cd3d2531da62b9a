// Defines matching pairs of colors for the action “Surprise me”.

import TweaksDaemon

/// A color for the letters and one for the background.
struct Palette: Equatable {
    let foreground: TweakColor
    let background: TweakColor

    private init(_ foreground: UInt32, on background: UInt32) {
        self.foreground = TweakColor(foreground)
        self.background = TweakColor(background)
    }

    static let all = [
        Palette(0xFFC46B, on: 0x1B1436), Palette(0x7CF5C8, on: 0x0B2530), Palette(0xFF7A8A, on: 0x2A0F24),
        Palette(0x1D2B53, on: 0xFFE8C7), Palette(0xE8F1FF, on: 0x2E5BFF), Palette(0x2B0A3D, on: 0xFF9E7D),
        Palette(0xC3FF5B, on: 0x16241A), Palette(0xB79CFF, on: 0x14122B), Palette(0x0E3B43, on: 0x9FE7D7),
        Palette(0xFFF3B0, on: 0xC1355B), Palette(0x6FD3FF, on: 0x101A3A), Palette(0x3A1C12, on: 0xF6C453),
    ]
}
