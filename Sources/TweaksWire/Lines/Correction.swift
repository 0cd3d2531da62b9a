// Finds the line that a wrong line was probably meant to be, for its error.

package import Tweaks

/// A line that resembles a change, with the line that was probably meant. The error repeats the value only where the
/// server, which knows the tweak, allows it: the value may be a secret.
package struct Correction: Equatable, Sendable {
    /// Where the line was found.
    package enum Place: Sendable {
        case file
        /// - Parameters:
        ///   - showsValue: Whether the error repeats the value.
        ///   - isText: Whether the value may be a text of several words.
        ///   - isList: Whether the value is a list.
        ///   - isSwitch: Whether the value may be toggled.
        case session(showsValue: Bool, isText: Bool, isList: Bool = false, isSwitch: Bool = true)
    }

    package private(set) var path: String
    /// `set` or `check`; empty for an assignment.
    private var command = ""
    /// `=`, `+=` or `-=`, in an assignment.
    private var sign = "="
    /// The value as it was written; empty where there is none.
    private var words: [String]
    /// What is wrong, in words.
    private var mistake: String
    /// Readings with another path, with more or fewer words.
    private var others: [Correction] = []
    /// The reading in which a colon within the first word belongs to the path; one at most.
    private var whole: [Correction] = []
    /// Whether the line begins like a command, so that it may be of another protocol.
    private var isCommand = false

    /// A failed change invalidates an open batch; a failed `check` does not.
    package var severity: ParsedLine.Severity {
        isCommand ? .fatalUnlessProven : command == "check" ? .ordinary : .badChange
    }

    /// A longer text is not repeated, in bytes.
    static let longest = 120
    private static let noSign = "= is missing"
    private static let noValue = "the value is missing"

    /// The error that suggests the corrected line.
    package func error(_ place: Place) -> TweakError {
        guard case .session(let showsValue, let isText, let isList, let isSwitch) = place else { return fileError }
        let time = time
        if let time, sign != "=" { return timeError(time, showsValue, isText) }
        if isList, words.count > 1, !words[0].hasPrefix("["), mistake != Self.blanks {
            return error("write a list such as " + Self.list, line(false, "[…]"))
        }
        if mistake == Self.blanks, words.isEmpty {
            return error(mistake, command.isEmpty ? "get " + Self.token(path) : line(false))
        }
        if mistake == Self.noSign, words == ["toggle"] {
            return isSwitch ? error("set is missing", set("toggle")) : error(mistake, line(false))
        }
        if let time { return timeError(time, showsValue, isText) }
        let isRead = mistake == Self.noValue && sign == "="
        return error(mistake, line(showsValue), isRead ? "; get " + Self.token(path) + " shows it" : "")
    }

    @inline(never) private func error(_ reason: String, _ line: String, _ more: String = "") -> TweakError {
        TweakError(isCommand ? .unknownCommand : .usage, reason + ": " + line + more)
    }

    @inline(never) private func set(_ rest: String) -> String { "set " + Self.token(path) + " " + rest }

    @inline(never) private func line(_ showsValue: Bool, _ list: String? = nil) -> String {
        let value = words.joined(separator: " ")
        var shown = list ?? (words.isEmpty || !Quoting.needsQuotes(value) ? "VALUE" : "\"VALUE\"")
        if showsValue, !words.isEmpty, value.utf8.count <= Self.longest { shown = Self.token(value) }
        let path = Self.token(path)
        return (command.isEmpty ? path + " " + sign : command + " " + path) + " " + shown
    }

    /// The error of a line in a file. The words before the operator may be part of a secret.
    private var fileError: TweakError {
        var text = mistake + ": "
        if mistake != Self.blanks, mistake != Self.noSlashes {
            text += line(false) + (hasComma ? "; a list is " + Self.list : "")
        } else if let shorter = others.first {
            text = shorter.mistake + ": " + shorter.line(false) + "; " + mistake
        } else {
            text += (mistake == Self.blanks ? "\"CATEGORY/COLLECTION/NAME\"" : "CATEGORY/COLLECTION/NAME") + " = VALUE"
        }
        return TweakError(.usage, text)
    }

    /// The value and the time of `PATH = VALUE for 1m`, which may also be a text without quotes.
    private var time: (value: String, duration: String)? {
        guard command.isEmpty || command == Command.set.name, words.count > 2, words[words.count - 2] == "for",
            let duration = words.last, DurationText.parse(duration) != nil
        else { return nil }
        return (words.dropLast(2).joined(separator: " "), duration)
    }

    private func timeError(_ time: (value: String, duration: String), _ showsValue: Bool, _ isText: Bool) -> TweakError
    {
        let timed = set("VALUE for DURATION")
        if sign != "=" { return error("only set with a value takes a time", timed) }
        // A token with blanks had quotes, so that the time is no part of it.
        let isUnquoted = command.isEmpty && (words.count > 3 || !words[0].contains(" "))
        if isText, isUnquoted { return error(mistake, line(showsValue), "; for a time: " + timed) }
        let reason =
            mistake == Self.noSign
            ? "set is missing" : command.isEmpty && mistake != Self.blanks ? "only set takes a time" : mistake
        let isShown = showsValue && time.value.utf8.count <= Self.longest
        return error(reason, isShown ? set(Self.value(time.value) + " for " + time.duration) : timed)
    }

    /// Whether the value looks like a list without brackets.
    private var hasComma: Bool {
        words.count > 1 && words.dropLast().contains { $0.hasSuffix(",") } && !words[0].utf8.contains(UInt8(ascii: "("))
    }

    /// A value as one token: a color and a list need no quotes.
    private static func value(_ text: String) -> String {
        let tokens = Array(("a = " + text).utf8).withUnsafeBufferPointer { try? Tokenizer.tokens($0) }
        let isToken = tokens.map { $0.count == 3 && !$0[2].isQuoted && $0[2].text == text } ?? false
        return isToken ? text : Quoting.json(text)
    }

    @inline(never) fileprivate static func token(_ text: String) -> String {
        text.isEmpty || Quoting.needsQuotes(text) ? Quoting.json(text) : text
    }
}

