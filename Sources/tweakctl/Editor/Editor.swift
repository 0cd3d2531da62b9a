// Runs the full-screen editor: feeds keys, answers, signals and time into the model, and draws frames.

import Tweaks
import TweaksSystem

/// One editing session with one process.
struct Editor {
    private var model: EditorModel
    private var renderer = FrameRenderer(palette: .own)
    private var decoder = KeyDecoder()
    private var link: EditorLink
    private var signals: Int32 = -1
    private var drawnAt: ContinuousClock.Instant?
    private var hasChanged = true
    private var hasQuit = false

    /// The minimum time between frames for changes by others.
    private static let frameTime = Duration.milliseconds(33)

    /// Whether the terminal supports the editor.
    static var isPossible: Bool {
        System.isTerminal(0) && System.isTerminal(1) && System.variable("TERM") ?? "dumb" != "dumb"
    }

    init(_ target: Target) throws(Failure) {
        link = EditorLink(target, try target.open())
        model = EditorModel(
            name: target.name, place: target.address.text, size: Terminal.size, now: ContinuousClock.now,
            wallTime: ThisProcess.wallClock)
    }

    /// Runs until the user quits or the terminal closes.
    /// - Throws: If the server has not proved that it knows the token.
    mutating func run() throws(Failure) -> ExitCode {
        signals = EditorSignals.install() ?? -1
        Terminal.enterFullScreen()
        defer { Terminal.leaveRaw() }
        model.connected()
        while !hasQuit {
            performEffects()
            if hasQuit { break }
            drawWhenDue()
            guard processInput() else { break }
            if let failure = link.failure { throw failure }
        }
        return .ok
    }

    // MARK: Event loop

    /// Waits for input, and processes it.
    /// - Returns: False when the terminal is closed.
    private mutating func processInput() -> Bool {
        let ready = System.wait([(0, .read), link.awaited, (signals, .read)], milliseconds: waitingTime)
        model.now = ContinuousClock.now
        model.wallTime = ThisProcess.wallClock
        if ready[2].canRead { handleSignals(EditorSignals.received(signals)) }
        if ready[1].canWrite { link.sendSome() }
        if ready[1].canRead { receiveMessages() }
        if ready[0].canRead {
            guard let bytes = System.read(0), !bytes.isEmpty else { return false }
            press(decoder.decode(bytes))
        } else if decoder.isUndecided, let key = decoder.decide() {
            press([key])
        }
        if link.reconnect(now: model.now) {
            model.connected()
            hasChanged = true
        }
        tick()
        return true
    }

    private mutating func press(_ keys: [Key]) {
        for key in keys {
            model.press(key, on: renderer.palette)
            performEffects()
        }
        if !keys.isEmpty { (hasChanged, drawnAt) = (true, nil) }
    }

    private mutating func receiveMessages() {
        for arrival in link.receive(now: model.now) {
            switch arrival {
            case .answer(let answer, let kind): model.receive(answer, for: kind)
            case .event(let line): model.receive(event: line)
            case .remark(let text): model.showNotice(text, .bad)
            }
        }
        if link.hasEnded {
            link.disconnect(now: model.now)
            model.lost()
        }
        hasChanged = true
    }

    private mutating func tick() {
        model.isLate = link.lateAt.map { $0 <= model.now } ?? false
        model.tick()
    }

    /// Milliseconds until the next timed event; nil if there is none.
    private var waitingTime: Int32? {
        if decoder.isUndecided { return KeyDecoder.escapeTime }
        let late = model.isLate ? nil : link.lateAt
        let draw = hasChanged ? drawnAt.map { $0 + Self.frameTime } : nil
        guard let next = [model.deadline, link.retry, late, draw].compactMap(\.self).min() else { return nil }
        let milliseconds = (next - ContinuousClock.now) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), 60_000))
    }

    // MARK: Effects

    private mutating func performEffects() {
        for effect in model.takeEffects() {
            switch effect {
            case .send(let lines, let kind, let answer): link.send(lines, kind, answer: answer, now: model.now)
            case .redraw: renderer.forget()
            case .suspend: suspend()
            case .quit: hasQuit = true
            }
        }
    }

    private mutating func suspend() {
        Terminal.leaveRaw()
        EditorSignals.stop()
        resume()
    }

    /// Redraws everything: the terminal's size and content may have changed.
    private mutating func resume() {
        Terminal.enterFullScreen()
        model.size = Terminal.size
        model.scroll()
        renderer.forget()
        hasChanged = true
        drawnAt = nil
    }

    private mutating func handleSignals(_ numbers: Set<Int32>) {
        if numbers.contains(SIGTSTP) {
            model.suspend()
            performEffects()
        } else if numbers.contains(SIGCONT) || numbers.contains(SIGWINCH) {
            resume()
        }
    }

    /// Draws key presses at once, and changes by others at a limited frame rate.
    private mutating func drawWhenDue() {
        if let drawnAt, drawnAt + Self.frameTime > ContinuousClock.now { return }
        let bytes = renderer.bytes(for: EditorScreen(model, renderer.palette).frame)
        if !bytes.isEmpty { System.write(bytes, to: 1) }
        hasChanged = false
        drawnAt = ContinuousClock.now
    }
}
