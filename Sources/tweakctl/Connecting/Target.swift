// Resolves the command line to a process, connects to it, and limits how long to wait for it.

import Tweaks
import TweaksSystem
import TweaksWire

/// The process that commands go to.
struct Target {
    /// The name for messages.
    let name: String
    /// The address, which is the same after a restart.
    let address: Address
    private(set) var timeout: Timeout
    private let reusable: ReusableConnection

    /// The connection that proved that the process runs. The first caller takes it, which saves a second connect.
    private final class ReusableConnection {
        private var connection: Connection?

        init(_ connection: Connection?) { self.connection = connection }

        func take() -> Connection? {
            defer { connection = nil }
            return connection
        }
    }

    init(_ socket: NamedSocket, _ connection: Connection? = nil, timeout: Timeout) {
        name = socket.name
        address = socket.address
        reusable = ReusableConnection(connection)
        self.timeout = timeout
    }

    init(_ address: Address, timeout: Timeout) {
        name = address.text
        self.address = address
        reusable = ReusableConnection(nil)
        self.timeout = timeout
    }

    /// The saved token for its address.
    var savedLogin: SavedLogin {
        let isPublic = if case .tcp = address { true } else { false }
        return SavedLogin(cache: .standard, server: address.cacheKey, option: option, isPublic: isPublic)
    }

    /// The words that name it on a command line.
    var option: String {
        switch address {
        case .unix(let path): name == path ? "-s \(path)" : name
        case .tcp: "-H \(address.text)"
        }
    }

    /// The same process, of which nothing takes longer than a time in milliseconds; nil leaves its timeout.
    func within(_ milliseconds: Int32?) -> Target {
        guard let milliseconds else { return self }
        var target = self
        target.timeout = .milliseconds(max(1, min(milliseconds, timeout.milliseconds ?? milliseconds)))
        return target
    }

    /// Connects, and authenticates with the saved token, if there is one.
    func connect() throws(Failure) -> Connection {
        let login = savedLogin
        let report = { Console(isJSON: false).reportProblem($0) }
        guard let token = login.token(report) else { return try open() }
        let (connection, outcome) = try authenticated(with: token)
        try checkAdmitted(outcome)
        if let outcome, let failure = login.handle(outcome, of: token, report) { throw failure }
        if connection.hasEnded { throw failure(of: connection) }
        return connection
    }

    /// Connects without authenticating.
    func open() throws(Failure) -> Connection {
        if let connection = reusable.take() { return connection }
        do throws(SocketError) {
            return try Connection(address, within: timeout.milliseconds)
        } catch {
            if error.isTimeout { throw Failure(.timeout, "\(address.text): \(error.reason); \(Self.lateRemedy)") }
            throw Failure(
                .unreachable, "\(address.text): \(error.text); tweakctl without arguments lists the running processes")
        }
    }

    // MARK: Asking

    /// Sends a command and waits for its answer.
    /// - Parameter withFields: Whether the answer is to have its fields, if the process is not too old for that.
    func ask(_ line: String, on connection: Connection, withFields: Bool = false) throws(Failure) -> Answer {
        guard let answer = response(to: line, on: connection, withFields: withFields) else {
            throw failure(of: connection, to: line)
        }
        return answer
    }

    /// The same; nil without an answer.
    func response(
        to line: String, on connection: Connection, withFields: Bool = false, onEvent: (String) -> Void = { _ in }
    ) -> Answer? {
        connection.ask(
            line, within: timeout.milliseconds, withFields: withFields, onEvent: onEvent,
            isExtended: { timeout.mayBeExtended(for: line.utf8) && isAlive })
    }

    /// Whether the process answers another connection, while an action delays the answer to this one. A refusal is an
    /// answer, too.
    var isAlive: Bool {
        guard let other = try? Connection(address, within: timeout.milliseconds) else { return false }
        return other.ask("ping", within: timeout.milliseconds) != nil
    }

    /// Switches the session to JSON.
    func switchToJSON(_ connection: Connection) throws(Failure) {
        let answer = try ask("json on", on: connection)
        if answer.isRefusal { throw Failure(.refused, "\(name): \(answer.complaint)") }
    }

    /// The error of a connection that has ended, or not answered in time.
    /// - Parameter line: A command that the process may have executed all the same.
    func failure(of connection: Connection, to line: String? = nil) -> Failure {
        let isChange = line.map { !CommandText.onlyReads($0) } ?? false
        guard connection.hasTimedOut else {
            let remedy = isChange ? "the command may have taken effect: look before you repeat it" : "try again"
            return Failure(.unreachable, "\(name) \(connection.endReason) without an answer; \(remedy)")
        }
        return Failure(
            .timeout,
            "\(name): accepts connections, but has not answered within \(timeout.text); "
                + (isChange ? "the command may still take effect; " : "") + Self.lateRemedy)
    }

