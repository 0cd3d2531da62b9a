// Tracks which values a killed daemon may have after its restart.

import Synchronization
import Testing
import TweaksTestSupport

/// The possible values of each tweak, from the requests and replies of all clients.
final class CrashModel: Sendable {
    private struct Known {
        /// The newest value that was answered `ok`.
        var value: String
        var revision: UInt64
        /// Sent, not answered.
        var open: [String] = []
    }

    private struct State {
        var defaults: [String: String] = [:]
        var known: [String: Known] = [:]
        var revision: UInt64 = 0
        var acknowledged = 0
        /// Makes each value unique.
        var count = 0
    }

    /// One request that changes something, with the values that it leads to.
    private struct Change {
        let lines: String
        /// Replies until the one that counts.
        let replies: Int
        let values: [String: String]
    }

    private let state = Mutex(State())

    /// The number of acknowledged changes.
    var acknowledged: Int { state.withLock { $0.acknowledged } }

    /// Reads the defaults of a fresh daemon.
    func begin(_ client: TestClient) throws {
        let values = try Self.values(client)
        #expect(values.count == 23)
        state.withLock { state in
            state.defaults = values
            state.known = values.mapValues { Known(value: $0, revision: 0) }
        }
    }

    private static func values(_ client: TestClient) throws -> [String: String] {
        let lines = try client.ask("export Probe").filter { $0.hasPrefix("Probe/") }
        let pairs = lines.map { $0.split(separator: " ", maxSplits: 2).map { String($0) } }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[2]) })
    }

    /// Sends a few changes in one packet and reads the replies.
    /// - Throws: When the connection has ended.
    func change(_ client: TestClient, _ generator: inout SeededGenerator) throws {
        let changes = (0..<Int.random(in: 1...6, using: &generator)).map { _ in makeChange(&generator) }
        state.withLock { state in
            for change in changes { for (path, value) in change.values { state.known[path]?.open.append(value) } }
        }
        try client.send(changes.map(\.lines).joined())
        for change in changes {
            for _ in 1..<change.replies { _ = try client.reply() }
            acknowledge(change, try client.reply().last ?? "")
        }
    }

    private func acknowledge(_ change: Change, _ status: String) {
        let words = status.split(separator: " ")
        guard words.count >= 3, words[0] == "ok", words[1] == "rev", let revision = UInt64(words[2]),
            words.count == 3 || words[3...] == ["unchanged"]
        else {
            Issue.record("\(change.lines): \(status)")
            return
        }
        state.withLock { state in
            state.acknowledged += 1
            state.revision = max(state.revision, revision)
            for (path, value) in change.values {
                guard var known = state.known[path] else { continue }
                if let position = known.open.firstIndex(of: value) { known.open.remove(at: position) }
                if revision >= known.revision { (known.value, known.revision) = (value, revision) }
                state.known[path] = known
            }
        }
    }

    private func makeChange(_ generator: inout SeededGenerator) -> Change {
        let (number, paths, defaults) = state.withLock { state in
            state.count += 1
            return (state.count, state.known.keys.sorted(), state.defaults)
        }
        let path = paths[Int.random(in: 0..<paths.count, using: &generator)]
        if path.hasPrefix("Probe/Pair/") {
            let values = ["Probe/Pair/Left": "\(number)", "Probe/Pair/Right": "\(number)"]
            let sets = values.map { "\($0) = \($1)\n" }.joined()
            return Change(lines: "begin\n\(sets)commit\n", replies: 4, values: values)
        }
        if Int.random(in: 0..<8, using: &generator) == 0 {
            return Change(lines: "reset \(path)\n", replies: 1, values: [path: defaults[path] ?? ""])
        }
        let value = Self.value(String(path.split(separator: "/")[1]), number)
        return Change(lines: "\(path) = \(value)\n", replies: 1, values: [path: value])
    }

    /// Formatted as the daemon does, for comparisons.
    private static func value(_ kind: String, _ number: Int) -> String {
        switch kind {
        case "Bool": number % 2 == 0 ? "true" : "false"
        case "Int": "\(number)"
        case "Number": "\(number).5"
        case "String": "\"s\(number)\""
        case "Color": "#" + String(0x1_0000_00FF + number << 8, radix: 16, uppercase: true).dropFirst()
        case "Choice": ["one", "two", "three"][number % 3]
        default: "\(number % 999 + 1)ms"
        }
    }

    /// Compares the values of a daemon that has just started with the known ones, and continues with them.
    func check(_ client: TestClient, _ log: [String]) throws {
        let found = try Self.values(client)
        let stats = try client.ask("stats")
        let revision = try #require(stats.first { $0.hasPrefix("  rev: ") }.flatMap { UInt64($0.dropFirst(7)) })
        #expect(stats.contains("  storage: saved") && stats.contains("  setAside: null"), "\(stats) \(log)")
        #expect(found["Probe/Pair/Left"] == found["Probe/Pair/Right"])
        state.withLock { state in
            #expect(revision >= state.revision)
            for (path, known) in state.known {
                let value = found[path] ?? "nothing"
                #expect(
                    value == known.value || known.open.contains(value),
                    "\(path) is \(value), answered was \(known.value), open were \(known.open)")
                state.known[path] = Known(value: value, revision: revision)
            }
            state.revision = max(state.revision, revision)
        }
    }
}
