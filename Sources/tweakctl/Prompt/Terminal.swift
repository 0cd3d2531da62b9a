// Switches the terminal between its modes, decodes its keys and signals, and restores it however the program ends.

import Synchronization
import TweaksSystem

/// The terminal on standard input.
enum Terminal {
    /// The columns, read each time, so that a resize is noticed.
    static var columns: Int { size.columns }

    static var size: ScreenSize {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown
            ? ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row)) : ScreenSize(columns: 80, rows: 24)
    }

    /// Enters the alternate screen, without cursor, with bracketed paste, and with reports of the mouse: of buttons, of
    /// motion while one is held (1002), and in decimal numbers (1006).
    static func enterFullScreen() {
        enterRaw()
        isFullScreen.store(true, ordering: .sequentiallyConsistent)
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h\u{1B}[?1002h\u{1B}[?1006h")
    }

    /// Enters raw mode: keys arrive one by one, Ctrl-C among them.
    static func enterRaw() {
        guard var raw = original else { return }
        _ = giveBackOnSignals
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        isRaw.store(true, ordering: .sequentiallyConsistent)
        // TCSANOW keeps input that was typed before.
        tcsetattr(0, TCSANOW, &raw)
    }

    /// Enters line mode without echo. Ctrl-Z is disabled, because the shell would continue with a terminal that does
    /// not echo.
    static func enterSilent() {
        guard var silent = original else { return }
        _ = giveBackOnSignals
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VSUSP)] = disabledKey }
        isRaw.store(true, ordering: .sequentiallyConsistent)
        // TCSAFLUSH drops input that was typed before the prompt, and was already echoed.
        tcsetattr(0, TCSAFLUSH, &silent)
    }

    #if canImport(Darwin)
        private static let disabledKey: UInt8 = 0xFF
    #else
        private static let disabledKey: UInt8 = 0
    #endif

    /// Restores the settings. Safe in signal handlers, and when called twice.
    static func leaveRaw() {
        if isFullScreen.exchange(false, ordering: .sequentiallyConsistent) {
            put("\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
            // Unread reports of the mouse would be typed into the shell.
            tcflush(0, TCIFLUSH)
        }
        guard isRaw.exchange(false, ordering: .sequentiallyConsistent), var original else { return }
        tcsetattr(0, TCSANOW, &original)
    }

    /// A StaticString, because a signal handler must not allocate.
    private static func put(_ text: StaticString) { _ = write(1, text.utf8Start, text.utf8CodeUnitCount) }

    /// Handles Ctrl-Z, which is a key in raw mode: restores the terminal, stops, and enters raw mode again.
    static func suspend() {
        leaveRaw()
        raise(SIGTSTP)
        enterRaw()
    }

    private static let isRaw = Atomic(false)
    private static let isFullScreen = Atomic(false)

    /// The settings at start; nil without a terminal.
    private static let original: termios? = {
        var settings = termios()
        return tcgetattr(0, &settings) == 0 ? settings : nil
    }()

    private static let giveBackOnSignals: Void = {
        for number in [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            _ = signal(number) { number in
                Terminal.leaveRaw()
                // Then the default action of the signal.
                _ = signal(number, SIG_DFL)
                raise(number)
            }
        }
    }()
}

/// A key press.
enum Key: Hashable {
    case character(Character)
    case enter, tab, backspace, delete
    /// `wordLeft` and `wordRight` are the arrows with Ctrl or Alt.
    case left, right, up, down, home, end, wordLeft, wordRight
    case shiftLeft, shiftRight, shiftTab, pageUp, pageDown, escape
    /// Input between these two is pasted, not typed.
    case pasteBegin, pasteEnd
    case mouse(MouseReport)
    /// Ctrl with a letter, in lowercase.
    case control(Character)
}

/// Decodes terminal input, however it is split into reads.
struct KeyDecoder {
    private enum State: Equatable {
        case plain
        case escape
        /// After `ESC [` or `ESC O`, with the parameters so far.
        case sequence(String)
        /// After `ESC [ [`, the prefix of function keys on the Linux console.
        case console
        /// The rest of a report of the mouse in its first encoding, by terminals without 1006.
        case oldMouse(remaining: Int)
    }

    /// The timeout in milliseconds after which an escape is the Escape key; a slow connection splits sequences.
    static let escapeTime: Int32 = 40

    private var state = State.plain
    /// Whether a second escape precedes a sequence, as some terminals send Alt.
    private var hasAlt = false
    /// The bytes of an incomplete character.
    private var pending: [UInt8] = []

    /// The keys that these bytes complete.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.compactMap { decode($0) } }

    /// Whether an escape may be the Escape key or the start of a sequence.
    var isUndecided: Bool { state != .plain }

