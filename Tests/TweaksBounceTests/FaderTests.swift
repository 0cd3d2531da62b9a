// Colours cross over in their time, also when they change their mind on the way.

import Testing
import Tweaks

@testable import bounce

@Suite("Colours")
struct FaderTests {
    private let black = Paint(TweakColor.black)
    private let white = Paint(TweakColor.white)

    @Test func theFirstColourIsThereAtOnce() {
        var fader = Fader()
        #expect(fader.follow(white, for: 0, fade: 5) == white)
    }

    @Test func aNewColourComesInItsTime() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2)
        let reds = (1...5).map { _ in fader.follow(white, for: 0.5, fade: 2).x }
        #expect(reds == [15.9375, 127.5, 239.0625, 255, 255])
    }

    @Test func aChangeOnTheWayDoesNotJump() {
        var fader = Fader()
        _ = fader.follow(black, for: 0, fade: 2)
        let half = fader.follow(white, for: 1, fade: 2)
        #expect(fader.follow(black, for: 0, fade: 2) == half)
        #expect(fader.follow(black, for: 2, fade: 2) == black)
    }

    @Test func withoutFadeItIsThereAtOnce() {
        var fader = Fader()
        _ = fader.follow(black, for: 1, fade: 0)
        #expect(fader.follow(white, for: 0, fade: 0) == white)
    }

    @Test("The letters of each palette can be read", arguments: Palette.all.indices)
    func palettes(index: Int) {
        func brightness(_ color: TweakColor) -> Int {
            (Int(color.red8) * 3 + Int(color.green8) * 6 + Int(color.blue8)) / 10
        }
        let palette = Palette.all[index]
        #expect(abs(brightness(palette.foreground) - brightness(palette.background)) > 100)
    }
}
