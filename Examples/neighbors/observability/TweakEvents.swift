// Reports the events of a daemon as lines of a logger, as metrics, and as spans.

public import Instrumentation
public import Logging
public import Metrics
public import Tracing
public import TweaksDaemon

/// What a daemon's events become: log lines with metadata, metrics, and a span for each commit.
///
/// ```swift
/// let events = TweakEvents(Logger(label: "tweaks"))
/// let daemon = try TweakDaemon.start("api", onEvent: events.handler, tweaks: Settings.all)
/// ```
///
/// Lines about one client are limited, as in the daemon's own log. A commit arrives on the daemon's queue, after the
/// task that made it has gone on: its span is short, a root, and has an event for each changed tweak, of the first
/// twenty. No line, metric or span has the value of a secret.
public final class TweakEvents: Sendable {
    private let limiter: TweakLogLimiter
    private let metrics: TweakEventMetrics
    private let tracer: (any Tracer)?

    /// Handles events.
    /// - Parameters:
    ///   - logger: Where they are logged.
    ///   - metrics: Where they are counted.
    ///   - tracer: Where commits are traced; nil for nowhere.
    public init(
        _ logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory,
        tracer: (any Tracer)? = InstrumentationSystem.tracer
    ) {
        limiter = TweakLogLimiter { line, event in
            let level = event.flatMap { Logger.Level(rawValue: $0.level.rawValue) } ?? .info
            logger.log(level: level, "\(line)", metadata: event?.metadata)
        }
        self.metrics = TweakEventMetrics(metrics)
        self.tracer = tracer
    }

    /// The handler, for `onEvent`.
    public var handler: TweakDaemon.EventHandler { { self.handle($0) } }

    /// Handles one event.
    public func handle(_ event: TweakDaemonEvent) {
        metrics.count(event)
        if case .changed(let commit) = event { tracer?.record(commit) }
        limiter.write(event)
    }
}

/// A commit of thousands of changes is not thousands of events of a span.
private let mostChanges = 20

extension TweakDaemonEvent {
    /// What of it a log can be searched by.
    fileprivate var metadata: Logger.Metadata {
        switch self {
        case .changed(let commit): ["tweaks.origin": "\(commit.origin)", "tweaks.revision": "\(commit.revision)"]
        case .session(let event):
            [
                "tweaks.session": "\(event.session.id)", "tweaks.transport": "\(event.session.transport.rawValue)",
                "tweaks.peer": "\(event.session.peer)", "tweaks.identity": "\(event.session.identity)",
            ]
        case .reloaded(let reload): ["tweaks.file": "\(reload.file)", "tweaks.revision": "\(reload.revision)"]
        case .reloadFailed(let error): ["tweaks.file": "\(error.file)", "tweaks.problems": "\(error.count)"]
        case .unfit(let path, _): ["tweaks.path": "\(path)"]
        case .conflict(let conflict): ["tweaks.path": "\(conflict.path)"]
        default: [:]
        }
    }
}

extension Tracer {
    /// Traces a commit: a span with an event for each change.
    fileprivate func record(_ commit: TweakCommit) {
        let span = startSpan("tweaks commit", context: .topLevel)
        defer { span.end() }
        guard span.isRecording else { return }
        span.attributes["tweaks.origin"] = "\(commit.origin)"
        span.attributes["tweaks.revision"] = Int64(clamping: commit.revision)
        span.attributes["tweaks.changes"] = commit.changes.count
        for change in commit.changes.prefix(mostChanges) {
            // The description of a secret's change says only whether it is set.
            let attributes: SpanAttributes = ["tweaks.path": "\(change.path)", "tweaks.change": "\(change)"]
            span.addEvent(SpanEvent(name: "tweak changed", attributes: attributes))
        }
    }
}

/// A daemon's own figures as metrics.
struct TweakEventMetrics: Sendable {
    private let commits: Counter
    private let changes: Counter
    private let revision: Gauge
    private let sessions: Meter
    private let reloads: Counter
    private let problems: Counter

    init(_ factory: any MetricsFactory) {
        commits = Counter(label: "tweaks.commits", factory: factory)
        changes = Counter(label: "tweaks.changes", factory: factory)
        revision = Gauge(label: "tweaks.revision", factory: factory)
        sessions = Meter(label: "tweaks.sessions", factory: factory)
        reloads = Counter(label: "tweaks.reloads", factory: factory)
        problems = Counter(label: "tweaks.problems", factory: factory)
    }

    func count(_ event: TweakDaemonEvent) {
        if event.isProblem { problems.increment() }
        switch event {
        case .changed(let commit):
            commits.increment()
            changes.increment(by: commit.changes.count)
            revision.record(commit.revision)
        case .session(let event):
            guard case .state = event.kind else { break }
            switch event.session.state {
            case .open: sessions.increment()
            case .closed: sessions.decrement()
            case .created, .opening, .failed: break
            }
        case .reloaded: reloads.increment()
        default: break
        }
    }
}
