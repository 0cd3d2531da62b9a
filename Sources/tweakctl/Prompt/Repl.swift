// Runs the line mode: a prompt with history and Tab completion, and answers below it.

import Tweaks
import TweaksSystem
import TweaksWire

/// An interactive line-mode session with one process.
struct Repl {
    private let target: Target
    private let console: Console
    private var connection: Connection?
    private var history = History(path: History.standardPath)
    private var name: String
    private var decoder = KeyDecoder()
    private var keys: [Key] = []
    private var editor = LineEditor()
    /// The number of changes in the open batch; nil without a batch.
    private var batch: Int?
    /// Whether the last Tab completed nothing; the next one lists the candidates.
    private var lastTabFailed = false

    /// The timeout of completions, in milliseconds.
    private static let timeout: Int32 = 3_000

    init(_ target: Target, _ console: Console) throws(Failure) {
        self.target = target
        self.console = console
        name = target.name
        connection = try target.connect()
        greet()
    }

    /// Runs until Ctrl-D or `quit`.
    mutating func run() -> ExitCode {
        while let line = readLine() {
            let line = line.trimmedAtEnd
            if !CommandText.isAnswered(line) { continue }
            if ["quit", "exit"].contains(line) { return .ok }
            switch line {
            case "logout": logOut(keepsToken: false)
            case "logout --keep": logOut(keepsToken: true)
            default: answer(line)
            }
        }
        return .ok
    }

    // MARK: Requests

    private mutating func greet() {
        batch = nil
        guard let connection else { return }
        guard let hello = connection.ask("hello 1", within: target.timeout.milliseconds) else {
            self.connection = nil
            return console.reportProblem("\(target.failure(of: connection).description); the next line tries again")
        }
        if hello.isRefusal { console.report(hello) }
        name = hello.field("name") ?? name
        if console.isJSON { _ = connection.ask("json on", within: target.timeout.milliseconds) }
    }

    private mutating func answer(_ line: String) {
        if connection?.hasEnded ?? true { reconnect() }
        if let secret = Secrets.token(of: line), CommandText.tokens(line).count == 2 { return authenticate(secret) }
        let answer = connection.flatMap { connection in
            target.response(to: line, on: connection, withFields: !console.isJSON) { console.printEvent($0) }
        }
        if Secrets.containsToken(line) { return reportAuthentication(line, answer) }
        guard let answer else {
            history.add(line, inFile: false)
            return reportLostConnection()
        }
        history.add(line, inFile: Self.isStorable(line, answer))
        let isHelp = ["help", "?"].contains(line)
        console.report(
            isHelp ? answer.replacing(body: CommandHelp.grouped(answer.body, console.style)) : answer, to: line)
        trackBatch(answer, after: line)
    }

    /// Tracks whether a batch is open, and confirms queued changes.
    private mutating func trackBatch(_ answer: Answer, after line: String) {
        let wasOpen = batch != nil
        batch = Self.batch(batch, after: line, answer)
        if wasOpen, batch == nil, answer.isRefusal {
            console.printRemark("nothing has changed, and the batch is closed")
        }
        guard let batch, wasOpen, answer.isQueued else { return }
        console.printRemark("queued: \(line); \(batch) so far, then commit or abort")
    }

    /// The number of changes in the open batch after an answer; nil without a batch.
    static func batch(_ count: Int?, after line: String, _ answer: Answer) -> Int? {
        guard let first = CommandText.tokens(line).first, !first.isQuoted else { return count }
        switch first.text {
        case "begin" where !answer.isRefusal: return 0
        case "abort" where !answer.isRefusal: return nil
        // A commit refused for its rate leaves the batch open.
        case "commit" where answer.errorCode != .tooMany: return nil
        default: return answer.isQueued ? count.map { $0 + 1 } : count
        }
    }

    /// Reports the answer to a line with a token. The line does not enter the history, and the token is masked.
    private mutating func reportAuthentication(_ line: String, _ answer: Answer?) {
        guard let answer else { return reportLostConnection() }
        console.report(Secrets.token(of: line).map(answer.masked) ?? answer)
    }

    /// Authenticates by SCRAM with a token that was typed, which is not sent.
    private mutating func authenticate(_ secret: String) {
        let token = SavedToken(secret: secret, name: "", scopes: [])
        switch connection?.authenticate(with: token, within: target.timeout.milliseconds) {
        case .accepted(let answer)?, .tokenRefused(let answer)?, .refused(let answer)?:
            console.report(answer.masked(secret))
        case .plainOnly?:
            console.reportProblem(
                "\(name) accepts tokens only in plain text, and the token was not sent; "
                    + SavedLogin.plainRemedy(target.savedLogin.option))
        case .serverUnverified?:
            connection = nil
            console.reportProblem(SavedLogin.unverifiedServer(target.name).description)
        case nil: reportLostConnection()
        }
    }

    private mutating func reportLostConnection() {
        if let connection { console.reportProblem("\(name): \(connection.endReason); the next line connects again") }
        connection = nil
    }

