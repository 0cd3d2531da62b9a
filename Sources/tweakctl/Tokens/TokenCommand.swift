// Parses the command `token` and its options, and carries it out on a token file.

import Tweaks
import TweaksSystem
import TweaksWire

/// `token new`, `token list`, `token renew` and `token revoke`: they change a token file, and connect to no process.
struct TokenCommand: Equatable {
    enum Action: Equatable {
        case new(name: String, scopes: [TweakScope], expires: Int64?, rate: Int?)
        case list
        /// Replaces a token; without `expires` the old expiry stays.
        case renew(name: String, expires: Int64?)
        /// Without scopes: revokes the whole token.
        case revoke(name: String, [TweakScope])
    }

    let action: Action
    let path: String
    /// The user whose service reads a new file, if it is another user.
    let reader: String?

    /// The usage lines.
    static let usages = [
        "token new NAME --scopes read write:Label [--expires 30d] [--rate 10] [--file PATH] [--for-user USER]",
        "token list [--file PATH]", "token renew NAME [--expires 30d] [--file PATH]",
        "token revoke NAME [SCOPE…] [--file PATH]",
    ]

    init(action: Action, path: String, reader: String? = nil) {
        self.action = action
        self.path = path
        self.reader = reader
    }

    /// - Parameters:
    ///   - words: The words after `token`.
    ///   - file: The value of `TWEAKS_TOKEN_FILE`.
    init(_ words: [String], file: String?, now: Int64) throws(Failure) {
        let (plain, options) = try Self.parsed(words)
        action = try Self.action(plain, options, now)
        reader = options["--for-user"]
        guard let path = options["--file"] ?? file, !path.isEmpty else {
            throw Failure(
                .usage,
                "token: no token file is given; add --file PATH, or set TWEAKS_TOKEN_FILE as for the process")
        }
        self.path = path
    }

    /// Splits words into plain ones and options with their values; `--scopes` takes all words up to the next option.
    private static func parsed(_ words: [String]) throws(Failure) -> (plain: [String], options: [String: String]) {
        var (plain, options) = ([String](), [String: String]())
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("-") else {
                plain.append(word)
                continue
            }
            guard Self.options.contains(word) else {
                throw Invocation.notAnOption(word, of: "token", Self.options.sorted(), or: Self.help)
            }
            guard var value = rest.popFirst() else {
                throw Failure(.usage, "token: \(word) needs a value; \(Self.help)")
            }
            while word == "--scopes", let more = rest.first, !more.hasPrefix("-") {
                rest.removeFirst()
                value += " " + more
            }
            guard options.updateValue(value, forKey: word) == nil else {
                throw Failure(.usage, "token: \(word) is given twice; \(Self.help)")
            }
        }
        return (plain, options)
    }

    private static let options: Set = ["--scopes", "--expires", "--rate", "--file", "--for-user"]
    private static var help: String { "tweakctl \(usages.joined(separator: "; "))" }

    private static func action(
        _ words: [String], _ options: [String: String], _ now: Int64
    ) throws(Failure) -> Action {
        let taken: Set<String> =
            switch words.first {
            case "new": Self.options
            case "renew": ["--expires", "--file"]
            default: ["--file"]
            }
        if let stray = options.keys.sorted().first(where: { !taken.contains($0) }) {
            throw Failure(.usage, "token: \(stray) is for token new; \(help)")
        }
        let expires = try options["--expires"].map { text throws(Failure) in try expiry(text, now) }
        switch words.first {
        case "new" where words.count == 2:
            return .new(
                name: try name(words[1]), scopes: try scopes(options["--scopes"]), expires: expires,
                rate: try options["--rate"].map(rate))
        case "list" where words.count == 1: return .list
        case "renew" where words.count == 2: return .renew(name: try name(words[1]), expires: expires)
        case "revoke" where words.count >= 2:
            return .revoke(name: try name(words[1]), try words.dropFirst(2).map(scope))
        default: throw Failure(.usage, "token: use \(help)")
        }
    }

    private static func name(_ text: String) throws(Failure) -> String {
        if PresetName.isName(text) { return text }
        throw Failure(
            .usage,
            "token: \(Quoting.excerpt(text)) is not a valid token name; "
                + "use 1–64 of A–Z a–z 0–9 . _ - and no . at the beginning")
    }

    /// Parses scopes as protocol tokens: a scope with a space is quoted.
    private static func scopes(_ text: String?) throws(Failure) -> [TweakScope] {
        guard let text, text.contains(where: { $0 != " " }) else {
            throw Failure(.usage, "token new: no scopes are given; add --scopes, as in --scopes read write:Label")
        }
        let words = CommandText.tokens(text)
        if words.isEmpty {
            let what = "the quotes do not match; quote a whole scope"
            throw Failure(.usage, "token new: --scopes \(Quoting.excerpt(text)): \(what)")
        }
        return try words.map { word throws(Failure) in try scope(word.text) }
    }

    private static func scope(_ text: String) throws(Failure) -> TweakScope {
        do throws(TweakError) {
            return try TweakScope(text)
        } catch {
            throw Failure(.usage, error.message)
        }
    }

    private static func expiry(_ text: String, _ now: Int64) throws(Failure) -> Int64 {
        if let end = Expiry.parse(text, now: now) { return end }
        throw Failure(
            .usage,
            "token: --expires \(Quoting.excerpt(text)): write a duration, as 30d or 12h, or a time, as "
                + "2030-01-01T00:00:00Z")
    }

    private static func rate(_ text: String) throws(Failure) -> Int {
        if let rate = Int(text), TokenText.rates.contains(rate) { return rate }
        throw Failure(
            .usage,
            "token new: --rate \(Quoting.excerpt(text)): write the number of commits a second, "
                + "\(TokenText.rates.lowerBound) to \(TokenText.rates.upperBound)")
    }
}