extension Command {
    /// The error of a path or pattern without its quotes, in place of one argument.
    package func blanksError(_ words: [String], _ code: TweakError.Code = .usage) -> TweakError {
        let path = Correction.token(words.joined(separator: " "))
        return TweakError(code, Correction.blanks + ": " + name + " " + path + (takesValue ? " VALUE" : ""))
    }
}

extension Correction {
    private static let operators = ["+=", "-=", "="]
    /// Operators that the page and the editor have.
    private static let scaling = ["*=", "/="]
    private static let severalWords = "quote a value of several words"
    private static let list = #"["a", "b"]"#
    private static let noSlashes = "paths have slashes"
    fileprivate static let blanks = "a path with blanks needs quotes"

    /// The correction of a line without a command; nil when the line does not begin like a change.
    init?(_ tokens: [Token]) {
        let shorter = Correction(withPathFirst: tokens)
        let longer = Correction(joining: tokens)
        // `PATH c2VjcmV0==` may be a secret without the operator: only a tweak of that name says that it is a path.
        let hasOperator = tokens.first(where: Self.mayEndPath).map(Self.isOperator) ?? false
        guard var reading = hasOperator ? longer ?? shorter : shorter else { return nil }
        reading.isCommand = shorter == nil
        reading.others = [shorter, longer].compactMap(\.self).filter { $0.path != reading.path }
        // A name may have a colon.
        reading.whole = Correction(withPathFirst: tokens, at: tokens.count > 1 ? .last : .never).map { [$0] } ?? []
        self = reading
    }

    /// `Shop/Pool/Queue limit = 7` and `Shop Pool Size = 7`: all words before the operator are the path.
    private init?(joining tokens: [Token]) {
        guard let end = tokens.firstIndex(where: Self.mayEndPath), !tokens[end].isQuoted else { return nil }
        var parts = tokens[..<end].map(\.text)
        var words = tokens[end...].map(\.text)
        if !Self.isOperator(tokens[end]) {
            let (last, glued) = Self.split(tokens[end], at: .never)
            if !last.isEmpty { parts.append(last) }
            words[0] = glued ?? ""
        }
        // A token is never repeated; a colon is corrected itself.
        guard parts.count > 1, !parts[0].hasSuffix(":"), !parts.contains(where: { $0.hasPrefix(TokenSecret.prefix) })
        else { return nil }
        var path = parts.joined(separator: " ")
        mistake = Self.blanks
        if parts.allSatisfy(Self.isPlain) {
            mistake = Self.noSlashes
            path = parts.count > 2 ? parts[..<2].joined(separator: "/") + "/" : "CATEGORY/COLLECTION/NAME"
            path += parts.dropFirst(2).joined(separator: " ")
        }
        guard path.utf8.count <= Self.longest, (try? TweakPath(path)) != nil else { return nil }
        self.path = path
        sign = Self.removeOperator(&words) ?? "="
        self.words = words
    }

    private static func mayEndPath(_ token: Token) -> Bool {
        token.isQuoted || token.text.utf8.contains(UInt8(ascii: "="))
    }