    /// Closes the connection. If the token stays saved, the next line connects with it, including scopes that were
    /// dropped; otherwise it connects without a token.
    private mutating func logOut(keepsToken: Bool) {
        connection = nil
        if keepsToken { return console.printRemark("closed; the next line connects again, with the saved token") }
        do throws(Failure) {
            let token = try target.savedLogin.cache?.forget(target.address.cacheKey)
            let what = token.map { "the saved token \($0.name) is deleted" } ?? "no token was saved"
            console.printRemark("closed, and \(what); the next line connects without one")
        } catch {
            console.reportProblem(error.description)
        }
    }

    private mutating func reconnect() {
        do throws(Failure) {
            connection = try target.connect()
            greet()
        } catch {
            connection = nil
            console.reportProblem(error.description)
        }
    }

    /// Whether a line may be written to the history file. A value may be secret, which only the answer shows. If the
    /// answer does not, the line stays in memory only, as does a line with a leading space, as in shells.
    static func isStorable(_ line: String, _ answer: Answer) -> Bool {
        if line.hasPrefix(" ") { return false }
        let tokens = CommandText.tokens(line)
        // An unknown command may be a misspelled change.
        let command = tokens.first.flatMap { $0.isQuoted ? nil : Command.named($0.text) }
        if answer.isRefusal, command == nil { return false }
        let isChange = command?.takesValue == true || tokens.count == 3 && tokens[1].text.hasSuffix("=")
        if !isChange { return true }
        // Only secrets have the field `set`.
        return !answer.isRefusal && !answer.tweaks.isEmpty && answer.tweaks.allSatisfy { $0["set"] == nil }
    }

    // MARK: Input

    /// Reads a line; nil at the end of input.
    private mutating func readLine() -> String? {
        editor = LineEditor(history: history.lines)
        Terminal.enterRaw()
        defer { Terminal.leaveRaw() }
        redraw()
        while true {
            guard let key = nextKey() else { return nil }
            let outcome = editor.handle(key)
            if outcome != .complete { lastTabFailed = false }
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

    /// Waits for the next key; meanwhile events are printed above the line.
    private mutating func nextKey() -> Key? {
        while keys.isEmpty {
            let socket = connection.flatMap { $0.hasEnded ? nil : $0.number } ?? -1
            // The Escape key ends a search, and the start of a sequence does not.
            let mayBeEscape = editor.search != nil && decoder.isUndecided
            let ready = System.wait(
                [(0, .read), (socket, .read)], milliseconds: mayBeEscape ? KeyDecoder.escapeTime : nil)
            if ready[1].canRead { showArrivals() }
            guard ready[0].canRead else {
                if mayBeEscape, !ready[1].canRead, let key = decoder.decide() { return key }
                continue
            }
            guard let bytes = System.read(0), !bytes.isEmpty else { return nil }
            keys = decoder.decode(bytes)
        }
        return keys.removeFirst()
    }

    private mutating func showArrivals() {
        guard let connection else { return }
        connection.receive()
        var events: [String] = []
        while let message = connection.nextMessage() {
            if case .event(let text) = message { events.append(text) }
        }
        if events.isEmpty, !connection.hasEnded { return }
        write("\r\u{1B}[K")
        for event in events { console.printEvent(event) }
        if connection.hasEnded {
            console.reportProblem("\(name): \(connection.endReason); the next line connects again")
        }
        redraw()
    }

    // MARK: Tab

    private mutating func complete() {
        // Tokens have no completions.
        if Secrets.containsToken(editor.text) { return write("\u{7}") }
        let completion = Completion(editor.textBeforeCursor)
        guard let connection, !connection.hasEnded, !console.isJSON else { return }
        guard let answer = connection.ask(completion.request, within: Self.timeout) else {
            write("\n")
            return console.reportProblem("\(name): does not answer; the next line connects again")
        }
        let candidates = Completion.candidates(answer)
        if let text = completion.replacement(candidates) {
            editor.replace(from: completion.start, with: text)
        } else if lastTabFailed, candidates.count > 1 {
            let shown = candidates.prefix(100)
            write("\n" + Completion.table(Array(shown), columns: Terminal.columns).joined(separator: "\n") + "\n")
            if shown.count < candidates.count { write("… and \(candidates.count - shown.count) more\n") }
        } else {
            lastTabFailed = true
            write("\u{7}")
        }
    }

    // MARK: Drawing

    /// The prompt. A hostile server may send any name, of any length.
    private var prompt: String { Quoting.sanitized(name).fitted(to: 32) + (batch == nil ? "> " : "*> ") }

    private func redraw() {
        let prompt = editor.search?.prompt.fitted(to: max(Terminal.columns / 2, 8)) ?? prompt
        let width = TextWidth.of(prompt)
        // A token is masked while it is typed.
        let shown = Secrets.isAuthentication(editor.text) ? editor.dotted(from: "auth ".count) : editor
        let (text, cursor) = shown.visible(columns: Terminal.columns - width)
        write("\r" + console.style.paint(prompt, .name) + text + "\u{1B}[K\r\u{1B}[\(width + cursor)C")
    }

    /// Moves the cursor below the line, so that nothing overwrites it.
    private func endLine() { write("\n") }

    private func write(_ text: String) { System.write(Array(text.utf8), to: 1) }
}
