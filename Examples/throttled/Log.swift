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
    @Sendable static func daemon(_ event: TweakDaemonEvent) {
        switch event {
        case .listening: always("\(event)")
        case .session where !event.isProblem: info("\(event)")
        case .changed(let commit) where commit.origin == .configFile: break  // The reload event has the details.
        default: event.isProblem ? error("\(event)") : notice("\(event)")
        }
    }

    /// Logs independent of the level.
    static func always(_ text: String) { emit(text, after: "throttled: ") }

    private static func write(_ level: LogLevel, _ text: () -> String) {
        if level.rank <= Logging.level.value.rank { emit(text(), after: "throttled: \(level.rawValue): ") }
    }

    private static func emit(_ text: String, after prefix: String) {
        let lines = text.split(separator: "\n").map { "\(prefix)\($0)\n" }.joined()
        // An error of standard error cannot be reported.
        try? FileHandle.standardError.write(contentsOf: Data(lines.utf8))
    }
}
