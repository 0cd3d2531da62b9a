// Formats the lines of a log as text, JSON or logfmt, and writes those of a daemon without a handler.

import Tweaks
import TweaksSystem

/// A format of log lines. `TWEAKS_LOG` chooses that of a daemon without a handler.
///
/// A handler of a program can write the same lines to a destination of its own:
///
/// ```swift
/// try TweakDaemon.start("bounce", onEvent: { event in
///     for line in TweakLogFormat.json.lines(of: event, program: "bounce") { print(line) }
/// })
/// ```
public enum TweakLogFormat: String, Sendable {
    /// `bounce: Content/Text/Size = 72 (was 60) by uid 1000, rev 1`
    case text
    /// An object with the keys `time`, `level`, `program`, `pid`, `event`, `message`, and the facts of the event.
    case json
    /// The same keys and values as words `key=value`, in quotes where needed.
    case logfmt

    /// The lines of an event, each without its end; none for an event that is not logged, such as an opening session.
    /// They contain no secret values.
    /// - Parameters:
    ///   - event: An event of a daemon; several changes are several lines, as in its description.
    ///   - program: The program's name, for the lines.
    public func lines(of event: TweakDaemonEvent, program: String) -> [String] {
        let now = SystemTime().wall
        return event.entries.map { line($0, level: event.level.rawValue, program: program, at: now) }
    }

    /// One line.
    /// - Parameter milliseconds: The time since 1970.
    package func line(_ entry: LogEntry, level: String, program: String, at milliseconds: Int64) -> String {
        if self == .text { return "\(program): \(entry.message)" }
        let fields: [(String, JSON)] =
            [
                ("time", .string(TimeText.print(milliseconds))), ("level", .string(level)),
                ("program", .string(program)), ("pid", .count(ThisProcess.id)), ("event", .string(entry.event)),
                ("message", .string(entry.message)),
            ] + entry.facts
        return self == .json ? JSON.object(fields).text : Self.logfmt(fields)
    }

    private static func logfmt(_ fields: [(String, JSON)]) -> String {
        var bytes: [UInt8] = []
        for (key, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
            bytes.append("\(key)=")
            let text = value.string ?? value.text
            if needsQuotes(text) { Quoting.appendJSON(text, to: &bytes) } else { bytes.append(text) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a reader could not tell where a value ends; an empty one needs quotes, too.
    private static func needsQuotes(_ text: String) -> Bool {
        text.isEmpty
            || !text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "\\"): false
                default: (0x21..<0x7F).contains(byte)
                }
            }
    }
}

/// How a daemon without a handler writes its log to standard error.
package struct LogSettings: Sendable {
    private var format: TweakLogFormat?
    private var chosenLevel: TweakDaemonEvent.Level?
    /// The device and inode of the journal's stream, if the service manager has connected one.
    private let journal: String?

    /// The settings of a program that cannot have others.
    package static let standard = LogSettings()

    private init() { journal = nil }

    /// Reads `TWEAKS_LOG` and systemd's `JOURNAL_STREAM`.
    package init(_ environment: [String: String]) throws(ServerError) {
        journal = environment["JOURNAL_STREAM"]
        guard let text = environment["TWEAKS_LOG"], !text.isEmpty else { return }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.lowercased()
            if format == nil, let named = TweakLogFormat(rawValue: word) {
                format = named
            } else if chosenLevel == nil, let named = TweakDaemonEvent.Level(rawValue: word) {
                chosenLevel = named
            } else {
                throw ServerError(
                    "TWEAKS_LOG=\(text): write a format (text, json or logfmt), a level (debug, info or warning), or "
                        + "both, as in json,debug")
            }
        }
    }

    /// The lowest level that is logged.
    package var level: TweakDaemonEvent.Level { chosenLevel ?? .info }

    /// Writes a line.
    package func write(_ entry: LogEntry, _ level: TweakDaemonEvent.Level, program: String) {
        write(entry, level.rawValue, priority: level.priority, program: program)
    }

    /// Writes why a program does not start.
    package func writeFailure(_ text: String, program: String) {
        if format ?? .text == .text, priorityMark(3).isEmpty { return StandardError.write("\(program): \(text)\n") }
        for line in text.split(separator: "\n") {
            write(LogEntry("failed", String(line)), "error", priority: 3, program: program)
        }
    }

    private func write(_ entry: LogEntry, _ level: String, priority: Int, program: String) {
        let line = (format ?? .text).line(entry, level: level, program: program, at: SystemTime().wall)
        StandardError.write("\(priorityMark(priority))\(line)\n")
    }

    /// The mark by which journald knows the priority of a line, where standard error is still its stream: it takes the mark
    /// off, in any format. See sd-daemon(3) and `JOURNAL_STREAM` in systemd.exec(5).
    private func priorityMark(_ priority: Int) -> String {
        guard let journal, let info = try? PosixFileSystem().info(STDERR_FILENO),
            journal == "\(info.device):\(info.inode)"
        else { return "" }
        return "<\(priority)>"
    }
}

extension TweakDaemonEvent.Level {
    /// The priority in the system's log; a lower number is more important.
    package var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        }
    }
}
