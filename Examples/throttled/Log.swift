// What the service says about itself: lines on standard error, as many as the operator wants.

import Foundation
import TweaksDaemon

/// How much is logged: what stands above a level is logged with it.
enum LogLevel: String, CaseIterable, TweakConvertible {
    case error, notice, info, debug

    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The log. A text is not even made when nobody wants it.
enum Log {
    static func error(_ text: @autoclosure () -> String) { write(.error, text) }
    static func notice(_ text: @autoclosure () -> String) { write(.notice, text) }
    static func info(_ text: @autoclosure () -> String) { write(.info, text) }
    static func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

    /// What the daemon tells goes into the same log: who changed what, what a reload did, what went wrong.
    @Sendable static func daemon(_ event: TweakDaemonEvent) {
        switch event {
        case .listening: always("\(event)")
        case .session where !event.isProblem: info("\(event)")
        case .changed(let commit) where commit.origin == .configFile: break  // The reload tells it better.
        default: event.isProblem ? error("\(event)") : notice("\(event)")
        }
    }

    /// Says something whatever the level.
    static func always(_ text: String) { put(text, after: "throttled: ") }

    private static func write(_ level: LogLevel, _ text: () -> String) {
        if level.rank <= Logging.level.value.rank { put(text(), after: "throttled: \(level.rawValue): ") }
    }

    private static func put(_ text: String, after prefix: String) {
        let lines = text.split(separator: "\n").map { "\(prefix)\($0)\n" }.joined()
        // Where standard error is gone there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(lines.utf8))
    }
}
