// Runs the animation: draws frames, handles keys, and declares the actions.

import Foundation
import TweaksDaemon

/// Owns the scene. Frames, keys and actions run on the main actor, so that none of them needs a lock.
@MainActor
final class AnimationLoop {
    private var scene = Scene()
    private var encoder = FrameEncoder()
    private var showsPanel = false
    private var meter = FrameMeter()

    /// Declares the actions; a closure created on an actor runs there, also when a client runs the action.
    init() {
        tweakAction("Label", "Motion", "Recenter", help: "Brings the label back to the middle") { _ in
            self.scene.recenter()
            return "recentered"
        }
        tweakAction(
            "Label", "Color", "Surprise me",
            arguments: [.init("pair", .int, in: 0...Palette.all.count, default: 0, help: "Which one; 0: any other")],
            help: "Picks a pair of colors"
        ) { arguments in
            try self.surprise(arguments["pair"])
        }
    }

    /// Draws on the terminal, 60 times a second, until the task is canceled or q is pressed.
    /// - Parameters:
    ///   - hint: The status line.
    ///   - panel: The address of the panel, which p shows in the status line; it changes once its code is used.
    func run(hint: StatusLine, panel: () -> String?) async {
        Terminal.enter()
        defer { Terminal.leave() }
        let clock = ContinuousClock()
        let interval = Duration.seconds(1) / 60
        var shown = clock.now
        while !Task.isCancelled, Terminal.isActive, handleKeys() {
            let link = showsPanel ? panel() : nil
            let next = max(shown + interval, clock.now - interval)
            // Suspends the task without blocking the main actor, so that actions and bindings run.
            try? await clock.sleep(until: next, tolerance: .zero)
            draw(after: (next - shown) / .seconds(1), hint: hint, link: link)
            shown = next
        }
    }

    /// Stops the process and gives the terminal to the shell; redraws when the process continues.
    func suspend() {
        Terminal.leave()
        raise(SIGSTOP)
        Terminal.enter()
        encoder.forget()
    }

    private func draw(after seconds: Double, hint: StatusLine, link: String?) {
        meter.count(seconds)
        let (columns, rows) = Terminal.size
        let rate = Int(Look.framesPerSecond.value.rounded())
        // Only the panel's address, so that it fits into 80 columns.
        let status = link.map { " \($0)" } ?? hint.text(on: (columns, rows), rate: rate)
        // After a suspension the label continues from its last position.
        let frame = scene.frame(columns: columns, rows: rows, after: min(seconds, 0.1), status: status)
        Terminal.write(encoder.encode(frame))
    }

    /// Handles the pressed keys; false for q and Ctrl-D.
    private func handleKeys() -> Bool {
        for key in Terminal.keys() {
            switch key {
            case "q", "\u{4}": return false
            case " ": Look.paused.value.toggle()
            case "p": showsPanel.toggle()
            case "r": scene.recenter()
            case "s": _ = try? surprise()
            case "\u{C}": encoder.forget()
            default: break
            }
        }
        return true
    }

    /// Sets both colors in one commit, so that no reader sees only one of them changed.
    /// - Parameter number: The number of the pair, from 1; 0 for any except the current one.
    private func surprise(_ number: Int = 0) throws -> String {
        let others = Palette.all.filter { $0.foreground != Look.foreground.value }
        let choices = number == 0 ? others : [Palette.all[number - 1]]
        guard let palette = choices.randomElement() else { return "no surprise left" }
        try TweakRegistry.shared.commit(origin: .code) { batch in
            batch.set(Look.foreground, palette.foreground)
            batch.set(Look.background, palette.background)
        }
        return "\(palette.foreground) on \(palette.background)"
    }
}

/// Measures the frame rate and publishes it once a second.
private struct FrameMeter {
    private var frames = 0.0
    private var elapsed = 0.0

    mutating func count(_ seconds: Double) {
        frames += 1
        elapsed += seconds
        guard elapsed >= 1 else { return }
        Look.framesPerSecond.value = (frames / elapsed * 10).rounded() / 10
        (frames, elapsed) = (0, 0)
    }
}
