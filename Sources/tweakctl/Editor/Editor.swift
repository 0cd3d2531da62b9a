// The full-screen editor: keys, answers, signals and time go into the model, and frames come out.

import TweaksSystem
import Tweaks
import TweaksTerminal

/// One evening with one process.
struct Editor {
    private var model: EditorModel
    private var renderer = FrameRenderer(palette: .own)
    private var decoder = KeyDecoder()
    private var link: EditorLink
    private var signals: Int32 = -1
    private var drawnAt: ContinuousClock.Instant?
    private var hasChanged = true
    private var hasQuit = false

    /// So often what others do is drawn at most.
    private static let frameTime = Duration.milliseconds(33)
    /// So long an escape may be the beginning of something; a slow line splits sequences.
    private static let escapeTime: Int32 = 40

    /// Whether the terminal can show it.
    static var isPossible: Bool {
        System.isTerminal(0) && System.isTerminal(1) && System.variable("TERM") ?? "dumb" != "dumb"
    }

    init(_ target: Target) throws(Failure) {
        link = EditorLink(target, try target.open())
        model = EditorModel(
            name: target.name, place: target.address.text, size: Terminal.size, now: ContinuousClock.now)
    }

    /// Goes on until it is quit, or the terminal is gone.
    /// - Throws: Why not: the program there does not know the token.
    mutating func run() throws(Failure) -> ExitCode {
        signals = EditorSignals.begin() ?? -1
        Terminal.enterFullScreen()
        defer { Terminal.leaveRaw() }
        model.connected()
        while !hasQuit {
            act()
            if hasQuit { break }
            drawWhenDue()
            guard turn() else { break }
            if let failure = link.failure { throw failure }
        }
        return .ok
    }

    // MARK: One turn

    /// Waits for something, and takes it in.
    /// - Returns: False when the terminal is gone.
    private mutating func turn() -> Bool {
        let ready = System.wait([(0, .read), link.awaited, (signals, .read)], milliseconds: waitingTime)
        model.now = ContinuousClock.now
        if ready[2].canRead { heed(EditorSignals.arrived(signals)) }
        if ready[1].canWrite { link.sendSome() }
        if ready[1].canRead { hear() }
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
            model.press(key)
            act()
        }
        if !keys.isEmpty { (hasChanged, drawnAt) = (true, nil) }
    }

    private mutating func hear() {
        for arrival in link.receive(now: model.now) {
            switch arrival {
            case .answer(let answer, let ask): model.hear(answer, for: ask)
            case .event(let line): model.hear(event: line)
            case .remark(let text): model.say(text, .bad)
            }
        }
        if link.hasEnded {
            link.drop(now: model.now)
            model.lost()
        }
        hasChanged = true
    }

    private mutating func tick() {
        model.isLate = link.lateAt.map { $0 <= model.now } ?? false
        model.tick()
    }

    /// Milliseconds until something happens by itself; nil for never.
    private var waitingTime: Int32? {
        if decoder.isUndecided { return Self.escapeTime }
        let late = model.isLate ? nil : link.lateAt
        let draw = hasChanged ? drawnAt.map { $0 + Self.frameTime } : nil
        guard let next = [model.deadline, link.retry, late, draw].compactMap(\.self).min() else { return nil }
        let milliseconds = (next - ContinuousClock.now) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), 60_000))
    }

    // MARK: Doing

    private mutating func act() {
        for effect in model.takeEffects() {
            switch effect {
            case .send(let lines, let ask, let answer): link.send(lines, ask, answer: answer, now: model.now)
            case .redraw: renderer.forget()
            case .suspend: suspend()
            case .quit: hasQuit = true
            }
        }
    }

    private mutating func suspend() {
        Terminal.leaveRaw()
        EditorSignals.stop()
        comeBack()
    }

    /// The terminal may have been anything meanwhile.
    private mutating func comeBack() {
        Terminal.enterFullScreen()
        model.size = Terminal.size
        model.scroll()
        renderer.forget()
        (hasChanged, drawnAt) = (true, nil)
    }

    private mutating func heed(_ numbers: Set<Int32>) {
        if numbers.contains(SIGTSTP) {
            suspend()
        } else if numbers.contains(SIGCONT) || numbers.contains(SIGWINCH) {
            comeBack()
        }
    }

    /// Keys are answered at once, and what others do at a rate that the eye and a slow line can follow.
    private mutating func drawWhenDue() {
        if let drawnAt, drawnAt + Self.frameTime > ContinuousClock.now { return }
        let bytes = renderer.bytes(for: EditorScreen(model, renderer.palette).frame)
        if !bytes.isEmpty { System.write(bytes, to: 1) }
        (hasChanged, drawnAt) = (false, ContinuousClock.now)
    }
}