    /// Resolves an escape as the Escape key, after the timeout.
    mutating func decide() -> Key? {
        defer { (state, hasAlt) = (.plain, false) }
        return state == .escape ? .escape : nil
    }

    private mutating func decode(_ byte: UInt8) -> Key? {
        switch state {
        case .plain: return plain(byte)
        case .escape:
            let isIntroducer = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O")
            state = isIntroducer ? .sequence("") : .plain
            // Alt with a letter.
            if byte == UInt8(ascii: "b") { return .wordLeft }
            if byte == UInt8(ascii: "f") { return .wordRight }
            return isIntroducer || byte < 0x20 && byte != 0x1B ? nil : escaped(byte)
        case .sequence(let parameters):
            // A hostile sequence could be endless.
            if (0x30...0x3F).contains(byte), parameters.utf8.count < 16 {
                state = .sequence(parameters + String(UnicodeScalar(byte)))
                return nil
            }
            if byte == UInt8(ascii: "["), parameters.isEmpty {
                state = .console
                return nil
            }
            if byte == UInt8(ascii: "M"), parameters.isEmpty {
                state = .oldMouse(remaining: 3)
                return nil
            }
            defer { hasAlt = false }
            state = .plain
            return Self.special(byte, hasAlt ? parameters + ";3" : parameters)
        case .console, .oldMouse(remaining: ...1):
            state = .plain
            return nil
        case .oldMouse(let remaining):
            state = .oldMouse(remaining: remaining - 1)
            return nil
        }
    }

    /// A second escape is kept as Alt; Alt with other keys is ignored.
    private mutating func escaped(_ byte: UInt8) -> Key? {
        (state, hasAlt) = byte == 0x1B ? (.escape, true) : (.plain, false)
        return nil
    }

    private mutating func plain(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B:
            state = .escape
            pending = []
            hasAlt = false
            return nil
        case 0x0D, 0x0A: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x00: return nil
        case 0x01..<0x20: return .control(Character(UnicodeScalar(byte + 0x60)))
        default: return character(byte)
        }
    }

    private mutating func character(_ byte: UInt8) -> Key? {
        // The first byte of a character ends an incomplete one.
        if byte & 0xC0 != 0x80 { pending = [] }
        pending.append(byte)
        let wanted = Self.length(startingWith: pending[0])
        if pending.count < wanted { return nil }
        defer { pending = [] }
        guard let text = String(validating: pending, as: UTF8.self), let character = text.first else { return nil }
        // U+0080…U+009F are controls, too.
        if character.unicodeScalars.contains(where: { (0x80..<0xA0).contains($0.value) }) { return nil }
        return .character(character)
    }

    private static func length(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xC0..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF8: 4
        default: 1
        }
    }

    private static func special(_ final: UInt8, _ parameters: String) -> Key? {
        if parameters.hasPrefix("<") {
            let isRelease = final == UInt8(ascii: "m")
            guard isRelease || final == UInt8(ascii: "M") else { return nil }
            return MouseReport(parameters, isRelease: isRelease).map(Key.mouse)
        }
        let isByWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        let isShifted = parameters.hasSuffix(";2")
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isShifted ? .shiftRight : isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isShifted ? .shiftLeft : isByWord ? .wordLeft : .left
        // Shift with an arrow in rxvt.
        case UInt8(ascii: "c"): return .shiftRight
        case UInt8(ascii: "d"): return .shiftLeft
        case UInt8(ascii: "Z"): return .shiftTab
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            return numbered[String(parameters.prefix { $0 != ";" })]
        default: return nil
        }
    }

    /// Keys that are sent as a number and a tilde.
    private static let numbered: [String: Key] = [
        "1": .home, "7": .home, "4": .end, "8": .end, "3": .delete, "5": .pageUp, "6": .pageDown, "200": .pasteBegin,
        "201": .pasteEnd,
    ]
}

/// A pipe that becomes readable when a signal has arrived.
enum EditorSignals {
    private static let input = Atomic<Int32>(-1)

    /// Installs the handlers.
    /// - Returns: The descriptor to wait for; nil if the pipe could not be created.
    static func install() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        input.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGWINCH, SIGCONT, SIGTSTP] { installHandler(number) }
        return ends[0]
    }

    /// Installs a handler, which only makes async-signal-safe calls.
    private static func installHandler(_ number: Int32) {
        _ = signal(number) { number in
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(EditorSignals.input.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = before
        }
    }

    /// Stops the whole job, as Ctrl-Z does; returns when it is continued.
    static func stop() {
        _ = signal(SIGTSTP, SIG_DFL)
        kill(0, SIGTSTP)
        installHandler(SIGTSTP)
    }

    /// The signals that have arrived.
    static func received(_ descriptor: Int32) -> Set<Int32> { Set((System.read(descriptor) ?? []).map { Int32($0) }) }
}
