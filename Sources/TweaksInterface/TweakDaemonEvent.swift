// Describes the events of a daemon for its log.

public import Tweaks

/// An event of a daemon. More cases may be added; include a `default` in a `switch`.
///
/// ```swift
/// try TweakDaemon.start("throttled", onEvent: { event in
///     logger.log(level: Logger.Level(rawValue: event.level.rawValue) ?? .info, "\(event)")
/// })
/// ```
public enum TweakDaemonEvent: Sendable, CustomStringConvertible {
    /// Clients can connect; the text says where and how.
    case listening(String)
    /// A likely mistake in the environment or the program.
    case warning(String)
    /// Two declarations of one path differ.
    case conflict(TweakConflict)
    /// An event of a session: it changed its state, authenticated, requested something that it may not have, …
    case session(TweakSessionEvent)
    /// The token file was read; the text has the number of tokens. Problems with it are a ``warning(_:)``.
    case tokens(String)
    /// Tweaks were changed; the commit has the origin and the values.
    case changed(TweakCommit)
    /// The config file was applied.
    case reloaded(TweakReload)
    /// The config file was rejected; nothing has changed.
    case reloadFailed(TweakReloadError)
    /// The config file looks incomplete, as if it were still being written; its last good values stay in effect.
    case reloadWaiting(String)
    /// Overrides are saved, and where; or they are saved again after a failure.
    case saving(String)
    /// Overrides are not saved, and why. Their values are in effect anyway.
    case unsaved(String)
    /// A stored or configured value does not fit the current declaration of the tweak; the next layer applies.
    case unfit(TweakPath, String)
    /// The fleet is followed, or followed again, or a rollout was applied. Problems are a ``warning(_:)``.
    case fleet(String)
    /// A source of values reports something else than a problem, which is a ``warning(_:)``.
    case source(String)
    /// The daemon stops.
    case stopping

    /// How important an event is. The raw values are those of the levels of swift-log.
    public enum Level: String, Sendable {
        /// A session that begins or ends by itself, as each call of a client does. Not in the log of a daemon without a
        /// handler.
        case debug
        /// A change, or other news.
        case info
        /// A problem.
        case warning
    }

    /// How important it is, for a logger.
    public var level: Level {
        if case .session(let event) = self, event.isRoutine { return .debug }
        return isProblem ? .warning : .info
    }

    /// Whether it needs the attention of an operator.
    public var isProblem: Bool {
        switch self {
        case .warning, .conflict, .reloadFailed, .unsaved, .unfit: true
        case .reloaded(let reload): reload.unknownCount > 0
        case .session(let event): event.isFailure
        default: false
        }
    }

    /// One line; several for a reload or a commit with several parts; empty for events that are not logged, such as an
    /// opening session. It never contains secret values.
    public var description: String { lines.joined(separator: "\n") }

    /// The description as lines.
    package var lines: [String] { entries.map(\.message) }

    /// The lines with their facts.
    package var entries: [LogEntry] {
        switch self {
        case .listening(let text): [LogEntry("listening", text)]
        case .warning(let text): [LogEntry("warning", text)]
        case .tokens(let text): [LogEntry("tokens", text)]
        case .reloadWaiting(let text): [LogEntry("reloadWaiting", text)]
        case .saving(let text): [LogEntry("saving", text)]
        case .unsaved(let text): [LogEntry("unsaved", text)]
        case .fleet(let text): [LogEntry("fleet", text)]
        case .source(let text): [LogEntry("source", text)]
        case .conflict(let conflict):
            [LogEntry("conflict", conflict.description, [("path", .string(conflict.path.joined))])]
        case .session(let event): event.entry.map { [$0] } ?? []
        case .changed(let commit): Self.entries(commit)
        case .reloaded(let reload): Self.entries(reload)
        case .reloadFailed(let error): Self.entries(error)
        case .unfit(let path, let text):
            [LogEntry("unfit", "\(path.token): \(text)", [("path", .string(path.joined))])]
        case .stopping: [LogEntry("stopping", "stopping")]
        }
    }

    /// The maximum number of listed changes; a preset of a thousand values would hide the rest of the log.
    private static let maxListed = 20

    private static func entries(_ commit: TweakCommit) -> [LogEntry] {
        let origin = commit.origin == .expired ? ", expired" : " by \(commit.origin)"
        let facts: [(String, JSON)] = [
            ("by", .string(commit.origin.description)), ("revision", .count(commit.revision)),
        ]
        let shown = commit.changes.prefix(maxListed).map { change in
            LogEntry(
                "changed", LogEntry.cut("\(change)\(origin), rev \(commit.revision)"),
                [("path", .string(change.path.joined))]
                    + LogEntry.values(change.old, change.new, isSecret: change.isSecret) + facts)
        }
        return shown + LogEntry.more("changed", commit.changes.count - maxListed, facts)
    }

    private static func entries(_ reload: TweakReload) -> [LogEntry] {
        let file: [(String, JSON)] = [("file", .string(reload.file))]
        if reload.changes.isEmpty, reload.unknownCount == 0 {
            let news = reload.isStart ? ": it sets no value" : " again: nothing has changed"
            return [LogEntry("reloaded", "\(reload.file) read\(news)", file)]
        }
        // A tweak whose value did not change is not logged, but the reload is.
        let news = reload.changes.filter { $0.old != $0.new || $0.droppedOverride != nil }
        let end = reload.isStart ? "" : ", rev \(reload.revision)"
        let facts = file + (reload.isStart ? [] : [("revision", .count(reload.revision))])
        let same = reload.isStart ? ": all its values are the defaults" : ", no value has changed"
        let first =
            reload.changes.isEmpty || !news.isEmpty
            ? [] : [LogEntry("reloaded", "\(reload.file) read\(same)\(end)", facts)]
        let shown = news.prefix(maxListed).map { change in
            LogEntry(
                "reloaded", LogEntry.cut("\(reload.file): \(change)\(end)"),
                [("path", .string(change.path.joined))]
                    + LogEntry.values(change.old, change.new, isSecret: change.isSecret) + facts)
        }
        let unknown = reload.unknown.prefix(maxListed).map {
            LogEntry("unknown", "\($0); \(TweakReload.pendingNote)", file)
        }
        return first + shown + LogEntry.more("reloaded", news.count - maxListed, facts) + unknown
            + LogEntry.more("unknown", reload.unknownCount - unknown.count, file)
    }

    private static func entries(_ error: TweakReloadError) -> [LogEntry] {
        let file: [(String, JSON)] = [("file", .string(error.file))]
        let lines = error.description.split(separator: "\n").enumerated().map { number, line in
            let problem = number < error.problems.count ? error.problems[number] : nil
            let place: [(String, JSON)] = problem?.line.map { [("line", .count($0))] } ?? []
            let code: [(String, JSON)] = problem.map { [("code", .string($0.error.code.rawValue))] } ?? []
            return LogEntry("reloadFailed", String(line), file + place + code)
        }
        let end = LogEntry(
            "reloadFailed", "\(error.file) is rejected; nothing has changed", file + [("problems", .count(error.count))]
        )
        return lines + [end]
    }
}
