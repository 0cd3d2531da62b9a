// Switches the terminal into raw, silent or full-screen mode and restores it however the program ends.

import TweaksSystem
import Synchronization

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

    /// Enters the alternate screen, without cursor, and with bracketed paste.
    static func enterFullScreen() {
        enterRaw()
        isFullScreen.store(true, ordering: .sequentiallyConsistent)
        put("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h")
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
            put("\u{1B}[?2004l\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
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
