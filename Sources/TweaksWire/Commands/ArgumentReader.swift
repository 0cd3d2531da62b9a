// Reads the arguments of a command as it declares them: into a request, or as far as a line is written.

import Tweaks

extension Command {
    /// The request, or `usage`.
    func request(_ tokens: ArraySlice<Token>) throws(TweakError) -> Request {
        var reader = ArgumentReader(self)
        if reader.takeAll(tokens) { return reader.request }
        throw TweakError(.usage, "\(name): write \(synopsis), as in: \(example)")
    }

    /// What may stand behind some arguments; nil where nothing makes the line right.
    package func next(after tokens: ArraySlice<Token>) -> NextArgument? {
        var reader = ArgumentReader(self)
        return reader.next(after: tokens)
    }
}

/// What may stand at the end of a line that is being written.
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

/// Takes the arguments of one command, one by one.
private struct ArgumentReader: ~Copyable {
    private(set) var request: Request
    private let command: Command.Entry
    /// The argument whose place is next, and how often it was taken.
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

    /// Takes all arguments of a line.
    mutating func takeAll(_ tokens: ArraySlice<Token>) -> Bool {
        var tokens = tokens
        if let marked = command.marked, command.isOpen || tokens.count > command.leastCount {
            if command.isOpen, marked.isMarked(by: tokens.last) { return false }
            if let last = tokens.last, marked.isMarked(by: tokens.dropLast().last) {
                guard store(last, marked.kind) else { return false }
                tokens = tokens.dropLast(2)
            }
        }
        for token in tokens where !take(token) { return false }
        if current?.kind?.takesRest == true, count > 0 { request.words = [request.words.joined(separator: " ")] }
        return isComplete
    }

    /// Takes one argument, where it can stand here.
    private mutating func take(_ token: Token) -> Bool {
        if let isTaken = takeKeyword(token) { return isTaken }
        guard let argument = current else { return false }
        if let keyword = argument.keywords.first(where: { $0.matches(token) }) {
            if !request.keywords.contains(keyword) { request.keywords.append(keyword) }
        } else if !store(token, argument.kind) {
            return false
        }
        count += 1
        if count == argument.counts.upperBound, argument.kind?.takesRest != true {
            (position, count) = (position + 1, 0)
        }
        return true
    }

    /// Nil for what is no keyword here; false for one that stands there already.
    private mutating func takeKeyword(_ token: Token) -> Bool? {
        for option in command.options where option.place <= position {
            guard let keyword = option.keywords.first(where: { $0.matches(token) }) else { continue }
            if option.place < position, !keyword.standsAnywhere { continue }
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
        case .value: request.change = token.isBare("toggle") ? .toggle : .assign(token.text)
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
            if let marked = command.marked, command.isOpen || isComplete, left < 2, marked.isMarked(by: token) {
                return left == 0 ? NextArgument(kind: marked.kind, words: request.words) : nil
            }
            if !take(token) { return nil }
        }
        var next = NextArgument(kind: current?.kind, words: request.words)
        if let current {
            next.tweaks = current.tweaks
            next.offer(current.keywords)
        }
        if !isComplete { return next }
        // In the order of the arguments, from here on and then from the first.
        for isNext in [true, false] {
            for option in command.options where option.isOffered && option.place <= position {
                if (option.place == position) == isNext, !request.has(option.keywords) { next.offer(option.keywords) }
            }
        }
        if let marked = command.marked, marked.isOffered, let marker = marked.marker { next.keywords.append(marker) }
        return next
    }
}

extension Argument.Kind {
    /// The number of this kind that a text is; nil for what is none.
    fileprivate func number(_ text: String) -> UInt64? {
        if self == .version { return Int(text).flatMap { $0 >= 1 ? UInt64($0) : nil } }
        // Digits only: `UInt64.init` would take a sign, too.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        let number = UInt64(text)
        return self == .count ? number.flatMap { Int(exactly: $0) }.map { UInt64($0) } : number
    }
}
