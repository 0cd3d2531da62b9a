// Defines the arguments that a command can declare: kinds, counts and keywords.

/// One argument of a command.
package struct Argument: Sendable {
    /// The kind of its text; nil where only one of its keywords is valid.
    var kind: Kind?
    /// The tweaks that a path or pattern can match.
    var tweaks = Tweaks.all
    /// How often it can occur.
    var counts = 0...1
    /// With a kind: the keywords that can replace a text.
    var keywords: [Keyword] = []
    /// The number of positional arguments before it.
    var position = 0
    /// The unquoted word that introduces it, at the end of the line.
    var marker: String?
    /// The permission that the command requires with it.
    var permission: RequiredPermission?
    /// Whether help shows it.
    var isShown = true
    /// Whether completion offers it.
    var isOffered = true

    @inline(never) static func one(_ kind: Kind, of tweaks: Tweaks = .all) -> Argument {
        Argument(kind: kind, tweaks: tweaks, counts: 1...1)
    }
    @inline(never) static func optional(_ kind: Kind, of tweaks: Tweaks = .all, or keywords: Keyword...) -> Argument {
        Argument(kind: kind, tweaks: tweaks, keywords: keywords)
    }
    @inline(never) static func several(_ kind: Kind, of tweaks: Tweaks = .all, or keywords: Keyword...) -> Argument {
        Argument(kind: kind, tweaks: tweaks, counts: 1...(.max), keywords: keywords)
    }
    @inline(never) static func any(_ kind: Kind) -> Argument { Argument(kind: kind, counts: 0...(.max)) }
    @inline(never) static func marked(_ marker: String, _ kind: Kind, isOffered: Bool = true) -> Argument {
        Argument(kind: kind, marker: marker, isOffered: isOffered)
    }
    @inline(never) static func option(
        _ keywords: Keyword..., permission: RequiredPermission? = nil, isShown: Bool = true, isOffered: Bool = true
    ) -> Argument {
        Argument(keywords: keywords, permission: permission, isShown: isShown, isOffered: isShown && isOffered)
    }

    /// Whether a token is the word that introduces it.
    func isMarked(by token: Token?) -> Bool { token.map { !$0.isQuoted && $0.text == marker } ?? false }

    /// Its form in help; nil where help omits it.
    var synopsis: String? {
        if !isShown { return nil }
        let label = kind?.label ?? keywords.map(\.rawValue).joined(separator: "|")
        let text = (marker.map { "\($0) " } ?? "") + label + (counts.upperBound > 1 ? "…" : "")
        return counts.lowerBound == 0 ? "[\(text)]" : text
    }

    /// The kind of an argument's text.
    package enum Kind: Sendable {
        case command, prefix, path, pattern, preset, scope, text, token, count, duration, revision, session, version
        /// A value of the preceding tweak; an argument of the preceding action.
        case value, argument
        /// The rest of the line.
        case line, displayName

        /// Its name in help.
        var label: String {
            switch self {
            case .command: "command"
            case .prefix: "prefix"
            case .path: "PATH"
            case .pattern: "PATTERN"
            case .preset, .displayName: "NAME"
            case .scope: "SCOPE"
            case .text, .line: "TEXT"
            case .token: "TOKEN"
            case .count: "N"
            case .duration: "DURATION"
            case .revision: "REV"
            case .session: "SESSION"
            case .version: "VERSION"
            case .value: "VALUE"
            case .argument: "ARGUMENT"
            }
        }
        var takesRest: Bool { self == .line || self == .displayName }
    }

    /// The tweaks that a path or pattern can match.
    package enum Tweaks: Sendable { case all, settable, actions }
}

/// A word with a fixed meaning in its position.
package enum Keyword: String, Sendable {
    case dry, force, json, mine, modified, off, on, partly, rotate, text, token
    case only = "--only"
    case scram = "scram-sha-256"

    /// Whether it must be unquoted, because a text is valid in the same position.
    var isBare: Bool { [.modified, .only, .partly].contains(self) }
    /// Whether it can also follow later arguments, as in shells.
    var standsAnywhere: Bool { self == .only }

    func matches(_ token: Token) -> Bool { token.text == rawValue && !(isBare && token.isQuoted) }
}
