// What somebody may do, and with which tweaks.

/// A right: a kind of access, to all tweaks or to those that a pattern names.
///
/// ```swift
/// let designers: [TweakScope] = [.read, "write:Label", "run:Cache/Maintenance"]
/// ```
///
/// The text is the same in code, in token files and on the wire: `read`, `write:Label`, `run:Cache/Maintenance`. A
/// pattern is a path, one or two whole parts, or a glob, as in the protocol's commands; `write:*` is `write`.
public struct TweakScope: Hashable, Sendable, CustomStringConvertible {
    /// What may be done.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// To see: values, lists, events, history.
        case read
        /// To change values, one by one, in batches, by undo and by presets. Implies `read`.
        case write
        /// To run actions; those that it names are seen, too.
        case run
        /// To reload, to see and end sessions, to delete presets, to force an undo. Implies all others.
        case admin
    }

    /// What may be done.
    public let kind: Kind
    /// With which tweaks; nil: with all.
    package let pattern: TweakPattern?

    /// To see everything.
    public static let read = TweakScope(.read)
    /// To see and to change everything.
    public static let write = TweakScope(.write)
    /// To run all actions.
    public static let run = TweakScope(.run)
    /// To do everything.
    public static let admin = TweakScope(.admin)

    private init(_ kind: Kind) { (self.kind, pattern) = (kind, nil) }

    /// A scope from its text.
    /// - Parameter text: `read`, `write`, `run` or `admin`, alone or with `:` and a pattern behind it.
    /// - Throws: ``TweakError`` with the code `bad-value` for anything else.
    public init(_ text: String) throws(TweakError) {
        let (word, rest) = Self.split(text)
        guard let kind = Kind(rawValue: word) else {
            throw TweakError(
                .badValue,
                "scope \(Quoting.excerpt(text)): write read, write, run or admin, with a pattern as in write:Label")
        }
        self.kind = kind
        if rest == nil || rest == "*" {
            pattern = nil
            return
        }
        guard let rest, let pattern = TweakPattern(rest), Quoting.isSafe(rest) else {
            throw TweakError(
                .badValue,
                "scope \(Quoting.excerpt(text)): behind “:” goes a path, the beginning of one, or a glob, as in "
                    + "\(word):Label or \(word):*/Text")
        }
        self.pattern = pattern
    }

    private static func split(_ text: String) -> (word: String, rest: String?) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }

    /// The scope as it is written.
    public var description: String { pattern.map { "\(kind.rawValue):\($0.text)" } ?? kind.rawValue }

    /// The same in quotes where it holds a blank, so that it is one word of a line.
    package var token: String { Quoting.needsQuotes(description) ? Quoting.json(description) : description }
}

extension TweakScope: ExpressibleByStringLiteral {
    /// A scope that is written in the program. A malformed one is a mistake in the program: it traps with its reason.
    public init(stringLiteral text: StaticString) {
        do throws(TweakError) {
            self = try TweakScope(text.description)
        } catch {
            preconditionFailure(error.message)
        }
    }
}