// MARK: - Running

extension TokenCommand {
    private var file: PrivateFile {
        get throws(Failure) {
            let group = try reader.flatMap { name throws(Failure) in try Self.group(of: name) }
            return PrivateFile(path: path, sizeLimit: TokenText.sizeLimit, sharedWith: group)
        }
    }

    /// The primary group of a service's user, which gets read permission; nil if it is this process's own group.
    private static func group(of user: String) throws(Failure) -> UInt32? {
        if let group = System.primaryGroup(of: user) { return group == System.ownGroup ? nil : group }
        throw Failure(.usage, "token: --for-user \(Quoting.excerpt(user)): there is no such user on this machine")
    }

    /// Carries out the command.
    func run(_ console: Console) throws(Failure) -> ExitCode {
        switch action {
        case .new(let name, let scopes, let expires, let rate): try make(name, scopes, expires, rate, console)
        case .list: return try list(console)
        case .renew(let name, let expires): try renew(name, expires, console)
        case .revoke(let name, let scopes):
            let left = try revoke(name, scopes)
            if console.isJSON {
                let scopes = JSON.array(left.map { .string($0.description) })
                console.print([JSON.object([("ok", .bool(true)), ("name", .string(name)), ("scopes", scopes)]).text])
            }
            let what = left.isEmpty ? "\(name) is revoked" : "\(name) keeps \(Self.words(left))"
            console.printRemark("\(what); open sessions lose it as soon as the process has read \(path)")
        }
        return .ok
    }

    private func make(
        _ name: String, _ scopes: [TweakScope], _ expires: Int64?, _ rate: Int?, _ console: Console
    ) throws(Failure) {
        let secret = TokenSecret.make()
        let entry = TokenEntry(name: name, token: secret, scopes: scopes, expires: expires, commitsPerSecond: rate)
        try file.change { bytes throws(Failure) in try TokenLines(bytes, path).adding(entry) }
        try show(secret, entry, console)
    }

    /// Replaces the secret. Name, scopes and expiry stay; sessions with the old token lose its scopes.
    private func renew(_ name: String, _ expires: Int64?, _ console: Console) throws(Failure) {
        let secret = TokenSecret.make()
        var renewed: TokenEntry?
        try file.change(creates: false) { bytes throws(Failure) in
            var lines = TokenLines(bytes, path)
            renewed = try lines.renew(name, secret, expires)
            return lines.bytes
        }
        guard let renewed else { throw Failure(.refused, "\(path): there is no such file, so there is no \(name)") }
        try show(secret, renewed, console)
    }

