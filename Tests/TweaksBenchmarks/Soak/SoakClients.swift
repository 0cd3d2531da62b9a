// All clients of the soak, on one thread: waits for their sockets, and lets each go on.

import Foundation

/// The clients, in their own process. It obeys `go`, `pause` and `end`, a line each on standard input.
struct SoakClients {
    private let target: SoakClient.Target
    private var clients: [SoakClient]
    private var generator: SeededGenerator
    private var tally = SoakClient.Tally()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isLiving = false
    private var most = 0

    /// Nil when it was not called by the soak.
    init?(_ arguments: [String]) {
        guard arguments.count == 4, let port = UInt16(arguments[1]), let count = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        else { return nil }
        target = SoakClient.Target(socketPath: arguments[0], port: port)
        clients = Array(repeating: SoakClient(), count: count)
        generator = SeededGenerator(seed: seed)
    }

    /// Lives until it is told to end, or until nobody is there any more to tell it.
    mutating func run() {
        DescriptorLimit.raise()
        while true {
            let ready = waitForEvents()
            if isLiving { step(ready) }
        }
    }

    // MARK: Orders

    /// - Returns: For each client, whether its socket is ready.
    private mutating func waitForEvents() -> [Bool] {
        var entries = clients.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
        entries.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0))
        poll(&entries, nfds_t(entries.count), isLiving ? 10 : -1)
        if entries[clients.count].revents != 0 { obey() }
        return entries.map { $0.revents != 0 }
    }

    private mutating func obey() {
        switch readLine() {
        case "go": isLiving = true
        case "pause":
            isLiving = false
            for index in clients.indices { clients[index].end(pause: generator.some(0...1_000)) }
        case "end":
            answer(account)
            exit(0)
        default: exit(1)
        }
        answer("yes")
    }

    private func answer(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

    private var account: String {
        let kinds = tally.lives.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }
        let total = tally.lives.values.reduce(0, +)
        return "\(total) sessions, at most \(most) at once, \(tally.statuses) statuses, \(tally.cut) cut short, "
            + "\(tally.refused) refused; " + kinds.joined(separator: ", ")
    }

    // MARK: Lives

    private mutating func step(_ ready: [Bool]) {
        let now = ContinuousClock.now
        for index in clients.indices where ready[index] || clients[index].wakesAt <= now {
            if clients[index].isAlive {
                if clients[index].advance(&buffer, &tally) { clients[index].end(pause: generator.some(0...100)) }
            } else {
                clients[index].begin(target, &generator, &tally)
            }
        }
        most = max(most, clients.count(where: \.isAlive))
    }
}

/// How many descriptors this process may have.
enum DescriptorLimit {
    /// As many as the system lets it.
    /// - Returns: How many that is.
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
