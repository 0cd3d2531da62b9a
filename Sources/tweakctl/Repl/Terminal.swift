// The terminal while keys are read: single keys without echo, and given back however the program ends.

import TweaksSystem
import Synchronization

/// The terminal on standard input.
enum Terminal {
    /// Columns; asked for each time, which is how a resize is noticed.
    static var columns: Int { size.columns }

    static var size: ScreenSize {
        var size = winsize()
        let isKnown = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown
            ? ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row)) : ScreenSize(columns: 80, rows: 24)
    }

    /// The whole screen, apart from what was on it: its other half, without cursor, and with pasted text marked.
    static func enterFullScreen() {
        enterRaw()
        isFullScreen.store(true, ordering: .sequentiallyConsistent)
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h")
    }

    /// Keys come one by one, Ctrl-C among them.
    static func enterRaw() {
        guard var raw = original else { return }
        _ = giveBackOnSignals
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        isRaw.store(true, ordering: .sequentiallyConsistent)
        // At once, and what was typed meanwhile stays.
        tcsetattr(0, TCSANOW, &raw)
    }

    /// Lines as usual, but nothing that is typed is shown. Nor can it be stopped meanwhile: a shell that goes on with a
    /// terminal that shows nothing helps nobody.
    static func enterSilent() {
        guard var silent = original else { return }
        _ = giveBackOnSignals
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VSUSP)] = disabledKey }
        isRaw.store(true, ordering: .sequentiallyConsistent)
        // What was typed before the question was shown already, and is no answer to it.
        tcsetattr(0, TCSAFLUSH, &silent)
    }

    #if canImport(Darwin)
        private static let disabledKey: UInt8 = 0xFF
    #else
        private static let disabledKey: UInt8 = 0
    #endif

    /// As it was before. Handlers of signals may call it, and calling it twice is harmless.
    static func leaveRaw() {
        if isFullScreen.exchange(false, ordering: .sequentiallyConsistent) {
            put("\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
        }
        guard isRaw.exchange(false, ordering: .sequentiallyConsistent), var original else { return }
        tcsetattr(0, TCSANOW, &original)
    }

    /// A handler of signals must not make strings.
    private static func put(_ text: StaticString) { _ = write(1, text.utf8Start, text.utf8CodeUnitCount) }

    /// Ctrl-Z, which in raw mode is a key: the terminal is given back, and taken again afterwards.
    static func suspend() {
        leaveRaw()
        raise(SIGTSTP)
        enterRaw()
    }

    private static let isRaw = Atomic(false)
    private static let isFullScreen = Atomic(false)

    /// How it was set up when we came; nil where there is none.
    private static let original: termios? = {
        var settings = termios()
        return tcgetattr(0, &settings) == 0 ? settings : nil
    }()

    private static let giveBackOnSignals: Void = {
        for number in [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            _ = signal(number) { number in
                Terminal.leaveRaw()
                // And then what would have happened without us.
                _ = signal(number, SIG_DFL)
                raise(number)
            }
        }
    }()
}
