// The arguments that a command can declare: their kinds, how often they stand there, and keywords.

/// One argument of a command.
package struct Argument: Sendable {
    /// What its text is read as; nil where one of its keywords can stand, and nothing else.
    var kind: Kind?
    /// Which tweaks a path or pattern can mean.
    var tweaks = Tweaks.all
    /// How often it stands there.
    var counts = 0...1
    /// With a kind, what can stand in the place of a text.
    var keywords: [Keyword] = []
    /// How many arguments with a place of their own stand before it.
    var place = 0
    /// The bare word that stands before it, at the end of the line.
    var marker: String?
    /// What the command takes with it.
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

    /// Whether a token is the word that stands before it.
    func isMarked(by token: Token?) -> Bool { token.map { !$0.isQuoted && $0.text == marker } ?? false }

    /// As help shows it; nil where it does not.
    var synopsis: String? {
        if !isShown { return nil }
        let label = kind?.label ?? keywords.map(\.rawValue).joined(separator: "|")
        let text = (marker.map { "\($0) " } ?? "") + label + (counts.upperBound > 1 ? "…" : "")
        return counts.lowerBound == 0 ? "[\(text)]" : text
    }

    /// What a text is read as.
    package enum Kind: Sendable {
        case command, prefix, path, pattern, preset, scope, text, token, count, duration, revision, session, version
        /// Of the tweak, and of the action, whose path stands before it.
        case value, argument
        /// All that is left of the line.
        case line, person

        /// As help calls it.
        var label: String {
            switch self {
            case .command: "command"
            case .prefix: "prefix"
            case .path: "PATH"
            case .pattern: "PATTERN"
            case .preset, .person: "NAME"
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
        var takesRest: Bool { self == .line || self == .person }
    }

    /// The tweaks that a path or pattern can mean.
    package enum Tweaks: Sendable { case all, settable, actions }
}

/// A word that means something by itself in its place.
package enum Keyword: String, Sendable {
    case dry, force, json, mine, modified, off, on, partly, rotate
    case only = "--only"
    case scram = "scram-sha-256"

    /// Whether quotes make it a text, because one can stand there.
    var isBare: Bool { [.modified, .only, .partly].contains(self) }
    /// Whether it can stand behind later arguments, too, as in shells.
    var standsAnywhere: Bool { self == .only }

    func matches(_ token: Token) -> Bool { token.text == rawValue && !(isBare && token.isQuoted) }
}