    /// Whether a word has only letters, digits, `-` and `_`.
    private static func isPlain(_ word: String) -> Bool {
        word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-"
        }
    }

    /// The reading of which the path is known: it may have blanks, and be longer or shorter.
    package func meant(_ isKnown: (String) -> Bool) -> Correction {
        if let whole = whole.first, isKnown(whole.path) { return whole }
        if isKnown(path) { return self }
        if let other = others.first(where: { isKnown($0.path) }) { return other }
        if isCommand || mistake == Self.blanks { return self }
        var longer = self
        for count in 1..<max(1, min(words.count + 1, 9)) {
            longer.path += " " + words[count - 1]
            if longer.path.utf8.count > Self.longest { break }
            guard isKnown(longer.path) else { continue }
            longer.mistake = Self.blanks
            longer.words = Array(words[count...])
            if let sign = Self.removeOperator(&longer.words) { longer.sign = sign }
            if longer.sign != "=" { longer.command = "" }
            return longer
        }
        return self
    }

    /// `PATH = VALUE`, where the path is the first word.
    private init?(withPathFirst tokens: [Token], at colon: Colon = .first) {
        guard let first = tokens.first else { return nil }
        let isAssignment = tokens.count > 1 && Self.isOperator(tokens[1])
        let (path, glued) = Self.split(first, at: isAssignment ? .never : colon)
        let hasColon = glued?.utf8.first == UInt8(ascii: ":")
        let slash = UInt8(ascii: "/")
        let isPath = first.isQuoted || path.utf8.count(where: { $0 == slash }) == 2 && path.utf8.last != slash
        guard isPath || isAssignment else { return nil }
        self.path = path
        var words = tokens.dropFirst().map(\.text)
        let value = (glued ?? "").unicodeScalars.dropFirst(hasColon ? 1 : 0)
        if !value.isEmpty { words.insert(String(value), at: 0) }
        let sign = tokens.count > 1 && tokens[1].isQuoted && glued == nil ? nil : Self.removeOperator(&words)
        self.words = words
        self.sign = sign ?? "="
        if words.isEmpty {
            mistake = Self.noValue
        } else if sign == nil, let operation = Self.scaling.first(where: words[0].hasPrefix) {
            mistake = "there is no " + operation + "; write the result"
            self.words = []
        } else if sign == nil {
            mistake = hasColon ? "= replaces the colon" : Self.noSign
        } else {
            // With spaces around the operator, and a value, the only error is that the value has several words.
            mistake = isAssignment && glued == nil ? Self.severalWords : "put spaces around " + self.sign
        }
    }

    /// `set PATH two words`, `set PATH += 2`; nil when the value is one token.
    init?(_ command: Command, _ arguments: ArraySlice<Token>) {
        if !command.takesValue { return nil }
        let start = arguments.startIndex + (command.hasSign(arguments) ? 2 : 1)
        guard start + 1 < arguments.endIndex else { return nil }
        if command.entry.marked?.isMarked(by: arguments[start + 1]) == true { return nil }
        path = arguments[arguments.startIndex].text
        var words = arguments[start...].map(\.text)
        if command == .set, Self.isOperator(arguments[start]) {
            sign = words.removeFirst()
            mistake = "it needs no set"
        } else {
            self.command = command.name
            mistake = Self.severalWords
        }
        self.words = words
    }

    @inline(never) private static func isOperator(_ token: Token) -> Bool {
        !token.isQuoted && operators.contains(token.text)
    }

    /// The colon after which a value may follow.
    private enum Colon { case never, first, last }

    /// A path, and what follows it without a space: an operator and a value, or a colon and perhaps a value.
    private static func split(_ token: Token, at colon: Colon) -> (path: String, glued: String?) {
        let text = token.text
        if token.isQuoted { return (text, nil) }
        if colon == .first, let end = colonAfterPath(text) { return (String(text[..<end]), String(text[end...])) }
        // By bytes: an accent may follow the sign.
        if let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
            let path = text[..<sign].utf8
            let isSum = path.last == UInt8(ascii: "+") || path.last == UInt8(ascii: "-")
            let end = isSum ? path.index(before: sign) : sign
            return (String(text[..<end]), String(text[end...]))
        }
        if colon == .last, text.last == ":" { return (String(text.dropLast()), ":") }
        return (text, nil)
    }

    /// The first colon in the third part. What follows may be a secret, with slashes and signs of its own.
    private static func colonAfterPath(_ text: String) -> String.Index? {
        var slashes = 0
        let end = text.utf8.indices.first { index in
            if text.utf8[index] == UInt8(ascii: "/") { slashes += 1 }
            return slashes > 2 || slashes == 2 && text.utf8[index] == UInt8(ascii: ":")
        }
        guard let end, slashes == 2, (try? TweakPath(String(text[..<end]))) != nil else { return nil }
        return end
    }

    /// Removes the operator at the beginning of the words, with or without a value attached.
    private static func removeOperator(_ words: inout [String]) -> String? {
        guard let first = words.first, let sign = operators.first(where: first.hasPrefix) else { return nil }
        let rest = String(first.dropFirst(sign.count))
        if rest.isEmpty { words.removeFirst() } else { words[0] = rest }
        return sign
    }
}
