// Tests crossfades between colors.

import Testing
import Tweaks

@testable import bounce

@Suite struct FaderTests {
    private let black = RGBA(TweakColor.black)
    private let white = RGBA(TweakColor.white)

    @Test func theFirstColorAndColorsWithoutAFadeAppearAtOnce() {
        var fader = Fader()
        #expect(fader.follow(white, for: 0, fade: 5) == white)
        #expect(fader.follow(black, for: 0, fade: 0) == black)
    }

    @Test func aFadeIsSmoothAndTakesTheGivenTime() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2)
        let reds = (1...5).map { _ in fader.follow(white, for: 0.5, fade: 2).x }
        #expect(reds == [15.9375, 127.5, 239.0625, 255, 255])
    }

    @Test func aNewColorDuringAFadeStartsAtTheCurrentOne() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2)
        let half = fader.follow(white, for: 1, fade: 2)
        #expect(fader.follow(black, for: 0, fade: 2) == half)
        #expect(fader.follow(black, for: 2, fade: 2) == black)
    }

    @Test(arguments: Palette.all.indices) func theLettersOfEachPaletteAreReadable(index: Int) {
        func brightness(_ color: TweakColor) -> Int {
            (Int(color.red8) * 3 + Int(color.green8) * 6 + Int(color.blue8)) / 10
        }
        let palette = Palette.all[index]
        #expect(abs(brightness(palette.foreground) - brightness(palette.background)) > 100)
    }
}
