// Writes the log to standard error, filtered by the tweak Service/Log/Level.

import Foundation
import TweaksDaemon

/// The log level; each level includes the ones before it.
enum LogLevel: String, CaseIterable, TweakConvertible {
    case error, notice, info, debug

    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The log. A message below the level is not even formatted.
enum Log {
    static func error(_ text: @autoclosure () -> String) { write(.error, text) }
    static func notice(_ text: @autoclosure () -> String) { write(.notice, text) }
    static func info(_ text: @autoclosure () -> String) { write(.info, text) }
    static func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

    /// Logs the daemon's events: changes, reloads and problems.
    static let daemon = handler(emit)

    /// A handler of the daemon's events. What a client causes is limited, and counted.
    /// - Parameter emit: Writes a text after a prefix.
    static func handler(_ emit: @escaping @Sendable (String, String) -> Void) -> TweakDaemon.EventHandler {
        let limiter = TweakLogLimiter { line, event in
            if case .listening = event { return emit(line, "throttled: ") }
            emit(line, "throttled: \(level(of: event).rawValue): ")
        }
        return { event in
            // The event of the reload has the details.
            if case .changed(let commit) = event, commit.origin == .configFile { return }
            if includes(level(of: event)) { limiter.write(event) }
        }
    }

    /// The level of an event; of a count where it is nil.
    private static func level(of event: TweakDaemonEvent?) -> LogLevel {
        switch event {
        case .listening: .error
        case .session where event?.level == .debug: .debug
        case .session where event?.level == .info: .info
        default: event?.isProblem == true ? .error : .notice
        }
    }

    /// Logs independent of the level.
    static func always(_ text: String) { emit(text, "throttled: ") }

    private static func write(_ level: LogLevel, _ text: () -> String) {
        if includes(level) { emit(text(), "throttled: \(level.rawValue): ") }
    }

    private static func includes(_ level: LogLevel) -> Bool { level.rank <= Logging.level.value.rank }

    @Sendable private static func emit(_ text: String, _ prefix: String) {
        let lines = text.split(separator: "\n").map { "\(prefix)\($0)\n" }.joined()
        // An error of standard error cannot be reported.
        try? FileHandle.standardError.write(contentsOf: Data(lines.utf8))
    }
}
