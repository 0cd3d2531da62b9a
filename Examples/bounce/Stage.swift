// The performance: actions that change the scene, and the clock that keeps it moving.

import Foundation
import TweaksDaemon

/// Owns the scene. Frames, keys and actions take turns on the main actor, so that none of them needs a lock.
@MainActor
final class Stage {
    private var scene = Scene()
    private var encoder = FrameEncoder()
    private var showsPanel = false
    private var meter = FrameMeter()

    /// Declares the actions: a closure made on an actor runs there, also when somebody far away calls for it.
    init() {
        tweakAction("Label", "Motion", "Recenter", help: "Brings the label back to the middle") { _ in
            self.scene.recenter()
            return "recentred"
        }
        tweakAction(
            "Label", "Color", "Surprise me",
            arguments: [.init("pair", .int, in: 0...Palette.all.count, default: 0, help: "Which one; 0: any other")],
            help: "Picks a pair of colours"
        ) { arguments in
            try self.surprise(arguments["pair"])
        }
    }

    /// Draws on the terminal, 60 times a second, until it is cancelled or somebody presses q.
    /// - Parameters:
    ///   - hint: How to connect, for the line below the picture.
    ///   - panel: The address of the panel, which stands there when somebody presses p.
    func perform(hint: StatusLine, panel: String?) async {
        Terminal.enter()
        defer { Terminal.leave() }
        let clock = ContinuousClock()
        let interval = Duration.seconds(1) / 60
        var shown = clock.now
        while !Task.isCancelled, Terminal.isOurs, obeyKeys() {
            let link = showsPanel ? panel : nil
            let next = max(shown + interval, clock.now - interval)
            // Waiting, not blocking: this is when actions and bindings get their turn.
            try? await clock.sleep(until: next, tolerance: .zero)
            draw(after: (next - shown) / .seconds(1), hint: hint, link: link)
            shown = next
        }
    }

    /// Lets the shell have the terminal until it calls us back.
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
        // The panel's address stands alone, so that it fits into 80 columns.
        let status = link.map { " \($0)" } ?? hint.text(on: (columns, rows), rate: rate)
        // After a long stop the label goes on from where it was.
        let frame = scene.frame(columns: columns, rows: rows, after: min(seconds, 0.1), status: status)
        Terminal.write(encoder.encode(frame))
    }

    /// Space pauses, r recentres, s surprises, p shows where the panel is; false when it was q.
    private func obeyKeys() -> Bool {
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

    /// Both colours in one commit: nobody ever sees one without the other.
    /// - Parameter number: Which pair, counted from 1; 0: any other than the one that shows.
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

/// Counts frames, and publishes once a second how many there were.
private struct FrameMeter {
    private var frames = 0.0
    private var passed = 0.0

    mutating func count(_ seconds: Double) {
        frames += 1
        passed += seconds
        guard passed >= 1 else { return }
        Look.framesPerSecond.value = (frames / passed * 10).rounded() / 10
        (frames, passed) = (0, 0)
    }
}
