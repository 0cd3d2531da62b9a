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

    /// The description as lines. It contains names of files and variables, which can have any characters.
    package var lines: [String] { plainLines.map { Quoting.sanitized($0) } }

    private var plainLines: [String] {
        switch self {
        case .listening(let text), .warning(let text), .reloadWaiting(let text), .saving(let text), .unsaved(let text),
            .tokens(let text), .fleet(let text), .source(let text):
            [text]
        case .conflict(let conflict): [conflict.description]
        case .session(let event): event.line.map { [$0] } ?? []
        case .changed(let commit): Self.lines(commit)
        case .reloaded(let reload): Self.lines(reload)
        case .reloadFailed(let error):
            error.description.split(separator: "\n").map { String($0) } + [
                "\(error.file) is rejected; nothing has changed"
            ]
        case .unfit(let path, let text): ["\(path.token): \(text)"]
        case .stopping: ["stopping"]
        }
    }

    /// The maximum number of listed changes; a preset of a thousand values would hide the rest of the log.
    private static let maxListed = 20
    /// The maximum length of a line, in characters, for values of up to 64 kB. The middle is cut, because the origin and the
    /// revision are at the end.
    private static let maxLineLength = 1_000

    private static func cut(_ line: String) -> String {
        let excess = line.count - maxLineLength
        if excess <= 0 { return line }
        return "\(line.prefix(maxLineLength * 2 / 3)) … \(excess) more … \(line.suffix(maxLineLength / 3))"
    }

    private static func lines(_ commit: TweakCommit) -> [String] {
        let origin = commit.origin == .expired ? ", expired" : " by \(commit.origin)"
        let shown = commit.changes.prefix(maxListed).map { cut("\($0)\(origin), rev \(commit.revision)") }
        return shown + rest(commit.changes.count)
    }

    private static func lines(_ reload: TweakReload) -> [String] {
        if reload.changes.isEmpty, reload.unknownCount == 0 {
            return ["\(reload.file) read\(reload.isStart ? ": it sets no value" : " again: nothing has changed")"]
        }
        // A tweak whose value did not change is not logged, but the reload is.
        let news = reload.changes.filter { $0.old != $0.new || $0.droppedOverride != nil }
        let end = reload.isStart ? "" : ", rev \(reload.revision)"
        let same = reload.isStart ? ": all its values are the defaults" : ", no value has changed"
        let first = reload.changes.isEmpty || !news.isEmpty ? [] : ["\(reload.file) read\(same)\(end)"]
        let shown = news.prefix(maxListed).map { cut("\(reload.file): \($0)\(end)") }
        let unknown = reload.unknown.prefix(maxListed).map { "\($0); \(TweakReload.pendingNote)" }
        return first + shown + rest(news.count) + unknown + more(reload.unknownCount - unknown.count)
    }

    private static func rest(_ count: Int) -> [String] { more(count - maxListed) }

    private static func more(_ count: Int) -> [String] { count > 0 ? ["… and \(count) more"] : [] }
}
