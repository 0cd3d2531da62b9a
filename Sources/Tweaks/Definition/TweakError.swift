// What can go wrong, with the code that the protocol sends.

/// Why something was refused: a stable code, and a message that names the subject and the remedy.
///
/// ```swift
/// do { try size.set(500) } catch { print(error.code, error.message) }
/// // out-of-range Content/Text/Size: 500 is outside 10...100
/// ```
public struct TweakError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error codes of the protocol. They are stable; messages may improve.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case unknownCommand = "unknown-command"
        case usage
        case badLine = "bad-line"
        case badQuoting = "bad-quoting"
        case tooLong = "too-long"
        case unknownTweak = "unknown-tweak"
        case ambiguous
        case badValue = "bad-value"
        case outOfRange = "out-of-range"
        case notAChoice = "not-a-choice"
        case notAnAction = "not-an-action"
        case readOnly = "read-only"
        case denied
        case authRequired = "auth-required"
        case conflict
        case tooMany = "too-many"
        case busy
        case timeout
        case io
        case actionFailed = "action-failed"
        case `internal` = "internal"
        case closing
    }

    /// What kind of error it is.
    public let code: Code
    /// Names the subject, what is wrong, and the remedy.
    public let message: String
    /// The tweak it is about, where it is about one.
    public let path: TweakPath?
    /// The limit that was hit, where it was one: servers count these.
    package let limit: TweakLimit?
    /// Whether what was named is not there, such as a preset: HTTP has a status for that.
    package let isMissing: Bool

    /// An error with its code and text.
    public init(_ code: Code, _ message: String, path: TweakPath? = nil) {
        self.init(code, message, path: path, limit: nil)
    }

    /// The same where something is not there that was named.
    package init(
        _ code: Code, _ message: String, path: TweakPath? = nil, limit: TweakLimit? = nil, isMissing: Bool
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.limit = limit
        self.isMissing = isMissing
    }

    /// The same where a limit was hit.
    package init(_ code: Code, _ message: String, path: TweakPath? = nil, limit: TweakLimit?) {
        self.init(code, message, path: path, limit: limit, isMissing: false)
    }

    /// Code and message, as on the wire.
    public var description: String { "\(code.rawValue) \(message)" }
}
