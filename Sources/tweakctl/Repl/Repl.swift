// The line mode: a prompt, history and Tab, and the answers below.

import Tweaks
import TweaksTerminal
import TweaksWire

/// A conversation with one process, typed by a person.
struct Repl {
    private let target: Target
    private let console: Console
    private var connection: Connection?
    private var history = History(path: History.standardPath)
    private var name: String
    private var decoder = KeyDecoder()
    private var keys: [Key] = []
    private var editor = LineEditor()
    /// How many changes the open batch has; nil without one.
    private var batch: Int?
    /// The same Tab twice lists what there is.
    private var hasCompletedInVain = false

    /// How long a process may take to say who it is, or what a word may become, in milliseconds.
    private static let patience: Int32 = 3_000

    init(_ target: Target, _ console: Console) throws(Failure) {
        (self.target, self.console) = (target, console)
        name = target.name
        connection = try target.connect()
        greet()
    }

    /// Goes on until Ctrl-D or `quit`.
    mutating func run() -> ExitCode {
        while let line = readLine() {
            let line = line.trimmedAtEnd
            if !CommandText.isAnswered(line) { continue }
            if ["quit", "exit"].contains(line) { return .ok }
            if line == "logout" || line == "logout --keep" { logOut(keeps: line != "logout") } else { answer(line) }
        }
        return .ok
    }

    // MARK: Talking

    private mutating func greet() {
        batch = nil
        guard let hello = connection?.ask("hello 1", within: Self.patience) else {
            connection = nil
            return console.complain("\(target.silence.description); the next line tries again")
        }
        if hello.isRefusal { console.report(hello) }
        name = hello.fact("name") ?? name
        if console.isJSON { _ = connection?.ask("json on", within: Self.patience) }
    }

    private mutating func answer(_ line: String) {
        if connection?.hasEnded ?? true { reconnect() }
        if let secret = Secrets.token(of: line), CommandText.tokens(line).count == 2 { return authenticate(secret) }
        let answer = connection?.ask(line) { console.printEvent($0) }
        if Secrets.areIn(line) { return authenticated(line, answer) }
        guard let answer else {
            history.add(line, inFile: false)
            return lose()
        }
        history.add(line, inFile: Self.isWorthKeeping(line, answer))
        let isHelp = ["help", "?"].contains(line)
        console.report(isHelp ? answer.replacing(body: CommandHelp.grouped(answer.body, console.style)) : answer)
        note(answer, to: line)
    }

    /// Follows whether a batch is open, and repeats what was queued.
    private mutating func note(_ answer: Answer, to line: String) {
        let wasOpen = batch != nil
        batch = Self.batch(batch, after: line, answer)
        if wasOpen, batch == nil, answer.isRefusal { console.remark("nothing has changed, and the batch is closed") }
        guard let batch, wasOpen, answer.status.hasPrefix("ok queued") else { return }
        console.remark("queued: \(line); \(batch) so far, then commit or abort")
    }

    /// How many changes the open batch has after an answer; nil without one.
    static func batch(_ count: Int?, after line: String, _ answer: Answer) -> Int? {
        guard let first = CommandText.tokens(line).first, !first.isQuoted else { return count }
        switch first.text {
        case "begin" where !answer.isRefusal: return 0
        case "abort" where !answer.isRefusal: return nil
        // One that came too soon leaves the batch as it is.
        case "commit" where !answer.status.hasPrefix("error too-many"): return nil
        default: return answer.status.hasPrefix("ok queued") ? count.map { $0 + 1 } : count
        }
    }

    /// What was answered to a line with a token, which is neither remembered nor shown again.
    private mutating func authenticated(_ line: String, _ answer: Answer?) {
        guard let answer else { return lose() }
        console.report(Secrets.token(of: line).map(answer.masked) ?? answer)
    }

    /// Shows a token that was typed, which the server is not sent.
    private mutating func authenticate(_ secret: String) {
        let token = KeptToken(secret: secret, name: "", scopes: [])
        switch connection?.show(token, within: Welcome.patience) {
        case .accepted(let answer)?, .tokenRefused(let answer)?, .refused(let answer)?:
            console.report(answer.masked(secret))
        case .isPlainOnly?:
            console.complain(
                "\(name) knows no other way than to be sent the token itself, and was not; "
                    + Welcome.plainRemedy(target.welcome.option))
        case .isStranger?:
            connection = nil
            console.complain(Welcome.stranger(target.name).description)
        case nil: lose()
        }
    }

    private mutating func lose() {
        if let connection { console.complain("\(name): \(connection.end); the next line connects again") }
        connection = nil
    }

    /// Closes the connection. With the token kept the next line connects as before, with all the rights that were given
    /// up; without it, as nobody.
    private mutating func logOut(keeps: Bool) {
        connection = nil
        if keeps { return console.remark("closed; the next line connects again, with the token that is kept") }
        do throws(Failure) {
            let token = try target.welcome.cache?.forget(target.address.cacheKey)
            let what = token.map { "the token \($0.name) is forgotten" } ?? "no token was kept"
            console.remark("closed, and \(what); the next line connects without one")
        } catch {
            console.complain(error.description)
        }
    }

