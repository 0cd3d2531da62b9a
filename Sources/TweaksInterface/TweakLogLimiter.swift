// Limits the log lines about each client, for a program with its own handler of events.

package import Dispatch
import Synchronization
package import Tweaks

/// Limits the lines that a program logs about each client, as the default log does.
///
/// A handler receives every event, and a client can cause thousands a second: wrong tokens, sessions, changes. A limiter
/// writes at most a hundred lines at once about each user, token or address, then ten a second, and counts the others in
/// a line of its own, such as “… and 90 more lines about uid 1000”. All other events are written in full.
///
/// ```swift
/// let limiter = TweakLogLimiter { line, event in
///     logger.log(level: event?.isProblem == true ? .warning : .info, "\(line)")
/// }
/// try TweakDaemon.start("bounce", onEvent: { limiter.write($0) }, tweaks: Look.all)
/// ```
///
/// Commits by the program itself count as one client, `code`; a handler that does not want them leaves them out before.
/// To be shared by threads, and used for as long as the handler.
public final class TweakLogLimiter: Sendable {
    /// Writes a line of the log.
    /// - Parameters:
    ///   - line: One line, without its end; nothing in it needs escaping for a terminal.
    ///   - event: The event that it is about; nil for a line that counts omitted ones.
    public typealias Writer = @Sendable (_ line: String, _ event: TweakDaemonEvent?) -> Void

    private let limiter: LogRateLimiter
    private let writeLine: Writer

    /// Creates a limiter.
    /// - Parameter write: Writes a line. Called on the thread that calls ``write(_:)``, and for a count also on a queue of
    ///   the limiter, a second after the first omitted line.
    public convenience init(_ write: @escaping Writer) { self.init(delay: .seconds(1), write) }

    package init(delay: DispatchTimeInterval, _ write: @escaping Writer) {
        writeLine = write
        limiter = LogRateLimiter(delay: delay) { write($0, nil) }
    }

    /// Writes the lines of an event, or counts them. Events without lines, such as an opening session, write nothing.
    public func write(_ event: TweakDaemonEvent) { write(event, at: .now) }

    package func write(_ event: TweakDaemonEvent, at now: Moment) {
        switch event {
        case .changed(let commit):
            // The lines of an omitted commit are not even formatted.
            let count = Self.lineCount(commit.changes.count)
            limiter.write(count: count, of: commit.origin.client, at: now) { write(event.lines, event) }
        case .session(let session):
            let lines = event.lines
            let name = TweakOrigin.client(session.session.identity.identity, session.session.peer)
            limiter.write(count: lines.count, of: name, at: now) { write(lines, event) }
        case .stopping:
            limiter.reportSuppressed()
            write(event.lines, event)
        default: write(event.lines, event)
        }
    }

    private func write(_ lines: [String], _ event: TweakDaemonEvent) {
        for line in lines { writeLine(line, event) }
    }

    /// Counts the lines of a commit as omitted, if none may be written now.
    /// - Returns: False if they may be written.
    package func omits(_ changes: Int, of origin: TweakOrigin, at moment: Moment) -> Bool {
        limiter.suppresses(Self.lineCount(changes), of: origin, at: moment)
    }

    /// One commit writes at most this many lines.
    private static func lineCount(_ changes: Int) -> Int { min(changes, 21) }
}