    private static let lateRemedy = "it is stopped or busy: see its state with ps, or wait longer with --timeout"

    // MARK: From the command line

    /// The process that the words name, and the remaining words.
    static func of(_ invocation: Invocation) throws(Failure) -> (Target, words: [String]) {
        let words = invocation.words
        let timeout = invocation.timeout
        if let address = invocation.address { return (Target(address, timeout: timeout), words) }
        guard let first = words.first else { return (Target(try RunningProcess.implied(), timeout: timeout), words) }
        // A running process takes precedence over a command of the same name, such as the example hello.
        if let target = try running(first, timeout) { return (target, Array(words.dropFirst())) }
        // `repl` may precede the name.
        if words.count >= 2, Verb(rawValue: first) == .repl {
            return (try named(words[1], timeout), [first] + words.dropFirst(2))
        }
        if isCommand(words) { return (Target(try RunningProcess.implied(), timeout: timeout), words) }
        throw notRunning(first)
    }

    /// The process that `login` names. A word that is not a process may be a misplaced token, and is not repeated.
    static func forLogin(
        _ arguments: LoginArguments, _ address: Address?, _ timeout: Timeout
    ) throws(Failure) -> Target {
        if let address { return Target(address, timeout: timeout) }
        guard let name = arguments.name else { return Target(try RunningProcess.implied(), timeout: timeout) }
        if let target = try? running(name, timeout) { return target }
        throw LoginArguments.noProcess
    }

    /// Whether the words begin with a command, and the name was left out.
    private static func isCommand(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        if first == "-" || Verb(rawValue: first) != nil || Command.named(first) != nil || first.contains("/") {
            return true
        }
        return first.contains(" ") || words.count > 1 && ["=", "+=", "-="].contains(words[1])
    }

    private static func named(_ name: String, _ timeout: Timeout) throws(Failure) -> Target {
        if let target = try running(name, timeout) { return target }
        throw notRunning(name)
    }

    /// The running process of this name, or the only `NAME-PID`, as remains when the first instance has ended.
    private static func running(_ name: String, _ timeout: Timeout) throws(Failure) -> Target? {
        if let (socket, connection) = RunningProcess.running(name) {
            return Target(socket, connection, timeout: timeout)
        }
        return try RunningProcess.instance(of: name).map { Target($0, timeout: timeout) }
    }

    private static func notRunning(_ name: String) -> Failure {
        let sockets = RunningProcess.running()
        let shown = Quoting.excerpt(name)
        if let near = Spelling.nearest(to: name, among: sockets.map(\.name)) {
            return Failure(.unreachable, "\(shown) is not running; did you mean \(near)?")
        }
        if let near = Spelling.nearest(to: name, among: Verb.processNames + Command.all.map(\.name)) {
            return Failure(.unreachable, "\(shown) is neither a running process nor a command; did you mean \(near)?")
        }
        if sockets.isEmpty { return Failure(.unreachable, "\(shown) is not running; \(RunningProcess.noProcessText)") }
        return Failure(.unreachable, "\(shown) is not running; these are: \(RunningProcess.names(sockets))")
    }
}

/// The time limit of connecting and of each answer.
enum Timeout: Equatable {
    /// 10 s; an action may take longer, as long as its process answers others.
    case standard
    case milliseconds(Int32)
    /// Without a limit.
    case off

    private static let standardMilliseconds: Int32 = 10_000

    /// Parses the value of `--timeout`.
    init(_ text: String) throws(Failure) {
        if text == "off" {
            self = .off
            return
        }
        let milliseconds = DurationText.parse(text).map { $0 / 1_000_000 }
        guard let milliseconds, milliseconds > 0, let number = Int32(exactly: milliseconds) else {
            throw Failure(
                .usage, "--timeout: \(Quoting.excerpt(text)) is not a timeout; write 500ms, 10s, 5m or off")
        }
        self = .milliseconds(number)
    }

    /// In milliseconds; nil waits without a limit.
    var milliseconds: Int32? {
        switch self {
        case .standard: Self.standardMilliseconds
        case .milliseconds(let number): number
        case .off: nil
        }
    }

    /// Whether the answer to a line may take longer: the process itself limits the time of its actions.
    func mayBeExtended(for line: some Collection<UInt8>) -> Bool {
        let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let first = line.drop { blanks.contains($0) }.prefix { !blanks.contains($0) }
        return self == .standard && first.elementsEqual(Command.run.name.utf8)
    }

    /// For messages: `10s`.
    var text: String {
        milliseconds.map { DurationText.print(Int64($0) * 1_000_000) } ?? "any time"
    }
}
