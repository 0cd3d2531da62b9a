// Whom the command line means, and how to get there.

import Tweaks
import TweaksTerminal
import TweaksWire

/// A process to talk to.
struct Target {
    /// What people call it.
    let name: String
    /// Where it is, and will be again after a restart.
    let address: Address
    private let opened: Opened

    /// The connection by which it was found; the first who wants one gets it, which saves a second.
    private final class Opened {
        private var connection: Connection?

        init(_ connection: Connection?) { self.connection = connection }

        func take() -> Connection? {
            defer { connection = nil }
            return connection
        }
    }

    init(_ socket: NamedSocket, _ connection: Connection? = nil) {
        (name, address, opened) = (socket.name, socket.address, Opened(connection))
    }

    init(_ address: Address) { (name, self.address, opened) = (address.text, address, Opened(nil)) }

    /// How its token is kept and shown.
    var welcome: Welcome {
        let (option, isPublic) =
            switch address {
            case .unix(let path): (name == path ? "-s \(path)" : name, false)
            case .tcp: ("-H \(address.text)", true)
            }
        return Welcome(
            cache: FileTokenCache.standard, server: address.cacheKey, option: option, isPublic: isPublic)
    }

    /// Connects, and shows the token that is kept for it; or says why not.
    func connect() throws(Failure) -> Connection {
        let connection = try open()
        try welcome.show(on: connection) { Console(isJSON: false).complain($0) }
        if connection.hasEnded { throw silence }
        return connection
    }

    /// Connects, and nothing else.
    func open() throws(Failure) -> Connection {
        if let connection = opened.take() { return connection }
        do throws(Address.Refusal) {
            return try Connection(address)
        } catch {
            throw Failure(
                .unreachable, "\(address.text): \(error.text); tweakctl alone lists the processes that can be reached")
        }
    }

    /// What is said of a process that is stopped, or too busy.
    var silence: Failure { Failure(.unreachable, "\(name): accepts connections, but does not answer") }

    // MARK: From the command line

    /// Whom the words mean, and the words that are left for it.
    static func of(_ invocation: Invocation) throws(Failure) -> (Target, words: [String]) {
        let words = invocation.words
        if let address = invocation.address { return (Target(address), words) }
        // A verb of our own may stand before the name.
        if words.count >= 2, Verb(rawValue: words[0]) == .repl {
            return (try named(words[1]), [words[0]] + words.dropFirst(2))
        }
        // A process that is called like a command, as the example hello is, goes by its name.
        if let first = words.first, let (socket, connection) = Neighbour.running(first) {
            return (Target(socket, connection), Array(words.dropFirst()))
        }
        if let first = words.first, !isCommand(words) {
            return (try named(first), Array(words.dropFirst()))
        }
        return (Target(try Neighbour.unnamed()), words)
    }

    /// Whom `login` means. What is no process may be a token in the wrong place, and is not repeated.
    static func ofLogin(_ arguments: LoginArguments, _ address: Address?) throws(Failure) -> Target {
        if let address { return Target(address) }
        guard let name = arguments.name else { return Target(try Neighbour.unnamed()) }
        if let (socket, connection) = Neighbour.running(name) { return Target(socket, connection) }
        if let socket = try? Neighbour.instance(of: name, among: Neighbour.running()) { return Target(socket) }
        throw LoginArguments.noProcess
    }

    /// Whether the words begin with a command, so that the name was left out.
    private static func isCommand(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        if first == "-" || Verb(rawValue: first) != nil || Command.named(first) != nil || first.contains("/") {
            return true
        }
        return first.contains(" ") || words.count > 1 && ["=", "+=", "-="].contains(words[1])
    }

    private static func named(_ name: String) throws(Failure) -> Target {
        if let (socket, connection) = Neighbour.running(name) { return Target(socket, connection) }
        let sockets = Neighbour.running()
        if let socket = try Neighbour.instance(of: name, among: sockets) { return Target(socket) }
        let shown = Quoting.excerpt(name)
        if let near = Spelling.nearest(to: name, among: sockets.map(\.name)) {
            throw Failure(.unreachable, "\(shown) is not running; did you mean \(near)?")
        }
        if let near = Spelling.nearest(to: name, among: Command.all.map(\.name)) {
            throw Failure(.unreachable, "\(shown) is neither a running process nor a command; did you mean \(near)?")
        }
        if sockets.isEmpty { throw Failure(.unreachable, "\(shown) is not running; \(Neighbour.nobody)") }
        throw Failure(.unreachable, "\(shown) is not running; these are: \(Neighbour.names(sockets))")
    }
}