    private func show(_ secret: String, _ entry: TokenEntry, _ console: Console) throws(Failure) {
        let name = entry.name
        // A token that could not be printed must not count as a working one.
        let shown = console.isJSON ? entry.json(with: secret).text : secret
        guard System.write(Array((shown + "\n").utf8), to: 1) else {
            throw Failure(
                .refused, "the token could not be printed on standard output; tweakctl token revoke \(name)")
        }
        var words = "\(name): may \(Self.words(entry.scopes))"
        if let expires = entry.expires { words += ", ends \(Expiry.text(expires, now: Expiry.now))" }
        if let rate = entry.commitsPerSecond { words += ", at most \(rate) commits a second" }
        console.printRemark(words)
        console.printRemark(
            "the token is shown only this once: \(path) holds keys to verify it, not the token; use it with "
                + "tweakctl login")
    }

    private func revoke(_ name: String, _ scopes: [TweakScope]) throws(Failure) -> [TweakScope] {
        var left: [TweakScope]?
        try file.change(creates: false) { bytes throws(Failure) in
            var lines = TokenLines(bytes, path)
            left = try lines.revoke(name, scopes)
            return lines.bytes
        }
        guard let left else { throw Failure(.refused, "\(path): there is no such file, so there is no \(name)") }
        return left
    }

    private static func words(_ scopes: [TweakScope]) -> String {
        scopes.map(\.token).joined(separator: " ")
    }

    // MARK: Listing

    /// Prints valid tokens on standard output, and invalid lines on standard error.
    private func list(_ console: Console) throws(Failure) -> ExitCode {
        guard let bytes = try file.read() else {
            throw Failure(.refused, "\(path): there is no such file; tweakctl token new makes it")
        }
        let text = TokenText(bytes)
        let entries = text.table.entries
        if console.isJSON {
            console.print(entries.map { $0.json.text })
        } else if entries.isEmpty, console.style.isHumanReadable {
            console.printRemark("\(path): no tokens")
        } else {
            console.print(Self.table(entries, console.style, now: Expiry.now))
        }
        for problem in text.problems {
            console.reportProblem(
                "\(path):\(problem.line.map { "\($0):" } ?? "") line ignored: \(problem.error.message)")
        }
        if text.refusesPlainByMistake { console.reportProblem("\(path): \(TokenText.plainOffByMistake)") }
        if let first = text.plainOnly.first {
            let names = text.plainOnly.map(\.name).joined(separator: ", ")
            console.reportProblem(
                "\(path): clients must send these tokens in plain text (sha256: lines): \(names); "
                    + "tweakctl token renew \(first.name) makes one that need not be sent")
        }
        return text.problems.isEmpty ? .ok : .refused
    }

    /// Aligned columns, with a heading on a terminal.
    static func table(_ entries: [TokenEntry], _ style: Style, now: Int64) -> [String] {
        var rows = entries.map { entry in
            [
                entry.name, words(entry.scopes), entry.expires.map { Expiry.text($0, now: now) } ?? "never",
                entry.commitsPerSecond.map { "\($0)/s" } ?? "-", entry.shortDigest,
            ]
        }
        if style.isHumanReadable { rows.insert(["NAME", "SCOPES", "EXPIRES", "RATE", "DIGEST"], at: 0) }
        let widths = (0..<5).map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
        return rows.enumerated().map { position, row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let text = TextWidth.padded(Quoting.sanitized(cell.0), to: cell.1)
                if style.isHumanReadable, position == 0 { return text }
                if column == 2, cell.0.hasPrefix("expired") { return style.paint(text, .error) }
                return column == 0 ? style.paint(text, .name) : text
            }
            let line = cells.joined(separator: "  ").trimmedAtEnd
            return style.isHumanReadable && position == 0 ? style.paint(line, .faint) : line
        }
    }
}

extension TokenEntry {
    /// Enough of the digest to distinguish tokens.
    fileprivate var shortDigest: String { TokenText.hexadecimal(digest.prefix(4)) }

    fileprivate var json: JSON { .object(fields + [("digest", .string(shortDigest))]) }

    /// A new token, which is shown this once.
    fileprivate func json(with secret: String) -> JSON {
        .object([("ok", .bool(true))] + fields + [("token", .string(secret))])
    }

    private var fields: [(String, JSON)] {
        [
            ("name", .string(name)), ("scopes", .array(scopes.map { .string($0.description) })),
            ("expires", .text(expires.map { TimeText.seconds($0) })),
            ("rate", commitsPerSecond.map { .count($0) } ?? .null),
        ]
    }
}
