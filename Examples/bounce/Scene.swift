// One frame after another: reads the tweaks, moves the label, and draws it.

import Foundation
import TweaksDaemon

/// The label, its ghosts, and the line below them. It needs no terminal: time goes in, frames come out.
struct Scene {
    private(set) var motion = Motion()
    private var foreground = Fader()
    private var background = Fader()
    private var lettering = Lettering("")
    /// Where the label was, newest first: this is where its ghosts are.
    private var past: [Vector] = []

    private static let framesPerGhost = 3

    /// Lets `seconds` pass and answers what a terminal of that size shows then.
    mutating func frame(columns: Int, rows: Int, after seconds: Double, status: String) -> Frame {
        if lettering.text != Look.text.value { lettering = Lettering(Look.text.value) }
        let fade = Look.fade.value / .seconds(1)
        let ink = foreground.follow(Paint(Look.foreground.value), for: seconds, fade: fade)
        let ground = background.follow(Paint(Look.background.value), for: seconds, fade: fade)
        let backdrop = Pixel.black.mixed(with: ground.pixel, Int(ground.opacity * 256))

        // A terminal of one or two rows is all picture.
        let hasStatus = rows > 2
        var canvas = Canvas(width: columns, height: (hasStatus ? rows - 1 : rows) * 2, color: backdrop)
        move(for: seconds, in: canvas)
        draw(ink, on: &canvas)
        let muted = backdrop.mixed(with: backdrop.contrast, 150)
        let line = Frame.Status(text: status, color: muted, background: backdrop)
        return Frame(canvas: canvas, status: hasStatus ? line : nil)
    }

    /// Brings the label back to the middle.
    mutating func recenter() { motion.recenter() }

    private mutating func move(for seconds: Double, in canvas: Canvas) {
        let label = Vector(Double(lettering.width), Double(Font.height)) * scale
        let course = Motion.Course(
            room: Vector(Double(canvas.width), Double(canvas.height)) - label,
            speed: Look.speed.value, gravity: Look.gravity.value, easing: Look.easing.value)
        motion.advance(seconds, on: course, paused: Look.paused.value)
        past = [motion.position] + past.prefix(Look.trail.value * Self.framesPerGhost)
    }

    /// The letters are worked out once; each ghost is a copy of them, a whole number of pixels away.
    private func draw(_ ink: Paint, on canvas: inout Canvas) {
        let steps = stride(from: 0, to: past.count, by: Self.framesPerGhost).map { age in
            let way = (past[age] - motion.position).rounded(.toNearestOrEven)
            return Step(x: Int(way.x), y: Int(way.y))
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

    /// Where a dot must be so that one of the steps takes it onto the canvas.
    private static func window(_ length: Int, _ steps: [Int]) -> Range<Int> {
        -(steps.max() ?? 0)..<length - (steps.min() ?? 0)
    }

    private var scale: Double { Look.size.value / Double(Font.height) }
}
