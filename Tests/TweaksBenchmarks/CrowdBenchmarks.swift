// Many sessions at once: what an idle one costs, and how a polite one fares among those that flood and those that stall.

import Foundation

enum CrowdBenchmarks {
    private static let request = Array("get Bench/Wire/Number7\n".utf8)

    static func run() throws {
        DescriptorLimit.raise()
        try idle()
        try besideOthers()
        try besideReaders()
    }

    // MARK: Idle sessions

    private static func idle() throws {
        // Client and server have a process each, so each needs one descriptor for a session.
        let count = min(10_000, DescriptorLimit.raise() - 200)
        let peer = try Peer.tweaks()
        let active = try Connection(port: peer.port)
        let before = ProcessFigures.residentBytes(of: "\(peer.processID)")
        var alone = try latencies(active, 5_000)
        let crowd = try (0..<count).map { _ in try used(peer.port) }
        let bytes = Double(ProcessFigures.residentBytes(of: "\(peer.processID)") - before) / Double(count)
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
        row("get beside \(count) idle sessions, p50 / alone", among, alone, 0.5, goal: "≈ 1")
        row("get beside \(count) idle sessions, p99 / alone", among, alone, 0.99, goal: "≈ 1")
    }

    /// A connection that has got a long reply to a long request, and rests.
    private static func used(_ port: UInt16) throws -> Connection {
        let connection = try Connection(port: port, buffer: 4_096)
        let long = "get *\n" + String(repeating: "# nothing\n", count: 300) + "ping\n"
        try connection.send(Array(long.utf8))
        try connection.receive(2, linesBeginningWith: "o")
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
        row("get beside 10 that flood and 10 that stall, p50 / alone", together, alone, 0.5, goal: "")
        row("get beside 10 that flood and 10 that stall, p99 / alone", together, alone, 0.99, goal: "≤ 3")
    }

    /// Four that ask for forty texts of 65 kB in every way there is, and read them as fast as they can.
    private static func besideReaders() throws {
        let peer = try Peer.texts()
        let polite = try Connection(port: peer.port)
        let alone = try latencies(polite, 4_000)
        let readers = try Peer.readers(of: peer.port)
        usleep(500_000)
        let together = try latencies(polite, 4_000)
        withExtendedLifetime(readers) {}
        row("get beside 4 readers of long texts, p50 / alone", together, alone, 0.5, goal: "")
        row("get beside 4 readers of long texts, p99 / alone", together, alone, 0.99, goal: "")
        let worst = Measure.percentile(together, 0.99) / 1e6
        Table.row("get beside 4 readers of long texts, p99", value: worst, unit: "ms", goal: "≤ 5 ms")
    }

    private static func latencies(_ connection: Connection, _ count: Int) throws -> [Double] {
        try (0..<count).map { _ in
            try Measure.nanoseconds {
                try connection.send(request)
                try connection.receive(1, linesBeginningWith: "o")
            }
        }
    }

    private static func row(
        _ name: String, _ ours: [Double], _ theirs: [Double], _ fraction: Double, goal: String
    ) {
        Table.row(
            name, ours: Measure.percentile(ours, fraction) / 1_000,
            theirs: Measure.percentile(theirs, fraction) / 1_000, unit: "µs", goal: goal)
    }
}

/// The process of those who flood and those who stall, on one thread, until it is killed.
enum RudeCrowd {
    static func run(port: UInt16) throws -> Never {
        let stalled = try (0..<10).map { _ in try Connection(port: port, buffer: 0) }
        let floods = try (0..<10).map { _ in try Connection(port: port, buffer: 0) }
        let gets = Array(String(repeating: "get *\n", count: 10_000).utf8)
        let sets = Array((0..<5_000).map { "set Bench/Wire/Number\($0 % 100) \($0)\n" }.joined().utf8)
        var sent = Array(repeating: 0, count: floods.count)
        var trash = [UInt8](repeating: 0, count: 262_144)
        for connection in stalled { _ = fill(connection, gets[...]) }
        FileHandle.standardOutput.write(Data("1\n".utf8))
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

/// The process of those who read long texts, a thread for each, until it is killed.
enum TextReaders {
    static func run(port: UInt16) throws -> Never {
        for request in ["get Pub/S", "modified", "find s", "watch Pub/S\nunwatch"] {
            Thread.detachNewThread { try? read(request, port) }
        }
        FileHandle.standardOutput.write(Data("1\n".utf8))
        while true { sleep(1_000) }
    }

    /// Asks and reads until the other end is gone.
    private static func read(_ request: String, _ port: UInt16) throws {
        let connection = try Connection(port: port, buffer: 262_144)
        let replies = request.split(separator: "\n").count
        while true {
            try connection.send(Array((request + "\n").utf8))
            try connection.receive(replies, linesBeginningWith: "o")
        }
    }
}
