// Measures many sessions at once: the cost of idle ones, and one session beside others that flood or stall.

import Foundation

enum CrowdBenchmarks {
    private static let request = "get Bench/Wire/Number7\n"

    static func run() throws {
        DescriptorLimit.raise()
        try idle()
        try besideOthers()
        try besideReaders()
    }

    // MARK: Idle sessions

    private static func idle() throws {
        // Client and server are separate processes, so each needs one descriptor per session.
        let count = min(10_000, DescriptorLimit.raise() - 200)
        let peer = try Peer.tweaks()
        let active = try Connection(port: peer.port)
        let before = peer.residentBytes
        var alone = try latencies(active, 5_000)
        let crowd = try (0..<count).map { _ in try used(peer.port) }
        let bytes = Double(peer.residentBytes - before) / Double(count)
        Table.row("memory of an idle session, of \(count)", value: bytes, unit: "bytes", goal: "≤ 8192 bytes")
        sleep(1)
        let switches = peer.switches
        sleep(2)
        Table.row(
            "wake-ups in 2 s with \(count) idle sessions", value: Double(peer.switches - switches), unit: "", goal: "0")
        var among = try latencies(active, 5_000)
        try withExtendedLifetime(crowd) { among += try latencies(active, 5_000) }
        let other = try Peer.tweaks()
        try withExtendedLifetime(other) { alone += try latencies(try Connection(port: other.port), 5_000) }
        Table.row("get beside \(count) idle sessions, p50 / alone", ours: among, theirs: alone, 0.5, goal: "≈ 1")
        Table.row("get beside \(count) idle sessions, p99 / alone", ours: among, theirs: alone, 0.99, goal: "≈ 1")
    }

    /// An idle connection that has received a long reply to a long request.
    private static func used(_ port: UInt16) throws -> Connection {
        let connection = try Connection(port: port, buffer: 4_096)
        let long = "get *\n" + String(repeating: "# nothing\n", count: 300) + "ping\n"
        try connection.ask(long, replies: 2)
        return connection
    }

    // MARK: Others

    private static func besideOthers() throws {
        let peer = try Peer.tweaks()
        let polite = try Connection(port: peer.port)
        var (alone, together): ([Double], [Double]) = ([], [])
        for _ in 0..<5 {
            alone += try latencies(polite, 4_000)
            let others = try Peer.crowd(of: peer.port)
            usleep(300_000)
            together += try latencies(polite, 4_000)
            withExtendedLifetime(others) {}
        }
        for (name, fraction, goal) in [("p50", 0.5, ""), ("p99", 0.99, "≤ 3")] {
            Table.row(
                "get beside 10 that flood and 10 that stall, \(name) / alone", ours: together, theirs: alone, fraction,
                goal: goal)
        }
    }

    /// Measures beside four sessions that request forty texts of 65 kB with different commands, and read them at full
    /// speed.
    private static func besideReaders() throws {
        let peer = try Peer.texts()
        let polite = try Connection(port: peer.port)
        let alone = try latencies(polite, 4_000)
        let readers = try Peer.readers(of: peer.port)
        usleep(500_000)
        let together = try latencies(polite, 4_000)
        withExtendedLifetime(readers) {}
        Table.row("get beside 4 readers of long texts, p50 / alone", ours: together, theirs: alone, 0.5, goal: "")
        Table.row("get beside 4 readers of long texts, p99 / alone", ours: together, theirs: alone, 0.99, goal: "")
        let worst = Measure.percentile(together, 0.99) / 1e6
        Table.row("get beside 4 readers of long texts, p99", value: worst, unit: "ms", goal: "≤ 5 ms")
    }

    private static func latencies(_ connection: Connection, _ count: Int) throws -> [Double] {
        try connection.latencies(count, request)
    }
}

/// The process of the flooding and the stalled clients, on one thread, until it is killed.
enum NoisyClients {
    static func run(port: UInt16) throws -> Never {
        let stalled = try (0..<10).map { _ in try Connection(port: port, buffer: 0) }
        let floods = try (0..<10).map { _ in try Connection(port: port, buffer: 0) }
        let gets = Array(String(repeating: "get *\n", count: 10_000).utf8)
        let sets = Array((0..<5_000).map { "set Bench/Wire/Number\($0 % 100) \($0)\n" }.joined().utf8)
        var sent = Array(repeating: 0, count: floods.count)
        var trash = [UInt8](repeating: 0, count: 262_144)
        for connection in stalled { _ = fill(connection, gets[...]) }
        writeLine("1")
        while true {
            var entries = floods.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0) }
            poll(&entries, nfds_t(entries.count), -1)
            for (index, connection) in floods.enumerated() {
                while recv(connection.descriptor, &trash, trash.count, Int32(MSG_DONTWAIT)) > 0 {}
                sent[index] = (sent[index] + fill(connection, sets[sent[index]...])) % sets.count
            }
        }
    }

    private static func fill(_ connection: Connection, _ bytes: ArraySlice<UInt8>) -> Int {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        return max(0, bytes.withUnsafeBytes { send(connection.descriptor, $0.baseAddress, $0.count, flags) })
    }
}

/// The process of the clients that read long texts, one thread each, until it is killed.
enum TextReaders {
    static func run(port: UInt16) throws -> Never {
        for request in ["get Pub/S", "modified", "find s", "watch Pub/S\nunwatch"] {
            Thread.detachNewThread { try? read(request, port) }
        }
        Peer.serve("1")
    }

    /// Sends requests and reads replies until the connection ends.
    private static func read(_ request: String, _ port: UInt16) throws {
        let connection = try Connection(port: port, buffer: 262_144)
        let replies = request.split(separator: "\n").count
        while true { try connection.ask(request + "\n", replies: replies) }
    }
}
