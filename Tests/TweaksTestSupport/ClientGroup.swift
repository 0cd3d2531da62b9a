// Reads from many watching clients at once, on one thread.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Watching clients that count their events and keep only the newest one of each tweak.
package final class ClientGroup {
    /// What one client has received.
    package struct Received: Sendable {
        package fileprivate(set) var events = 0
        /// The sum of all `lagged N`.
        package fileprivate(set) var lagged = 0
        /// The newest event line of each tweak, by path.
        package fileprivate(set) var newest: [String: String] = [:]
    }

    private let clients: [TestClient]
    private var unfinished: [[UInt8]]
    package private(set) var received: [Received]

    /// Creates a group of clients that have sent `watch` and read its reply.
    package init(_ clients: [TestClient]) {
        self.clients = clients
        received = Array(repeating: Received(), count: clients.count)
        unfinished = Array(repeating: [], count: clients.count)
    }

    /// Reads until the condition holds for every client. Throws when no bytes arrive within the timeout.
    package func read(until isSatisfied: (Received) -> Bool) throws {
        var waiting = Set(clients.indices.filter { !isSatisfied(received[$0]) })
        var entries = clients.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        while !waiting.isEmpty {
            guard uninterrupted({ poll(&entries, .init(entries.count), TestClient.timeout) }) > 0 else {
                throw ClientError.timeout(
                    "\(waiting.count) of \(clients.count) still wait, \(received[waiting.first ?? 0])")
            }
            for position in entries.indices where entries[position].revents != 0 {
                try receive(position)
                if isSatisfied(received[position]) { waiting.remove(position) }
            }
        }
    }

    private func receive(_ position: Int) throws {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = uninterrupted { recv(clients[position].number, &chunk, chunk.count, 0) }
        guard count > 0 else { throw ClientError.ended("watcher \(position)") }
        var bytes = unfinished[position] + chunk[..<count]
        let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        for line in String(decoding: bytes[..<end], as: UTF8.self).splitLines().dropLast() {
            received[position].record(line)
        }
        bytes.removeSubrange(..<end)
        unfinished[position] = bytes
    }
}

extension ClientGroup.Received {
    /// `event 44 A/B/C = 80 …` or `event 44 lagged 3`.
    fileprivate mutating func record(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 4)
        guard words.count >= 4, words[0] == "event" else { return }
        if words[2] == "lagged" {
            lagged += Int(words[3]) ?? 0
        } else {
            events += 1
            newest[String(words[2])] = String(words.count > 4 ? words[4] : "")
        }
    }
}
