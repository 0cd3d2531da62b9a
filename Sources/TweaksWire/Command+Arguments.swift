// Makes requests of a command's arguments, where that takes more than a line of the table.

import Tweaks

extension ArraySlice<Token> {
    var texts: [String] { map(\.text) }
    func text(_ offset: Int) -> String { self[startIndex + offset].text }
}

extension Request.Change {
    /// The value of `set`: one token; `toggle` only when bare.
    init(_ tokens: ArraySlice<Token>) {
        let token = tokens[tokens.startIndex]
        self = token.isBare("toggle") ? .toggle : .assign(token.text)
    }
}

extension Request {
    static func set(_ arguments: ArraySlice<Token>) -> Request? {
        let change = Request.Change(arguments.dropFirst())
        if arguments.count == 2 { return .set(path: arguments.text(0), change) }
        guard arguments.count == 4, arguments[arguments.startIndex + 2].isBare("for") else { return nil }
        return .setFor(path: arguments.text(0), change, lifetime: arguments.text(3))
    }

    /// No token is called like the mechanism.
    static func auth(_ arguments: ArraySlice<Token>) -> Request? {
        if arguments.count == 2 { return arguments.text(0) == Scram.mechanism ? .auth(.scram(arguments.text(1))) : nil }
        return arguments.text(0) == Scram.mechanism ? nil : .auth(.plain(arguments.text(0)))
    }

    static func watch(_ arguments: ArraySlice<Token>) -> Request? {
        if let last = arguments.last, last.isBare("since") { return nil }
        guard let keyword = arguments.dropLast().last, keyword.isBare("since") else {
            return watch(arguments, since: nil)
        }
        guard let last = arguments.last, let revision = revision(last), arguments.count > 2 else { return nil }
        return watch(arguments.dropLast(2), since: revision)
    }

    /// `modified` is a keyword when bare: no path is that short, and a category of that name can be quoted.
    private static func watch(_ arguments: ArraySlice<Token>, since: UInt64?) -> Request {
        let patterns = arguments.filter { !$0.isBare("modified") }
        return .watch(patterns.map(\.text), modified: patterns.count < arguments.count, since: since)
    }

    static func begin(_ arguments: ArraySlice<Token>) -> Request? {
        guard let argument = arguments.first else { return .begin(revision: nil) }
        return revision(argument).map { .begin(revision: $0) }
    }

    /// Digits only: `UInt64.init` would take a sign, too.
    static func revision(_ token: Token) -> UInt64? {
        token.text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt64(token.text) : nil
    }

    static func hello(_ arguments: ArraySlice<Token>) -> Request? {
        guard let version = Int(arguments.text(0)), version >= 1 else { return nil }
        if arguments.count == 1 { return .hello(version: version, json: false) }
        return arguments.text(1) == "json" ? .hello(version: version, json: true) : nil
    }

    /// Whether a command's only word is there; nil for another one.
    static func isOption(_ word: String, _ arguments: ArraySlice<Token>) -> Bool? {
        guard let argument = arguments.first else { return false }
        return argument.text == word ? true : nil
    }

    /// The words of undo and redo, each once, in any order.
    static func travel(_ arguments: ArraySlice<Token>) -> (isMine: Bool, isForced: Bool)? {
        let words = Set(arguments.texts)
        guard words.count == arguments.count, words.isSubset(of: ["mine", "force"]) else { return nil }
        return (words.contains("mine"), words.contains("force"))
    }

    /// `--only` on either side of the name, `partly` behind it. Alone, or in quotes, each of them is a name.
    static func load(_ arguments: ArraySlice<Token>) -> Request? {
        let name = arguments.first { !$0.isBare("--only") }
        guard let name, let position = arguments.firstIndex(of: name) else { return nil }
        let only = arguments.filter { $0.isBare("--only") }
        let partly = arguments[(position + 1)...].filter { $0.isBare("partly") }
        guard only.count <= 1, partly.count <= 1, arguments.count == 1 + only.count + partly.count else { return nil }
        return .load(name: name.text, only: !only.isEmpty, partly: !partly.isEmpty)
    }

    static func history(_ arguments: ArraySlice<Token>) -> Request? {
        guard let argument = arguments.first else { return .history(nil) }
        return revision(argument).flatMap { Int(exactly: $0) }.map { .history($0) }
    }

    static func isOn(_ arguments: ArraySlice<Token>) -> Bool? {
        switch arguments.first?.text {
        case nil, "on"?: true
        case "off"?: false
        default: nil
        }
    }
}
