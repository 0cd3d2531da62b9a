// Controls the terminal: raw mode, alternate screen, input and output; restores it when the program ends or crashes.

import Foundation
import Synchronization

/// The terminal of this process, on standard input and output.
enum Terminal {
    /// Whether standard output is a terminal.
    static var isPresent: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether `enter` was called and the terminal was not restored since, for example by a crash handler.
    static var isActive: Bool { isEntered.load(ordering: .sequentiallyConsistent) }

    /// Columns and rows; read for each frame, so that a resize is noticed.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Switches to the alternate screen, without cursor and line wrapping, and to single keys without echo.
    static func enter() {
        _ = restoreAtExit
        isEntered.store(true, ordering: .sequentiallyConsistent)
        if var raw = original {
            raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
            // Ctrl-S would block the main actor in its next write.
            raw.c_iflag &= ~tcflag_t(IXON)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        }
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l".utf8)
    }

    /// Restores the terminal. It is async-signal-safe, and a second call has no effect.
    static func leave() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        let resetSequence: StaticString = "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        _ = Foundation.write(STDOUT_FILENO, resetSequence.utf8Start, resetSequence.utf8CodeUnitCount)
        if var original { tcsetattr(STDIN_FILENO, TCSANOW, &original) }
    }

    /// The keys pressed since the last call.
    static func keys() -> String {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard original != nil, poll(&input, 1, 0) > 0, input.revents & Int16(POLLIN) != 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Writes all bytes; stops at an error.
    static func write(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR || errno == EAGAIN else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static let isEntered = Atomic(false)

    /// The settings of standard input at the start; nil where it is not a terminal.
    private static let original: termios? = {
        var settings = termios()
        return tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }()
}

extension Terminal {
    /// Restores the terminal at `exit`, and at a trap before Swift prints its backtrace.
    private static let restoreAtExit: Void = {
        for (number, _) in crashHandlers {
            signal(number) { number in
                Terminal.leave()
                Terminal.restoreCrashHandlers()
                raise(number)
            }
        }
        atexit { Terminal.leave() }
    }()

    /// The handlers of crash signals at the start.
    private static let crashHandlers = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV].map { number in
        var handler = sigaction()
        sigaction(number, nil, &handler)
        return (number, handler)
    }

    /// Reinstalls the original handlers, so that the signal can be raised again.
    private static func restoreCrashHandlers() {
        for (number, handler) in crashHandlers {
            var handler = handler
            sigaction(number, &handler, nil)
        }
    }
}
