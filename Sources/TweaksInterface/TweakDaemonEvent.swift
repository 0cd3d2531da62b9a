// Describes what happens to a daemon, for its log.

public import Tweaks

/// Something that happened in a daemon. More cases may come; have a `default` in a `switch`.
///
/// ```swift
/// try TweakDaemon.start("throttled", onEvent: { event in
///     logger.log(level: event.isProblem ? .warning : .info, "\(event)")
/// })
/// ```
public enum TweakDaemonEvent: Sendable, CustomStringConvertible {
    /// Clients can connect; the text says where and how.
    case listening(String)
    /// Something in the environment or the program that looks like a mistake.
    case warning(String)
    /// Two declarations of one path disagree.
    case conflict(TweakConflict)
    /// Something happened to a session: it has come to another state, has shown a token, wants something that it may
    /// not have, …
    case session(TweakSessionEvent)
    /// The token file was read, and how many tokens are in it. What is wrong with it is a ``warning(_:)``.
    case tokens(String)
    /// Tweaks were changed, by whom and how.
    case changed(TweakCommit)
    /// The config file was taken.
    case reloaded(TweakReload)
    /// The config file was not taken; nothing has changed.
    case reloadFailed(TweakReloadError)
    /// The config file looks as if it were still being written; its last good values stay.
    case reloadWaiting(String)
    /// Overrides are kept, and where; or they are kept again, after a failure.
    case saving(String)
    /// Overrides are not kept, and why. Values are in effect all the same.
    case unsaved(String)
    /// A stored or configured value does not fit the tweak as it is declared today; the next layer shows.
    case unfit(TweakPath, String)
    /// The fleet is followed, or again, and what it made of a rollout. Troubles are a ``warning(_:)``.
    case fleet(String)
    /// The daemon ends.
    case stopping

    /// Whether it needs the attention of an operator.
    public var isProblem: Bool {
        switch self {
        case .warning, .conflict, .reloadFailed, .unsaved, .unfit: true
        case .reloaded(let reload): !reload.unknown.isEmpty
        case .session(let event): event.isFailure
        default: false
        }
    }

    /// One line; several where a reload or a commit has several parts; empty where there is no news, as when a session
    /// is about to open. Values of secrets are never in it.
    public var description: String { lines.joined(separator: "\n") }

    /// The description, line by line. Names of files and variables are in it, and these hold anything.
    package var lines: [String] { plainLines.map { Quoting.sanitized($0) } }

    private var plainLines: [String] {
        switch self {
        case .listening(let text), .warning(let text), .reloadWaiting(let text), .saving(let text), .unsaved(let text),
            .tokens(let text), .fleet(let text):
            [text]
        case .conflict(let conflict): [conflict.description]
        case .session(let event): event.line.map { [$0] } ?? []
        case .changed(let commit): Self.lines(commit)
        case .reloaded(let reload): Self.lines(reload)
        case .reloadFailed(let error):
            error.description.split(separator: "\n").map { String($0) } + [
                "\(error.file) is not taken; nothing has changed"
            ]
        case .unfit(let path, let text): ["\(path.token): \(text)"]
        case .stopping: ["stopping"]
        }
    }

    /// A log is read by people; a preset of a thousand values would hide everything else in it.
    private static let most = 20
    /// So would a text of 64 kB. More characters than this are cut out of the middle: who and when stand at the end.
    private static let longest = 1_000

    private static func cut(_ line: String) -> String {
        let excess = line.count - longest
        return excess > 0 ? "\(line.prefix(longest * 2 / 3)) … \(excess) more … \(line.suffix(longest / 3))" : line
    }

    private static func lines(_ commit: TweakCommit) -> [String] {
        let shown = commit.changes.prefix(most).map { cut("\($0) by \(commit.origin), rev \(commit.revision)") }
        return shown + rest(commit.changes.count)
    }

    private static func lines(_ reload: TweakReload) -> [String] {
        if reload.changes.isEmpty, reload.unknown.isEmpty { return ["\(reload.file) read again: nothing has changed"] }
        // A tweak for which the file says what is so already is no news, but that the file was taken is.
        let news = reload.changes.filter { $0.old != $0.new || $0.droppedOverride != nil }
        let first =
            reload.changes.isEmpty || !news.isEmpty
            ? [] : ["\(reload.file) taken, no value has changed, rev \(reload.revision)"]
        let shown = news.prefix(most).map { cut("\(reload.file): \($0), rev \(reload.revision)") }
        return first + shown + rest(news.count) + reload.unknown.prefix(most).map { "\($0); held until it registers" }
            + rest(reload.unknown.count)
    }

    private static func rest(_ count: Int) -> [String] { count > most ? ["… and \(count - most) more"] : [] }
}
