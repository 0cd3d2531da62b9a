// Renders frames: reads the tweaks, moves the label, and draws it.

import Foundation
import TweaksDaemon

/// The label, its ghosts, and the status line. It needs no terminal: it turns elapsed time into frames.
struct Scene {
    private(set) var motion = Motion()
    private var foreground = Fader()
    private var background = Fader()
    private var lettering = Lettering("")
    /// Past positions of the label, newest first: the positions of its ghosts.
    private var past: [Vector] = []

    private static let framesPerGhost = 3

    /// Advances by `seconds` and returns the frame for a terminal of that size.
    mutating func frame(columns: Int, rows: Int, after seconds: Double, status: String) -> Frame {
        if lettering.text != Look.text.value { lettering = Lettering(Look.text.value) }
        let fade = Look.fade.value / .seconds(1)
        let curve = Look.fadeCurve.value
        let ink = foreground.follow(RGBA(Look.foreground.value), for: seconds, fade: fade, curve: curve)
        let ground = background.follow(RGBA(Look.background.value), for: seconds, fade: fade, curve: curve)
        let backdrop = Pixel.black.mixed(with: ground.pixel, Int(ground.opacity * 256))

        // A terminal of one or two rows has no status line.
        let hasStatus = rows > 2
        var canvas = Canvas(width: columns, height: (hasStatus ? rows - 1 : rows) * 2, color: backdrop)
        move(for: seconds, in: canvas)
        draw(ink, on: &canvas)
        let muted = backdrop.mixed(with: backdrop.contrast, 150)
        let line = Frame.Status(text: status, color: muted, background: backdrop)
        return Frame(canvas: canvas, status: hasStatus ? line : nil)
    }

    /// Moves the label to the middle.
    mutating func recenter() { motion.recenter() }

    private mutating func move(for seconds: Double, in canvas: Canvas) {
        let label = Vector(Double(lettering.width), Double(Font.height)) * scale
        let course = Motion.Course(
            room: Vector(Double(canvas.width), Double(canvas.height)) - label,
            speed: Look.speed.value, gravity: Look.gravity.value, easing: Look.easing.value)
        motion.advance(seconds, on: course, paused: Look.paused.value)
        past = [motion.position] + past.prefix(Look.trail.value * Self.framesPerGhost)
    }

    /// Rasterizes the letters once; each ghost is a copy, moved by whole pixels.
    private func draw(_ ink: RGBA, on canvas: inout Canvas) {
        let steps = stride(from: 0, to: past.count, by: Self.framesPerGhost).map { age in
            let distance = (past[age] - motion.position).rounded(.toNearestOrEven)
            return Step(x: Int(distance.x), y: Int(distance.y))
        }
        let shadow = Step(x: Int(Look.shadow.value.x), y: Int(Look.shadow.value.y))
        let dots = lettering.dots(
            at: motion.position, scale: scale,
            columns: Self.window(canvas.width, (steps + [shadow]).map(\.x)),
            rows: Self.window(canvas.height, (steps + [shadow]).map(\.y)))
        let alpha = Look.alpha.value * ink.opacity
        if shadow != Step() { canvas.draw(dots, movedBy: shadow, color: .black, alpha: alpha * 0.5) }
        for (ghost, step) in steps.enumerated().reversed() {
            let strength = ghost == 0 ? 1 : 0.35 * pow(1 - Double(ghost) / Double(Look.trail.value + 1), 1.5)
            canvas.draw(dots, movedBy: step, color: ink.pixel, alpha: alpha * strength)
        }
    }

    /// The range of dots that at least one of the steps moves onto the canvas.
    private static func window(_ length: Int, _ steps: [Int]) -> Range<Int> {
        -(steps.max() ?? 0)..<length - (steps.min() ?? 0)
    }

    private var scale: Double { Look.size.value / Double(Font.height) }
}
