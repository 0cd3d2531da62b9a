// The terminal: taken over, read from and written to, and given back however the program ends.

import Foundation
import Synchronization

/// The terminal of this process, on standard input and output.
enum Terminal {
    /// Whether there is one to draw on.
    static var isPresent: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether it is taken over; no longer once a signal gave it back.
    static var isOurs: Bool { isEntered.load(ordering: .sequentiallyConsistent) }

    /// Columns and rows; asked for each frame, which is how a resize is noticed.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Switches to the alternate screen, without cursor and line wrapping, and to single keys without echo.
    static func enter() {
        _ = giveBackInTheEnd
        isEntered.store(true, ordering: .sequentiallyConsistent)
        if var raw = original {
            raw.c_lflag &= ~tcflag_t(ECHO | ICANON)
            // Ctrl-S would stop not only the picture but whoever waits to write it.
            raw.c_iflag &= ~tcflag_t(IXON)
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        }
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l".utf8)
    }

    /// Gives the terminal back as it was. Handlers of signals may call it, and calling it twice is harmless.
    static func leave() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        let farewell: StaticString = "\u{1B}[?2026l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        _ = Foundation.write(STDOUT_FILENO, farewell.utf8Start, farewell.utf8CodeUnitCount)
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

    /// Writes all of the bytes, or as many as the other end will have.
    static func write(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR || errno == EAGAIN else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static let isEntered = Atomic(false)

    /// How standard input was set up when we came; nil where it is no terminal.
    private static let original: termios? = {
        var settings = termios()
        return tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }()
}

extension Terminal {
    /// Also when the program calls `exit`, or traps: then Swift still prints its backtrace, on the screen given back.
    private static let giveBackInTheEnd: Void = {
        for (number, _) in crashHandlers {
            signal(number) { number in
                Terminal.leave()
                Terminal.handCrashesBack()
                raise(number)
            }
        }
        atexit { Terminal.leave() }
    }()

    /// What crashes did before we came.
    private static let crashHandlers = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV].map { number in
        var handler = sigaction()
        sigaction(number, nil, &handler)
        return (number, handler)
    }

    /// The signal is raised once more, and then meets its old handler.
    private static func handCrashesBack() {
        for (number, handler) in crashHandlers {
            var handler = handler
            sigaction(number, &handler, nil)
        }
    }
}
