// Measures permission checks: the same requests by a session with all permissions, and by others.

import Foundation

enum AccessBenchmarks {
    /// One side of a comparison: the scopes of its sessions.
    private struct Side {
        let name: String
        let scopes: String

        /// Opens a session that drops all scopes and requests these.
        func connect(_ port: UInt16) throws -> Connection {
            let connection = try Connection(port: port)
            try connection.send(Array("drop read write run admin\nrequest \(scopes)\n".utf8))
            try connection.receiveStatuses(2)
            return connection
        }
    }

    private static let whole = Side(name: "everything", scopes: "admin")
    private static let others = [
        Side(name: "read", scopes: "read"), Side(name: "read:CATEGORY", scopes: "read:Bench"),
        Side(name: "10 patterns, the last fits", scopes: patterns),
    ]
    private static let patterns = (0..<9).map { "read:Other/Part\($0) " }.joined() + "read:Bench/Wire"

    static func run() throws {
        let tweaks = try Peer.tweaks()
        for inFlight in [1, 64] {
            for side in others { try gets(side, inFlight, tweaks.port) }
        }
        for side in others.dropFirst() { try events(side, tweaks.port) }
    }

    /// Compares gets, several in flight, with those of a session with all permissions.
    private static func gets(_ side: Side, _ inFlight: Int, _ port: UInt16) throws {
        let lines = (0..<inFlight).map { "get Bench/Wire/Number\($0 % 100)\n" }.joined()
        let (bytes, rounds) = (Array(lines.utf8), inFlight == 1 ? 2_000 : 200)
        let (mine, other) = (try side.connect(port), try whole.connect(port))
        func ask(_ connection: Connection) throws {
            for _ in 0..<rounds {
                try connection.send(bytes)
                try connection.receiveStatuses(inFlight)
            }
        }
        for connection in [mine, other] { try ask(connection) }
        let times = try Measure.pair(rounds: 41, operations: rounds * inFlight, { try ask(mine) }, { try ask(other) })
        Table.row(
            "get with \(side.name), \(inFlight) in flight / with everything", ours: times.ours, theirs: times.theirs,
            unit: "ns", goal: "≤ 1.05")
    }

    /// Measures from a set to the event at the last of fifty watchers.
    private static func events(_ side: Side, _ port: UInt16) throws {
        let setter = try Connection(port: port)
        var number = 0
        func delay(_ watching: [Connection]) throws {
            number += 1
            try setter.send(Array("set Bench/Wire/Number0 \(number)\n".utf8))
            for connection in watching { try connection.receive(1, linesBeginningWith: "e") }
            try setter.receive(1, linesBeginningWith: "o")
        }
        var delays: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<5 {
            delays.ours += try watched(side, port, delay)
            delays.theirs += try watched(whole, port, delay)
        }
        Table.row(
            "set → last of 50 watchers with \(side.name) / with everything", ours: Measure.median(delays.ours) / 1_000,
            theirs: Measure.median(delays.theirs) / 1_000, unit: "µs", goal: "≤ 1.05")
    }

    private static func watched(
        _ side: Side, _ port: UInt16, _ delay: ([Connection]) throws -> Void
    ) throws -> [Double] {
        let watching = try (0..<50).map { _ in
            let connection = try side.connect(port)
            try connection.ask("watch Bench/Wire/Number0\n")
            return connection
        }
        return try (0..<300).map { _ in try Measure.nanoseconds { try delay(watching) } }
    }
}
