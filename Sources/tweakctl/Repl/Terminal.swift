// The terminal while a line is edited: single keys without echo, and given back however the program ends.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Synchronization

/// The terminal on standard input.
enum Terminal {
    /// Columns; asked for each time, which is how a resize is noticed.
    static var columns: Int {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
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

    /// As it was before. Handlers of signals may call it, and calling it twice is harmless.
    static func leaveRaw() {
        guard isRaw.exchange(false, ordering: .sequentiallyConsistent), var original else { return }
        tcsetattr(0, TCSANOW, &original)
    }

    /// Ctrl-Z, which in raw mode is a key: the terminal is given back, and taken again afterwards.
    static func suspend() {
        leaveRaw()
        raise(SIGTSTP)
        enterRaw()
    }

    private static let isRaw = Atomic(false)

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
