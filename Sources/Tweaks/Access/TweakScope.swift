// Defines a permission scope: a kind of access, and the tweaks that it covers.

/// A permission: a kind of access, to all tweaks or to those that match a pattern.
///
/// ```swift
/// let designers: [TweakScope] = [.read, "write:Label", "run:Cache/Maintenance"]
/// ```
///
/// The text is the same in code, in token files and on the wire: `read`, `write:Label`, `run:Cache/Maintenance`. A
/// pattern is a path, one or two whole parts, or a glob, as in the protocol's commands; `write:*` is `write`.
public struct TweakScope: Hashable, Sendable, CustomStringConvertible {
    /// A kind of access.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Read values, lists, events and history.
        case read
        /// Change values: one by one, in batches, by undo and by presets. Implies `read`.
        case write
        /// Run actions, and see them.
        case run
        /// Reload, list and end sessions, delete presets, force an undo. Implies all others.
        case admin
    }

    /// The kind of access.
    public let kind: Kind
    /// The tweaks that it covers; nil: all.
    package let pattern: TweakPattern?

    /// Read access to everything.
    public static let read = TweakScope(.read)
    /// Read and write access to everything.
    public static let write = TweakScope(.write)
    /// Permission to run all actions.
    public static let run = TweakScope(.run)
    /// All permissions.
    public static let admin = TweakScope(.admin)

    private init(_ kind: Kind) { (self.kind, pattern) = (kind, nil) }

    /// A scope from its text.
    /// - Parameter text: `read`, `write`, `run` or `admin`, alone or followed by `:` and a pattern.
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
                "scope \(Quoting.excerpt(text)): after “:” write a path, the beginning of one, or a glob, as in "
                    + "\(word):Label or \(word):*/Text")
        }
        self.pattern = pattern
    }

    private static func split(_ text: String) -> (word: String, rest: String?) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (text, nil) }
        return (String(text[..<colon]), TweakPattern.trimmed(String(text[text.utf8.index(after: colon)...])))
    }

    /// The scope's text form.
    public var description: String { pattern.map { "\(kind.rawValue):\($0.text)" } ?? kind.rawValue }

    /// The same, quoted where needed to be one token of a line.
    package var token: String { Quoting.needsQuotes(description) ? Quoting.json(description) : description }
}

extension TweakScope: ExpressibleByStringLiteral {
    /// A scope from a literal. A malformed literal is a programming error: it traps with the reason.
    public init(stringLiteral text: StaticString) {
        do throws(TweakError) {
            self = try TweakScope(text.description)
        } catch {
            preconditionFailure(error.message)
        }
    }
}
