// Resolves the command line to a process and connects to it.

import Tweaks
import TweaksTerminal
import TweaksWire

/// The process that commands go to.
struct Target {
    /// The name for messages.
    let name: String
    /// The address, which is the same after a restart.
    let address: Address
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

    init(_ socket: NamedSocket, _ connection: Connection? = nil) {
        (name, address, reusable) = (socket.name, socket.address, ReusableConnection(connection))
    }

    init(_ address: Address) { (name, self.address, reusable) = (address.text, address, ReusableConnection(nil)) }

    /// The saved token for its address.
    var savedLogin: SavedLogin {
        let (option, isPublic) =
            switch address {
            case .unix(let path): (name == path ? "-s \(path)" : name, false)
            case .tcp: ("-H \(address.text)", true)
            }
        return SavedLogin(
            cache: FileTokenCache.standard, server: address.cacheKey, option: option, isPublic: isPublic)
    }

    /// Connects, and authenticates with the saved token, if there is one.
    func connect() throws(Failure) -> Connection {
        let connection = try open()
        try savedLogin.authenticate(on: connection) { Console(isJSON: false).reportProblem($0) }
        if connection.hasEnded { throw noAnswerFailure }
        return connection
    }

    /// Connects without authenticating.
    func open() throws(Failure) -> Connection {
        if let connection = reusable.take() { return connection }
        do throws(Address.ConnectError) {
            return try Connection(address)
        } catch {
            throw Failure(
                .unreachable, "\(address.text): \(error.text); tweakctl without arguments lists the running processes")
        }
    }

    /// The error for a process that is stopped, or too busy to answer.
    var noAnswerFailure: Failure { Failure(.unreachable, "\(name): accepts connections, but does not answer") }

    // MARK: From the command line

    /// The process that the words name, and the remaining words.
    static func of(_ invocation: Invocation) throws(Failure) -> (Target, words: [String]) {
        let words = invocation.words
        if let address = invocation.address { return (Target(address), words) }
        // `repl` may precede the name.
        if words.count >= 2, Verb(rawValue: words[0]) == .repl {
            return (try named(words[1]), [words[0]] + words.dropFirst(2))
        }
        // A running process takes precedence over a command of the same name, such as the example hello.
        if let first = words.first, let (socket, connection) = RunningProcess.running(first) {
            return (Target(socket, connection), Array(words.dropFirst()))
        }
        if let first = words.first, !isCommand(words) {
            return (try named(first), Array(words.dropFirst()))
        }
        return (Target(try RunningProcess.implied()), words)
    }

    /// The process that `login` names. A word that is not a process may be a misplaced token, and is not repeated.
    static func forLogin(_ arguments: LoginArguments, _ address: Address?) throws(Failure) -> Target {
        if let address { return Target(address) }
        guard let name = arguments.name else { return Target(try RunningProcess.implied()) }
        if let (socket, connection) = RunningProcess.running(name) { return Target(socket, connection) }
        let sockets = RunningProcess.running()
        if let socket = try? RunningProcess.instance(of: name, among: sockets) { return Target(socket) }
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

    private static func named(_ name: String) throws(Failure) -> Target {
        if let (socket, connection) = RunningProcess.running(name) { return Target(socket, connection) }
        let sockets = RunningProcess.running()
        if let socket = try RunningProcess.instance(of: name, among: sockets) { return Target(socket) }
        let shown = Quoting.excerpt(name)
        if let near = Spelling.nearest(to: name, among: sockets.map(\.name)) {
            throw Failure(.unreachable, "\(shown) is not running; did you mean \(near)?")
        }
        if let near = Spelling.nearest(to: name, among: Command.all.map(\.name)) {
            throw Failure(.unreachable, "\(shown) is neither a running process nor a command; did you mean \(near)?")
        }
        if sockets.isEmpty { throw Failure(.unreachable, "\(shown) is not running; \(RunningProcess.noProcessText)") }
        throw Failure(.unreachable, "\(shown) is not running; these are: \(RunningProcess.names(sockets))")
    }
}
