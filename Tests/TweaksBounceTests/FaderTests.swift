// Tests crossfades between colors.

import Testing
import Tweaks

@testable import bounce

@Suite struct FaderTests {
    private let black = RGBA(TweakColor.black)
    private let white = RGBA(TweakColor.white)

    @Test func theFirstColorAndColorsWithoutAFadeAppearAtOnce() {
        var fader = Fader()
        #expect(fader.follow(white, for: 0, fade: 5, curve: .linear) == white)
        #expect(fader.follow(black, for: 0, fade: 0, curve: .linear) == black)
    }

    @Test func aFadeFollowsTheCurveAndTakesTheGivenTime() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2, curve: .linear)
        let reds = (1...5).map { _ in fader.follow(white, for: 0.5, fade: 2, curve: .linear).x }
        #expect(reds == [63.75, 127.5, 191.25, 255, 255])
    }

    /// A channel has no place for more.
    @Test func aCurveThatOvershootsStaysWithinTheChannels() {
        var fader = Fader()
        let curve = TweakCurve(0, 9, 1, -9)
        _ = fader.follow(black, for: 0, fade: 1, curve: curve)
        let reds = (1..<20).map { _ in fader.follow(white, for: 0.05, fade: 1, curve: curve).x }
        #expect(reds.max() == 255 && reds.min() == 0)
    }

    @Test func aNewColorDuringAFadeStartsAtTheCurrentOne() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2, curve: .linear)
        let half = fader.follow(white, for: 1, fade: 2, curve: .linear)
        #expect(fader.follow(black, for: 0, fade: 2, curve: .linear) == half)
        #expect(fader.follow(black, for: 2, fade: 2, curve: .linear) == black)
    }

    @Test(arguments: Palette.all.indices) func theLettersOfEachPaletteAreReadable(index: Int) {
        func brightness(_ color: TweakColor) -> Int {
            (Int(color.red8) * 3 + Int(color.green8) * 6 + Int(color.blue8)) / 10
        }
        let palette = Palette.all[index]
        #expect(abs(brightness(palette.foreground) - brightness(palette.background)) > 100)
    }
}
