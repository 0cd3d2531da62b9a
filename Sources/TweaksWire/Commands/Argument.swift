// The arguments that a command can declare: their kinds, how often they stand there, and keywords.

/// One argument of a command.
package enum Argument: Sendable {
    case positional(Positional)
    case option(Option)
    case marked(Marked)

    /// What a text is read as.
    package enum Kind: Equatable, Sendable {
        case command, prefix, text, preset, scope, token
        case path(Tweaks), pattern(Tweaks)
        /// A value of the tweak whose path stands before it.
        case value
        /// An argument of the action whose path stands before it.
        case argument
        case duration, revision, count, session, version
        /// All that is left of the line.
        case line, person

        /// As help shows it.
        var label: String {
            switch self {
            case .command: "command"
            case .prefix: "prefix"
            case .text, .line: "TEXT"
            case .preset, .person: "NAME"
            case .scope: "SCOPE"
            case .token: "TOKEN"
            case .path: "PATH"
            case .pattern: "PATTERN"
            case .value: "VALUE"
            case .argument: "ARGUMENT"
            case .duration: "DURATION"
            case .revision: "REV"
            case .count: "N"
            case .session: "SESSION"
            case .version: "VERSION"
            }
        }
    }

    /// The tweaks that a path or pattern can mean.
    package enum Tweaks: Sendable { case all, settable, actions }

    /// An argument that has a place.
    package struct Positional: Sendable {
        let kind: Kind
        let counts: ClosedRange<Int>
        /// What may stand there instead.
        let keyword: Keyword?
    }

    /// One of some keywords, behind the arguments that stand before it.
    package struct Option: Sendable {
        let keywords: [Keyword]
        /// What the command takes with it.
        let permission: RequiredPermission?
        /// Whether help shows it, and whether completion offers it.
        let (isShown, isOffered): (Bool, Bool)
        /// How many arguments with a place stand before it.
        var position = 0
    }

    /// An argument at the end, behind a bare word that says what it is.
    package struct Marked: Sendable {
        let word: String
        let kind: Kind
        let isOffered: Bool
    }

    static func one(_ kind: Kind) -> Argument { several(kind, 1...1) }
    static func optional(_ kind: Kind, or keyword: Keyword? = nil) -> Argument { several(kind, 0...1, or: keyword) }
    static func several(_ kind: Kind, _ counts: ClosedRange<Int> = 1...(.max), or keyword: Keyword? = nil) -> Argument {
        .positional(Positional(kind: kind, counts: counts, keyword: keyword))
    }
    static func option(
        _ keywords: Keyword..., permission: RequiredPermission? = nil, isShown: Bool = true, isOffered: Bool = true
    ) -> Argument {
        .option(Option(keywords: keywords, permission: permission, isShown: isShown, isOffered: isOffered))
    }
    static func marked(_ word: String, _ kind: Kind, isOffered: Bool = true) -> Argument {
        .marked(Marked(word: word, kind: kind, isOffered: isOffered))
    }

    /// As help shows it; nil where it does not.
    var synopsis: String? {
        switch self {
        case .positional(let argument):
            let label = argument.counts.upperBound > 1 ? "\(argument.kind.label)…" : argument.kind.label
            return argument.counts.lowerBound == 0 ? "[\(label)]" : label
        case .option(let option):
            return option.isShown ? "[\(option.keywords.map(\.rawValue).joined(separator: "|"))]" : nil
        case .marked(let argument): return "[\(argument.word) \(argument.kind.label)]"
        }
    }
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