    private mutating func reconnect() {
        do throws(Failure) {
            connection = try target.connect()
            greet()
        } catch {
            connection = nil
            console.complain(error.description)
        }
    }

    /// A value that was set may be a secret, and only the answer tells: it shows the value, or that there is one. What
    /// leaves that open is remembered, but not written down. Nor is a line that begins with a blank, as in shells.
    static func isWorthKeeping(_ line: String, _ answer: Answer) -> Bool {
        if line.hasPrefix(" ") { return false }
        let tokens = CommandText.tokens(line)
        // What is no command may be a change that was misspelled.
        let command = tokens.first.flatMap { $0.isQuoted ? nil : Command.named($0.text) }
        if answer.isRefusal, command == nil { return false }
        let isChange = command?.takesValue == true || tokens.count == 3 && tokens[1].text.hasSuffix("=")
        if !isChange { return true }
        let rows = answer.body.compactMap { TweakRow($0) }
        return !answer.isRefusal && !rows.isEmpty && !rows.contains(where: \.isSecret)
    }

    // MARK: Typing

    /// A line as it is submitted; nil at the end.
    private mutating func readLine() -> String? {
        editor = LineEditor(history: history.lines)
        Terminal.enterRaw()
        defer { Terminal.leaveRaw() }
        redraw()
        while true {
            guard let key = nextKey() else { return nil }
            let outcome = editor.handle(key)
            if outcome != .complete { hasCompletedInVain = false }
            switch outcome {
            case .submit:
                endLine()
                return editor.text
            case .discard:
                write("^C\n")
                editor = LineEditor(history: history.lines)
            case .quit:
                endLine()
                return nil
            case .complete: complete()
            case .suspend: Terminal.suspend()
            case .clearScreen: write("\u{1B}[H\u{1B}[2J")
            case .edited: break
            }
            if keys.isEmpty { redraw() }
        }
    }

    /// The next key; events are shown above the line while nobody types.
    private mutating func nextKey() -> Key? {
        while keys.isEmpty {
            let socket = connection.flatMap { $0.hasEnded ? nil : $0.number } ?? -1
            let ready = System.wait([(0, .read), (socket, .read)])
            if ready[1].canRead { showArrivals() }
            guard ready[0].canRead else { continue }
            guard let bytes = System.read(0), !bytes.isEmpty else { return nil }
            keys = decoder.decode(bytes)
        }
        return keys.removeFirst()
    }

    private mutating func showArrivals() {
        guard let connection else { return }
        connection.receive()
        var events: [String] = []
        while let message = connection.arrivedMessage() {
            if case .event(let text) = message { events.append(text) }
        }
        if events.isEmpty, !connection.hasEnded { return }
        write("\r\u{1B}[K")
        for event in events { console.printEvent(event) }
        if connection.hasEnded { console.complain("\(name): \(connection.end); the next line connects again") }
        redraw()
    }

    // MARK: Tab

    private mutating func complete() {
        // A token that is being typed is nobody's to complete.
        if Secrets.areIn(editor.text) { return write("\u{7}") }
        let completion = Completion(editor.textBeforeCursor)
        guard let connection, !connection.hasEnded, !console.isJSON else { return }
        guard let answer = connection.ask(completion.request, within: Self.patience) else {
            write("\n")
            return console.complain("\(name): does not answer; the next line connects again")
        }
        let candidates = Completion.candidates(answer)
        if let text = completion.replacement(candidates) {
            editor.replace(from: completion.start, with: text)
        } else if hasCompletedInVain, candidates.count > 1 {
            let shown = candidates.prefix(100)
            write("\n" + Completion.table(Array(shown), columns: Terminal.columns).joined(separator: "\n") + "\n")
            if shown.count < candidates.count { write("… and \(candidates.count - shown.count) more\n") }
        } else {
            hasCompletedInVain = true
            write("\u{7}")
        }
    }

    // MARK: Drawing

    /// A stranger may call himself anything, at any length.
    private var prompt: String { Quoting.sanitized(name).fitted(to: 32) + (batch == nil ? "> " : "*> ") }

    private func redraw() {
        let width = TextWidth.of(prompt)
        // A token that is typed does not show.
        let shown = Secrets.isAuthentication(editor.text) ? editor.dotted(from: "auth ".count) : editor
        let (text, cursor) = shown.visible(columns: Terminal.columns - width)
        write("\r" + console.style.paint(prompt, .name) + text + "\u{1B}[K\r\u{1B}[\(width + cursor)C")
    }

    /// With the cursor behind the line, so that nothing overwrites it.
    private func endLine() { write("\n") }

    private func write(_ text: String) { System.write(Array(text.utf8), to: 1) }
}
