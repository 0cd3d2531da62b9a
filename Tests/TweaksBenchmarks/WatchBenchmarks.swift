// Compares the delay from a set to its watchers with Redis publish/subscribe.

import Foundation

enum WatchBenchmarks {
    static func run() throws {
        guard let redis = try Peer.redis() else {
            return Table.skipped("delays against Redis", "install redis-server")
        }
        let tweaks = try Peer.tweaks(["serve-default"])
        for watchers in [1, 100, 1_000] {
            var delays: (ours: [Double], theirs: [Double]) = ([], [])
            for _ in 0..<3 {
                delays.ours += try ourDelays(tweaks.port, watchers)
                delays.theirs += try theirDelays(redis.port, watchers)
            }
            for (name, fraction) in [("p50", 0.5), ("p99", 0.99)] {
                Table.row(
                    "set → last of \(watchers) watchers, \(name) / Redis pub/sub", ours: delays.ours,
                    theirs: delays.theirs, fraction, goal: watchers == 1 ? "≤ 1.5" : "≤ 1.0")
            }
        }
    }

    private static let rounds = 300

    private static func ourDelays(_ port: UInt16, _ watchers: Int) throws -> [Double] {
        let watching = try (0..<watchers).map { _ in try Connection.watching("Bench/Wire/Number0", port: port) }
        let setter = try Connection(port: port)
        return try (0..<rounds).map { round in
            try Measure.nanoseconds {
                try setter.send(Array("set Bench/Wire/Number0 \(Int.random(in: 0..<1_000_000_000))\n".utf8))
                for connection in watching { try connection.receive(1, linesBeginningWith: "e") }
                try setter.receive(1, linesBeginningWith: "o")
            }
        }
    }

    private static func theirDelays(_ port: UInt16, _ watchers: Int) throws -> [Double] {
        let watching = try (0..<watchers).map { _ in
            let connection = try Connection(port: port)
            try connection.send(Array("SUBSCRIBE Number0\r\n".utf8))
            try connection.receive(6)
            return connection
        }
        let setter = try Connection(port: port)
        return try (0..<rounds).map { round in
            try Measure.nanoseconds {
                try setter.send(Array("PUBLISH Number0 \(Int.random(in: 0..<1_000_000_000))\r\n".utf8))
                for connection in watching { try connection.receive(7) }
                try setter.receive(1)
            }
        }
    }
}
