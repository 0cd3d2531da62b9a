// Defines the errors of the library, with the codes that the protocol sends.

/// An error: a stable code, and a message that names the subject and the remedy.
///
/// ```swift
/// do { try size.set(500) } catch { print(error.code, error.message) }
/// // out-of-range Content/Text/Size: 500 is outside 10...100
/// ```
public struct TweakError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error codes of the protocol. They are stable; messages may improve.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The line is not a command.
        case unknownCommand = "unknown-command"
        /// The arguments of a command, or the parts of a path, are wrong.
        case usage
        /// The line is not UTF-8 text.
        case badLine = "bad-line"
        /// A quote is misplaced or unbalanced.
        case badQuoting = "bad-quoting"
        /// A line, a file or a body is longer than its limit.
        case tooLong = "too-long"
        /// No tweak has this path or matches the pattern, or it was removed.
        case unknownTweak = "unknown-tweak"
        /// One tweak is required, and the pattern matches several.
        case ambiguous
        /// The text or the value is not of the tweak's kind, or the program's own check refuses it.
        case badValue = "bad-value"
        /// The value is outside the range, off the step, or longer than allowed.
        case outOfRange = "out-of-range"
        /// The value is not in the list of choices.
        case notAChoice = "not-a-choice"
        /// The tweak is a value and cannot be run.
        case notAnAction = "not-an-action"
        /// The tweak is a figure, or the process is frozen: it cannot be set.
        case readOnly = "read-only"
        /// The session lacks a permission.
        case denied
        /// The session must sign in with a token first.
        case authRequired = "auth-required"
        /// The tweak was changed meanwhile, or is declared or assigned in two ways.
        case conflict
        /// A limit is reached: sessions, watches, changes of a batch, presets.
        case tooMany = "too-many"
        /// The action is still running.
        case busy
        /// The action took longer than its time limit, or a peer was silent for too long.
        case timeout
        /// A file cannot be read or written.
        case io
        /// The action threw an error.
        case actionFailed = "action-failed"
        /// The server failed unexpectedly.
        case `internal` = "internal"
        /// The server, or this session, is ending.
        case closing
    }

    /// The code.
    public let code: Code
    /// The message: the subject, what is wrong, and the remedy.
    public let message: String
    /// The tweak that it concerns, if any.
    public let path: TweakPath?
    /// The limit that was exceeded, if any; servers count these.
    package let limit: TweakLimit?
    /// Whether a named resource such as a preset does not exist: HTTP replies 404.
    package let isMissing: Bool
    /// Whether the same request with `force`, or a load with `partly`, is carried out.
    package var canBeForced = false

    /// An error with its code and text.
    public init(_ code: Code, _ message: String, path: TweakPath? = nil) {
        self.init(code, message, path: path, limit: nil)
    }

    /// An error for a missing resource.
    package init(
        _ code: Code, _ message: String, path: TweakPath? = nil, limit: TweakLimit? = nil, isMissing: Bool
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.limit = limit
        self.isMissing = isMissing
    }

    /// An error for an exceeded limit.
    package init(_ code: Code, _ message: String, path: TweakPath? = nil, limit: TweakLimit?) {
        self.init(code, message, path: path, limit: limit, isMissing: false)
    }

    /// Code and message, as on the wire.
    public var description: String { "\(code.rawValue) \(message)" }
}

/// A limit that clients can exceed. Its raw value is its name in `stats`, and in `TweakServerLimits` if it is
/// configurable.
package enum TweakLimit: String, Hashable, Sendable, CaseIterable {
    case sessions, unauthenticatedSessions, sessionsPerPeer
    case timeToFirstLine, idleTime
    case unauthenticatedLineBytes, timeToAuthenticate, authenticationFailures
    case scopes, scopeRequests, commitsPerSecond, abandonedRequests, pendingRequestsPerPeer
    case memoryBytes
    case lineBytes, batchChanges, watchPatterns, findWords, unsentBytes
    case actionArguments, actionOutputBytes
    case presets, presetsPerPeer, presetBytes
    /// Commits that the history dropped in favor of newer ones.
    case history
    /// The audit: what one client may write on one day, and what waits to be written.
    case audit
    /// The operating system's own limit: descriptors, or memory for sockets.
    case descriptors
}
