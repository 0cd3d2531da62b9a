// Defines the arguments that a command can declare, and reads them from a line or for completion.

import Tweaks

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
    @inline(never) static func any(_ kind: Kind, of tweaks: Tweaks = .all) -> Argument {
        Argument(kind: kind, tweaks: tweaks, counts: 0...(.max))
    }
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
    package enum Tweaks: Sendable { case all, settable, actions, figures }
}

/// A word with a fixed meaning in its position.
package enum Keyword: String, Sendable {
    case dry, force, json, mine, modified, off, on, partly, rotate, text, token
    case only = "--only"
    case onlyModified = "--modified"
    case stale = "--stale"
    case scram = "scram-sha-256"

    /// Whether it must be unquoted, because a text is valid in the same position.
    var isBare: Bool { [.modified, .only, .onlyModified, .partly, .stale].contains(self) }
    /// Whether it can also follow later arguments, as in shells.
    var standsAnywhere: Bool { [.only, .onlyModified, .stale].contains(self) }

    func matches(_ token: Token) -> Bool { token.text == rawValue && !(isBare && token.isQuoted) }
}

extension Command {
    /// Parses the arguments; throws `usage` where they do not match the declaration.
    func request(_ tokens: ArraySlice<Token>) throws(TweakError) -> Request {
        var reader = ArgumentReader(self)
        reader.skipsSign = hasSign(tokens)
        if reader.readAll(tokens) { return reader.request }
        if isPathWithBlanks(tokens) { throw blanksError(tokens.map(\.text)) }
        throw TweakError(.usage, "\(synopsis), as in: \(example)")
    }

    /// Whether the arguments look like one path or pattern without quotes, where the command takes only one.
    @inline(never) private func isPathWithBlanks(_ tokens: ArraySlice<Token>) -> Bool {
        guard let first = entry.positionals.first, entry.positionals.count == 1, first.counts.upperBound == 1,
            [.path, .pattern, .prefix].contains(first.kind), tokens.count > 1,
            // Two with slashes are two paths.
            tokens.count(where: { $0.text.utf8.contains(UInt8(ascii: "/")) }) == 1
        else { return false }
        // `> FILE` is for a shell.
        return tokens.allSatisfy { !$0.isQuoted && !$0.text.hasPrefix(">") && !$0.text.hasPrefix("|") }
            && TweakPattern(tokens.map(\.text).joined(separator: " ")) != nil
    }

    /// Whether the arguments are those of `set PATH = VALUE`. Alone in place of the value, the sign is the value.
    func hasSign(_ arguments: ArraySlice<Token>, isComplete: Bool = true) -> Bool {
        let start = arguments.startIndex
        guard takesValue, arguments.count > (isComplete ? 2 : 1), arguments[start + 1].isBare("=") else { return false }
        // `set PATH = for 1m`: the value is `=`.
        return arguments.count != 4 || entry.marked?.isMarked(by: arguments[start + 2]) != true
    }

    /// The argument expected after some others; nil where no further input makes the line valid.
    package func next(after tokens: ArraySlice<Token>) -> NextArgument? {
        var reader = ArgumentReader(self)
        reader.skipsSign = hasSign(tokens, isComplete: false)
        return reader.next(after: tokens)
    }
}

/// The argument expected at the end of an unfinished line.
package struct NextArgument {
    package var kind: Argument.Kind?
    package var tweaks = Argument.Tweaks.all
    package var keywords: [String] = []
    /// The texts before it.
    package let words: [String]

    fileprivate mutating func offer(_ keywords: [Keyword]) {
        for keyword in keywords { self.keywords.append(keyword.rawValue) }
    }
}

/// Reads the arguments of one command, one by one.
private struct ArgumentReader: ~Copyable {
    private(set) var request: Request
    private let command: Command.Entry
    /// Whether the `=` before the value is still to be skipped.
    var skipsSign = false
    /// The index of the current argument, and how often it was read.
    private var (position, count) = (0, 0)

    init(_ command: Command) {
        self.command = command.entry
        request = Request(command)
    }

