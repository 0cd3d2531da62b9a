// Limits the log lines about each client, so that a busy one cannot fill the log.

package import Dispatch
import Synchronization
package import Tweaks
import TweaksSystem

/// Limits the lines that a program logs about each client, as the default log does.
///
/// A handler receives every event, and a client can cause thousands a second: wrong tokens, sessions, changes. A limiter
/// writes at most a hundred lines at once about each user, token or address, then ten a second, and counts the others in
/// a line of its own, such as “… and 90 more lines about uid 1000”. All other events are written in full.
///
/// ```swift
/// let limiter = TweakLogLimiter { line, event in
///     logger.log(level: Logger.Level(rawValue: event?.level.rawValue ?? "") ?? .info, "\(line)")
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

    /// The lines about one client.
    private final class Client {
        private(set) var bucket = TokenBucket(perSecond: 10, capacity: 100)
        /// No line may be written before this time.
        private(set) var opensAt: Moment?
        /// The number of omitted lines that are not reported yet.
        var omitted = 0

        func spend(_ count: Int, _ now: Moment) -> Verdict {
            guard bucket.consume(now, count: count) else { return .omit(isFirst: omit(count)) }
            opensAt = bucket.refilledAt
            defer { omitted = 0 }
            return .write(afterOmitted: omitted)
        }

        /// Counts omitted lines.
        /// - Returns: Whether they are the first.
        func omit(_ count: Int) -> Bool {
            omitted += count
            return omitted == count
        }
    }

    private enum Verdict {
        case write(afterOmitted: Int)
        case omit(isFirst: Bool)
    }

    private struct State {
        /// The origin of the last lookup, and its client: a busy one is looked up again and again.
        var last: (origin: TweakOrigin, client: Client)?
        var clients: [String: Client] = [:]
        /// When clients with full buckets were last removed.
        var cleanedAt: Moment?
    }

    /// Clients beyond this number share one bucket.
    private static let maxClients = 256

    private let state = Mutex(State())
    private let delay: DispatchTimeInterval
    private let queue = DispatchQueue(label: "tweaks.log")
    private let writeEntry: @Sendable (LogEntry, TweakDaemonEvent?) -> Void

    /// Creates a limiter.
    /// - Parameter write: Writes a line. Called on the thread that calls ``write(_:)``, and for a count also on a queue of
    ///   the limiter, a second after the first omitted line.
    public convenience init(_ write: @escaping Writer) { self.init(delay: .seconds(1), write) }

    /// - Parameter delay: The time from the first omitted line to the line that reports the count.
    package convenience init(delay: DispatchTimeInterval, _ write: @escaping Writer) {
        self.init(delay: delay, entries: { write($0.message, $1) })
    }

    /// - Parameter write: Writes a line with its facts; for a line that counts omitted ones, without an event.
    package init(
        delay: DispatchTimeInterval = .seconds(1),
        entries write: @escaping @Sendable (LogEntry, TweakDaemonEvent?) -> Void
    ) {
        self.delay = delay
        writeEntry = write
    }

    /// Writes the lines of an event, or counts them. Events without lines, such as an opening session, write nothing.
    public func write(_ event: TweakDaemonEvent) { write(event, at: .now) }

    package func write(_ event: TweakDaemonEvent, at now: Moment) {
        switch event {
        case .changed(let commit):
            // The lines of an omitted commit are not even formatted.
            let count = Self.lineCount(commit.changes.count)
            write(count: count, of: commit.origin.client, at: now) { write(event.entries, event) }
        case .session(let session):
            let entries = event.entries
            let name = TweakOrigin.client(session.session.identity.identity, session.session.peer)
            write(count: entries.count, of: name, at: now) { write(entries, event) }
        case .stopping:
            reportOmitted()
            write(event.entries, event)
        default: write(event.entries, event)
        }
    }

    private func write(_ entries: [LogEntry], _ event: TweakDaemonEvent) {
        for entry in entries { writeEntry(entry, event) }
    }

    /// One commit writes at most this many lines.
    private static func lineCount(_ changes: Int) -> Int { min(changes, 21) }

    // MARK: Counting

    /// Writes the lines about a client, all or none; omitted lines are counted.
    /// - Parameters:
    ///   - count: The number of lines.
    ///   - write: Writes them; not called for omitted lines, so that these cost little.
    package func write(count: Int, of client: String, at now: Moment, _ write: () -> Void) {
        if count == 0 { return }
        let (name, verdict) = state.withLock { state in
            let name = Self.name(client, &state, now)
            let client = state.clients[name] ?? Client()
            state.clients[name] = client
            return (name, client.spend(count, now))
        }
        switch verdict {
        case .write(let omitted):
            report(omitted, name)
            write()
        case .omit(let isFirst): if isFirst { reportLater() }
        }
    }

    /// Counts the lines of a commit as omitted, without formatting them, if none may be written now.
    /// - Returns: False if they may be written, or the fast check cannot decide.
    package func omits(_ changes: Int, of origin: TweakOrigin, at now: Moment) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            if state.last?.origin != origin {
                state.last = state.clients[origin.client].map { (origin, $0) }
            }
            guard let client = state.last?.client, let opensAt = client.opensAt, now < opensAt else { return nil }
            return client.omit(Self.lineCount(changes))
        }
        if isFirst == true { reportLater() }
        return isFirst != nil
    }

    /// The name of the bucket for a client.
    private static func name(_ client: String, _ state: inout State, _ now: Moment) -> String {
        if state.clients.count < maxClients || state.clients[client] != nil { return client }
        if state.cleanedAt.map({ now - $0 >= .seconds(1) }) ?? true {
            state.cleanedAt = now
            state.last = nil
            state.clients = state.clients.filter { !$0.value.bucket.isFull(now) || $0.value.omitted > 0 }
        }
        return state.clients.count < maxClients ? client : "others"
    }

    // MARK: Reporting

    /// Otherwise the count would be reported only with the next line, which can be much later.
    private func reportLater() { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.reportOmitted() } }

    /// Reports the numbers of omitted lines.
    package func reportOmitted() {
        let omitted = state.withLock { state in
            defer { for client in state.clients.values { client.omitted = 0 } }
            return state.clients.filter { $0.value.omitted > 0 }.mapValues(\.omitted)
        }
        for (name, count) in omitted.sorted(by: { $0.key < $1.key }) { report(count, name) }
    }

    private func report(_ omitted: Int, _ client: String) {
        if omitted == 0 { return }
        writeEntry(
            LogEntry(
                "omitted", "… and \(omitted) more lines about \(client)",
                [("more", .count(omitted)), ("about", .string(client))]), nil)
    }
}
