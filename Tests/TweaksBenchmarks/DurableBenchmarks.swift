// Compares sets that are on disk before their reply with bare system calls, Redis, and an etcd put.

import Foundation
import Tweaks
import TweaksDaemon

enum DurableBenchmarks {
    private static let rounds = 10
    private static let sets = 100

    static func run() throws {
        let directory = try WorkDirectory("bench")
        defer { directory.remove() }
        let tweaks = try Peer.durableTweaks(in: directory.path("state"))
        try alone(tweaks, directory)
        try together(tweaks)
        try againstRedis(tweaks, directory)
        try againstEtcd(tweaks, directory)
    }

    // MARK: Ours

    private static func request(_ number: Int) -> [UInt8] {
        Array("set Bench/Wire/Number\(number % 100) \(number)\n".utf8)
    }

    nonisolated(unsafe) private static var counter = 1  // Used by one thread; makes each set change the value.

    /// The times of single sets, one after the other, in nanoseconds.
    private static func latencies(_ connection: Connection) throws -> [Double] {
        try (0..<sets).map { _ in
            counter += 1
            return try Measure.nanoseconds { try connection.ask(request(counter)) }
        }
    }

    // MARK: The bare calls

    private static func alone(_ tweaks: Peer, _ directory: WorkDirectory) throws {
        let connection = try Connection(port: tweaks.port)
        for number in 0..<100 { try connection.ask(request(number + 1_000)) }
        let state = directory.url.appendingPathComponent("state")
        let bytes = [UInt8](try Data(contentsOf: state.appendingPathComponent("overrides.json")))
        let history = try Data(contentsOf: state.appendingPathComponent("history.jsonl"))
        let line = [UInt8](history.dropLast().split(separator: UInt8(ascii: "\n")).last ?? Data()) + [10]
        let bare = directory.path("bare")
        try FileManager.default.createDirectory(atPath: bare, withIntermediateDirectories: true)
        var times: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<rounds {
            times.ours += try latencies(connection)
            times.theirs += (0..<sets).map { _ in Measure.nanoseconds { write(bytes, line, in: bare) } }
        }
        for (name, fraction, goal) in [("p50", 0.5, "≤ 1.3"), ("p99", 0.99, "")] {
            Table.row(
                "durable set, 1 client, \(name) / the same bytes, bare calls", ours: times.ours, theirs: times.theirs,
                fraction, goal: goal)
        }
        bareRate = 1e9 / Measure.median(times.theirs)
    }

    nonisolated(unsafe) private static var bareRate = 0.0  // Used by one thread.

    /// Appends a line, and replaces a file such that a crash leaves the old or the new one.
    private static func write(_ bytes: [UInt8], _ line: [UInt8], in directory: String) {
        let folder = open(directory, O_RDONLY | O_DIRECTORY)
        let history = open("\(directory)/bare.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        _ = line.withUnsafeBytes { Foundation.write(history, $0.baseAddress, $0.count) }
        fdatasync(history)
        close(history)
        let file = open("\(directory)/bare.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = bytes.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        fsync(file)
        close(file)
        rename("\(directory)/bare.tmp", "\(directory)/bare.json")
        fsync(folder)
        close(folder)
    }

    private static func together(_ tweaks: Peer) throws {
        let connections = try (0..<50).map { _ in try Connection(port: tweaks.port) }
        var rates: [Double] = []
        for _ in 0..<5 {
            let time = try Measure.nanoseconds {
                for _ in 0..<100 {
                    for connection in connections {
                        counter += 1
                        try connection.send(request(counter))
                    }
                    for connection in connections { try connection.receive(1, linesBeginningWith: "o") }
                }
            }
            rates.append(5_000 / (time / 1e9))
        }
        Table.row(
            "durable sets, 50 clients at once / that, one after the other", ours: Measure.median(rates),
            theirs: bareRate, unit: "/s", goal: "≥ 12")
    }

    // MARK: Others

    private static func againstRedis(_ tweaks: Peer, _ directory: WorkDirectory) throws {
        let config = directory.path("redis.conf")
        try Data("dir \(directory.url.path)\n".utf8).write(to: URL(fileURLWithPath: config))
        guard let redis = try Peer.redis([config]) else {
            return Table.skipped("against CONFIG SET and CONFIG REWRITE", "install redis-server")
        }
        let (mine, other) = (try Connection(port: tweaks.port), try Connection(port: redis.port))
        try other.ask(
            "CONFIG SET appendonly yes\r\nCONFIG SET appendfsync always\r\n", replies: 2, linesBeginningWith: "+")
        try compare("durable sets a second / Redis SET, appendfsync always", mine) {
            counter += 1
            try other.ask("SET number \(counter)\r\n", linesBeginningWith: "+")
        }
        try other.ask("CONFIG SET appendonly no\r\n", linesBeginningWith: "+")
        try compare("durable sets a second / Redis CONFIG SET + CONFIG REWRITE", mine) {
            counter += 1
            try other.ask(
                "CONFIG SET hz \(10 + counter % 100)\r\nCONFIG REWRITE\r\n", replies: 2, linesBeginningWith: "+")
        }
    }

    private static func againstEtcd(_ tweaks: Peer, _ directory: WorkDirectory) throws {
        guard let etcd = try Peer.etcd(in: directory.path("etcd")) else {
            return Table.skipped("against an etcd put", "install etcd-server")
        }
        let (mine, gateway) = (try Connection(port: tweaks.port), try Gateway(port: etcd.port))
        try compare("durable sets a second / etcd put, by its JSON gateway", mine) {
            counter += 1
            try gateway.put(Array("number".utf8), Array("\(counter)".utf8))
        }
    }

    private static func compare(_ name: String, _ mine: Connection, _ other: () throws -> Void) throws {
        var times: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<rounds {
            times.ours += try latencies(mine)
            times.theirs += try (0..<sets).map { _ in try Measure.nanoseconds(other) }
        }
        Table.row(
            name, ours: 1e9 / Measure.median(times.ours), theirs: 1e9 / Measure.median(times.theirs), unit: "/s",
            goal: "≥ 1.0")
    }
}
