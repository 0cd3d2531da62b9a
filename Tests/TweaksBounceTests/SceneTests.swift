// Tests the effect of each tweak on whole frames.

import Testing
import Tweaks

@testable import bounce

/// Serialized, as all tests share the tweaks of the process.
@Suite(.serialized) struct SceneTests {
    /// White on black, paused, no trail, one pixel for each pixel of the font.
    init() {
        (Look.text.value, Look.size.value) = ("I", 8)
        (Look.foreground.value, Look.background.value, Look.alpha.value) = (.white, .black, 1)
        (Look.fade.value, Look.trail.value, Look.paused.value) = (.zero, 0, true)
    }

    private func picture(_ scene: inout Scene, columns: Int = 20, rows: Int = 9, after seconds: Double = 0) -> Canvas {
        scene.frame(columns: columns, rows: rows, after: seconds, status: "").canvas
    }

    private func lit(_ canvas: Canvas) -> Int { canvas.pixels.count { $0 != .black } }

    @Test func textSizeAndColorsAreVisible() {
        var scene = Scene()
        let first = picture(&scene)
        #expect(lit(first) == 11)
        #expect(Set(first.pixels.map(\.red)) == [0, 255])
        Look.size.value = 16
        #expect(lit(picture(&scene)) == 44)
        Look.text.value = "II"
        #expect(lit(picture(&scene)) == 88)
        Look.background.value = TweakColor(red8: 10, green8: 20, blue8: 30)
        #expect(picture(&scene).pixels.contains(Pixel(red: 10, green: 20, blue: 30)))
        Look.background.value = TweakColor(red8: 100, green8: 100, blue8: 100, alpha8: 0)
        #expect(picture(&scene).pixels.contains(.black))
    }

    @Test func alphaBlendsOverTheBackground() {
        var scene = Scene()
        Look.alpha.value = 0.5
        #expect(Set(picture(&scene).pixels.map(\.red)) == [0, 127])
        Look.foreground.value = TweakColor(red8: 255, green8: 255, blue8: 255, alpha8: 128)
        #expect(Set(picture(&scene).pixels.map(\.red)) == [0, 63])
        Look.alpha.value = 0
        #expect(lit(picture(&scene)) == 0)
    }

    @Test func aNewColorFadesIn() {
        var scene = Scene()
        _ = picture(&scene)
        Look.fade.value = .seconds(1)
        Look.background.value = .white
        let corner = (0..<5).map { _ in picture(&scene, after: 0.25).pixels[19].red }
        #expect(corner == [32, 127, 222, 255, 255])
    }

    @Test func aTrailFadesWhenTheLabelRests() {
        var scene = Scene()
        (Look.paused.value, Look.trail.value) = (false, 4)
        for _ in 0..<30 { _ = picture(&scene, after: 1 / 60) }
        #expect(Set(picture(&scene, after: 1 / 60).pixels.map(\.red)).count > 5)
        Look.paused.value = true
        for _ in 0..<300 { _ = picture(&scene, after: 1 / 60) }
        let trailing = lit(picture(&scene))
        Look.trail.value = 0
        #expect(lit(picture(&scene)) == trailing)
    }

    @Test func aPausedSceneRestsAndRecenteringMovesToTheMiddle() {
        var scene = Scene()
        let first = picture(&scene)
        #expect(picture(&scene, after: 1) == first)
        scene.recenter()
        for _ in 0..<600 { _ = picture(&scene, after: 1 / 60) }
        #expect(abs(scene.motion.position.x - 8.5) < 1 && abs(scene.motion.position.y - 4) < 1)
    }

    @Test(arguments: [(1, 1), (2, 2), (10, 4), (300, 90)]) func framesFillTheTerminal(columns: Int, rows: Int) {
        var scene = Scene()
        (Look.text.value, Look.size.value, Look.paused.value) = ("Tweaks", 120, false)
        for _ in 0..<10 {
            let frame = scene.frame(columns: columns, rows: rows, after: 0.1, status: "status")
            #expect(frame.canvas.width == columns)
            #expect(frame.canvas.height / 2 + (frame.status == nil ? 0 : 1) == rows)
        }
    }

    @Test func encodedFramesShowTheScene() {
        var scene = Scene()
        var encoder = FrameEncoder()
        var terminal = FakeTerminal(columns: 30, rows: 10)
        (Look.text.value, Look.trail.value, Look.paused.value) = ("Tweaks", 8, false)
        for _ in 0..<100 {
            let frame = scene.frame(columns: 30, rows: 10, after: 1 / 60, status: "nc 127.0.0.1 7777")
            terminal.feed(encoder.encode(frame))
            #expect(terminal.pixels(rows: 9) == frame.canvas.pixels)
        }
        #expect(terminal.text(row: 9).hasPrefix("nc 127.0.0.1 7777"))
        #expect(terminal.errors == [])
    }
}
