// Compares requests over loopback to a daemon with default settings with GET and SET of Redis, from the same load
// generator.

import Foundation

enum WireBenchmarks {
    /// A request, and the first character of the line that ends its reply; for Redis' bulk replies, of the line before.
    struct Dialect: Sendable {
        let request: @Sendable (Int) -> String
        let mark: Character
    }

    typealias Dialects = (get: Dialect, set: Dialect)

    static let ours = (
        get: Dialect(request: { "get Bench/Wire/Number\($0 % 100)\r\n" }, mark: "o"),
        set: Dialect(request: { "set Bench/Wire/Number\($0 % 100) \($0 * 37 % 9_973)\r\n" }, mark: "o")
    )
    static let theirs = (
        get: Dialect(request: { redisCommand("GET", "Bench/Wire/Number\($0 % 100)") }, mark: "$"),
        set: Dialect(request: { redisCommand("SET", "Bench/Wire/Number\($0 % 100)", "\($0 * 37 % 9_973)") }, mark: "+")
    )

    /// A command as clients of Redis send it. The inline form, which a person types, costs Redis twice as much.
    private static func redisCommand(_ words: String...) -> String {
        "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    }

    static func run() throws {
        guard let redis = try Peer.redis() else {
            return Table.skipped("rates against Redis", "install redis-server")
        }
        let tweaks = try Peer.tweaks(["serve-default"])
        let loads = [
            (clients: 1, inFlight: 1, rounds: 20_000), (clients: 50, inFlight: 1, rounds: 2_000),
            (clients: 50, inFlight: 16, rounds: 400), (clients: 1, inFlight: 64, rounds: 4_000),
        ]
        try fill(tweaks.port, ours.set)
        try fill(redis.port, theirs.set)
        for load in loads {
            for (name, mine, other) in [("get", ours.get, theirs.get), ("set", ours.set, theirs.set)] {
                let shape = "\(load.clients) × \(load.inFlight) in flight"
                let rates = try compare(load, (tweaks.port, mine), (redis.port, other))
                Table.row(
                    "\(name), \(shape): requests a second / Redis", ours: rates.ours, theirs: rates.theirs, unit: "/s",
                    goal: "≥ 1.0")
            }
        }
    }

    static func fill(_ port: UInt16, _ dialect: Dialect) throws {
        let connection = try Connection(port: port)
        for number in 0..<100 {
            try connection.ask(dialect.request(number), linesBeginningWith: dialect.mark)
        }
    }

    private static func compare(
        _ load: (clients: Int, inFlight: Int, rounds: Int), _ mine: (UInt16, Dialect), _ other: (UInt16, Dialect)
    ) throws -> (ours: Double, theirs: Double) {
        var rates: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<5 {
            rates.ours.append(try rate(load, mine.0, mine.1))
            rates.theirs.append(try rate(load, other.0, other.1))
        }
        return (Measure.median(rates.ours), Measure.median(rates.theirs))
    }

    private static func rate(
        _ load: (clients: Int, inFlight: Int, rounds: Int), _ port: UInt16, _ dialect: Dialect
    ) throws -> Double {
        let clients = try Clients(load.clients, inFlight: load.inFlight, dialect) { try Connection(port: port) }
        let rounds = load.rounds / 4
        let time = try Measure.nanoseconds { try clients.ask(rounds: rounds) }
        return Double(rounds * load.clients * load.inFlight) / (time / 1e9)
    }

    /// Connections that repeat the same requests.
    final class Clients {
        private let connections: [Connection]
        private let batches: [[UInt8]]
        private let inFlight: Int
        private let mark: Character
        private var sent = 0

        /// Every set is a change: a number has a different value in each batch.
        init(_ count: Int, inFlight: Int, _ dialect: Dialect, connect: () throws -> Connection) throws {
            (self.inFlight, mark) = (inFlight, dialect.mark)
            connections = try (0..<count).map { _ in try connect() }
            batches = (0..<200).map { batch in
                Array((0..<inFlight).map { dialect.request(batch * 131 + $0) }.joined().utf8)
            }
        }

        /// Sends a batch of requests on each connection, then reads all replies; repeats that.
        func ask(rounds: Int) throws {
            for _ in 0..<rounds {
                for connection in connections {
                    try connection.send(batches[sent % batches.count])
                    sent += 1
                }
                for connection in connections { try connection.receive(inFlight, linesBeginningWith: mark) }
            }
        }
    }
}