    private var current: Argument? {
        position < command.positionals.count ? command.positionals[position] : nil
    }

    private var isComplete: Bool {
        command.positionals.dropFirst(position).enumerated().allSatisfy { offset, argument in
            argument.counts.lowerBound <= (offset == 0 ? count : 0) || argument.kind == .line
        }
    }

    /// Reads all arguments of a line; false where they do not match the declaration.
    mutating func readAll(_ tokens: ArraySlice<Token>) -> Bool {
        var tokens = tokens
        if let marked = command.marked, command.isVariadic || tokens.count > command.minimumCount {
            if command.isVariadic, marked.isMarked(by: tokens.last) { return false }
            if let last = tokens.last, marked.isMarked(by: tokens.dropLast().last) {
                guard store(last, marked.kind) else { return false }
                tokens = tokens.dropLast(2)
            }
        }
        for token in tokens where !read(token) { return false }
        if current?.kind?.takesRest == true, count > 0 { request.words = [request.words.joined(separator: " ")] }
        return isComplete
    }

    /// Reads one argument; false where it is not valid here.
    private mutating func read(_ token: Token) -> Bool {
        if let isValid = readKeyword(token) { return isValid }
        guard let argument = current else { return false }
        if skipsSign, argument.kind == .value {
            skipsSign = false
            return true
        }
        if let keyword = argument.keywords.first(where: { $0.matches(token) }) {
            if !request.keywords.contains(keyword) { request.keywords.append(keyword) }
        } else if !store(token, argument.kind) {
            return false
        }
        count += 1
        if count == argument.counts.upperBound, argument.kind?.takesRest != true {
            position = position + 1
            count = 0
        }
        return true
    }

    /// Reads a keyword; nil where the token is not a keyword here, false where it is a duplicate.
    private mutating func readKeyword(_ token: Token) -> Bool? {
        for option in command.options where option.position <= position {
            guard let keyword = option.keywords.first(where: { $0.matches(token) }) else { continue }
            if option.position < position, !keyword.standsAnywhere { continue }
            if !request.has(option.keywords) {
                request.keywords.append(keyword)
                return true
            }
            if keyword.isBare { return false }
        }
        return nil
    }

    private mutating func store(_ token: Token, _ kind: Argument.Kind?) -> Bool {
        switch kind {
        case .value: request.change = token.isBare("toggle") ? .toggleOrWord : .assign(token.text)
        case .duration: request.lifetime = token.text
        case .revision, .session, .count, .version:
            request.number = kind?.number(token.text)
            return request.number != nil
        default: request.words.append(token.text)
        }
        return true
    }

    // MARK: Unfinished lines

    mutating func next(after tokens: ArraySlice<Token>) -> NextArgument? {
        for (offset, token) in tokens.enumerated() {
            let left = tokens.count - offset - 1
            if let marked = command.marked, command.isVariadic || isComplete, left < 2, marked.isMarked(by: token) {
                return left == 0 ? NextArgument(kind: marked.kind, words: request.words) : nil
            }
            if !read(token) { return nil }
        }
        var next = NextArgument(kind: current?.kind, words: request.words)
        if let current {
            next.tweaks = current.tweaks
            next.offer(current.keywords)
        }
        if !isComplete { return next }
        // First the keywords of the current position, then earlier ones.
        for isNext in [true, false] {
            for option in command.options where option.isOffered && option.position <= position {
                let isCurrent = option.position == position
                if isCurrent == isNext, !request.has(option.keywords) { next.offer(option.keywords) }
            }
        }
        if let marked = command.marked, marked.isOffered, let marker = marked.marker { next.keywords.append(marker) }
        return next
    }
}

extension Argument.Kind {
    /// Parses a number of this kind; nil for other texts.
    fileprivate func number(_ text: String) -> UInt64? {
        if self == .version { return Int(text).flatMap { $0 >= 1 ? UInt64($0) : nil } }
        // Digits only: `UInt64.init` also accepts a sign.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        let number = UInt64(text)
        return self == .count ? number.flatMap { Int(exactly: $0) }.map { UInt64($0) } : number
    }
}
