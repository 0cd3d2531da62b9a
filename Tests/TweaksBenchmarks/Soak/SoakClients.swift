// Runs all clients of the soak on one thread: polls their sockets and advances each.

import Foundation

/// The clients, in a separate process, which reads the commands `go`, `pause` and `end` from standard input.
struct SoakClients {
    private let target: SoakClient.Target
    private var clients: [SoakClient]
    private var generator: SeededGenerator
    private var tally = SoakClient.Tally()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isRunning = false
    private var peak = 0

    /// Nil when the arguments are not those of the soak.
    init?(_ arguments: [String]) {
        guard arguments.count == 4, let port = UInt16(arguments[1]), let count = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        else { return nil }
        target = SoakClient.Target(socketPath: arguments[0], port: port)
        clients = Array(repeating: SoakClient(), count: count)
        generator = SeededGenerator(seed: seed)
    }

    /// Runs until the command `end` or the end of input.
    mutating func run() {
        DescriptorLimit.raise()
        while true {
            let ready = waitForEvents()
            if isRunning { step(ready) }
        }
    }

    // MARK: Commands

    /// - Returns: For each client, whether its socket is ready.
    private mutating func waitForEvents() -> [Bool] {
        var entries = clients.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
        entries.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0))
        poll(&entries, nfds_t(entries.count), isRunning ? 10 : -1)
        if entries[clients.count].revents != 0 { handleCommand() }
        return entries.map { $0.revents != 0 }
    }

    private mutating func handleCommand() {
        switch readLine() {
        case "go": isRunning = true
        case "pause":
            isRunning = false
            for index in clients.indices { clients[index].end(pause: generator.some(0...1_000)) }
        case "end":
            writeLine(account)
            exit(0)
        default: exit(1)
        }
        writeLine("yes")
    }

    private var account: String {
        let kinds = tally.sessions.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }
        let total = tally.sessions.values.reduce(0, +)
        return "\(total) sessions, at most \(peak) at once, \(tally.statuses) statuses, \(tally.cut) cut short, "
            + "\(tally.refused) refused; " + kinds.joined(separator: ", ")
    }

    // MARK: Sessions

    private mutating func step(_ ready: [Bool]) {
        let now = ContinuousClock.now
        for index in clients.indices where ready[index] || clients[index].wakesAt <= now {
            if clients[index].isConnected {
                if clients[index].advance(&buffer, &tally) { clients[index].end(pause: generator.some(0...100)) }
            } else {
                clients[index].begin(target, &generator, &tally)
            }
        }
        peak = max(peak, clients.count(where: \.isConnected))
    }
}

/// The limit of open descriptors of this process.
enum DescriptorLimit {
    /// Raises the limit as far as the system permits, and returns it.
    @discardableResult
    static func raise() -> Int {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = RLIMIT_NOFILE.rawValue
        #else
            let resource = RLIMIT_NOFILE
        #endif
        getrlimit(.init(resource), &limits)
        limits.rlim_cur = min(limits.rlim_max, 65_536)
        setrlimit(.init(resource), &limits)
        getrlimit(.init(resource), &limits)
        return Int(limits.rlim_cur)
    }
}
