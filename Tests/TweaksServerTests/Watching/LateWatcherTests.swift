// Tests what watchers get that read late: all changes or the newest of each tweak, and the number of folded ones.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LateWatcherTests {
    private let registry = TweakRegistry()

    /// What a watcher of some tweaks has received.
    private struct Reader {
        let client: TestClient
        let isJSON: Bool
        let pattern: TweakPattern?
        var values: [String: Int] = [:]
        var accounted = 0
        var revision = 0

        mutating func read() throws {
            for line in try client.arrivedLines() { try read(line) }
        }

        private mutating func read(_ line: String) throws {
            let words = isJSON ? Self.words(line) : line.split(separator: " ").map { String($0) }
            try #require(words.count > 3 && words[0] == "event", "\(line)")
            let revision = try #require(Int(words[1]))
            #expect(revision >= self.revision)
            self.revision = revision
            if words[2] == "lagged" {
                accounted += try #require(Int(words[3]))
            } else {
                let value: Int = try #require(Int(words[4]))
                values[words[2]] = value
                accounted += 1
            }
        }

        /// The words of the text for an event in JSON.
        private static func words(_ line: String) -> [String] {
            func field(_ name: String) -> String {
                let rest = line.components(after: "\"\(name)\":")
                return String(rest.prefix { $0 != "," && $0 != "}" }.filter { $0 != "\"" })
            }
            return field("event") == "lagged"
                ? ["event", field("rev"), "lagged", field("count")]
                : ["event", field("rev"), field("path"), "=", field("value")]
        }
    }

    @Test(arguments: 1...quantity(12, few: 2)) func everyChangeIsAnEventOrCounted(_ seed: Int) throws {
        let tweaks = (0..<60).map { Tweak("A\($0 % 3)", "B", "C\($0)", 0, registry: registry) }
        let server = try TestServer(registry: registry) { $0.unsentBytes = 4_096 }
        var random = SeededGenerator(seed: UInt64(seed))
        let patterns = ["*", "A1", "A2/B/C5", "A0/B/*", "modified"]
        var readers = try (0..<15).map { number in
            let (client, pattern) = (try server.connect(), patterns[number % patterns.count])
            let isJSON = number % 2 == 0
            if isJSON { _ = try client.json("json") }
            try client.send("watch \(pattern) since 0\n")
            _ = try client.line()
            return Reader(client: client, isJSON: isJSON, pattern: TweakPattern(pattern))
        }
        var (last, counts) = ([Int](repeating: 0, count: tweaks.count), [Int](repeating: 0, count: tweaks.count))
        for step in 1...quantity(10_000) {
            // A few change most of the time.
            let hot = UInt8.random(in: 0..<4, using: &random) > 0
            let number = Int.random(in: hot ? 0..<4 : 0..<60, using: &random)
            tweaks[number].value = step
            (last[number], counts[number]) = (step, counts[number] + 1)
            if UInt8.random(in: 0..<20, using: &random) == 0 { server.settle() }
            if UInt16.random(in: 0..<400, using: &random) == 0 {
                try readers[Int.random(in: readers.indices, using: &random)].read()
            }
        }
        for index in readers.indices {
            let wanted = tweaks.indices.filter { number in
                readers[index].pattern.map { $0.text == "modified" || $0.matches(tweaks[number].path) } ?? true
            }
            let expected = wanted.reduce(0) { $0 + counts[$1] }
            // All is sent before the input is empty.
            var before = -1
            while readers[index].accounted > before {
                before = readers[index].accounted
                server.settle()
                try readers[index].read()
            }
            #expect(readers[index].accounted == expected, "reader \(index)")
            for number in wanted where counts[number] > 0 {
                #expect(readers[index].values["\(tweaks[number].path.joined)"] == last[number])
            }
        }
    }

    /// Fills the buffers of a watcher, so that more is folded.
    private func stall(_ tweaks: [Tweak<Int>], _ server: TestServer, rounds: Int) {
        for round in 1...rounds {
            for tweak in tweaks { tweak.value = round }
            server.settle()
        }
    }

    @Test func whatASessionMayNoLongerSeeIsNeitherSentNorCounted() throws {
        let seen = (0..<20).map { Tweak("Seen", "B", "C\($0)", 0, registry: registry) }
        let hidden = (0..<20).map { Tweak("Hidden", "B", "C\($0)", 0, registry: registry) }
        let server = try TestServer(registry: registry) { $0.unsentBytes = 4_096 }
        let client = try server.connect()
        try client.ask("watch * since 0")
        stall(seen + hidden, server, rounds: 300)
        try client.send("drop read:Hidden\n")
        var lines: [String] = []
        while !(lines.last?.hasPrefix("ok may ") ?? false) { lines.append(try client.line()) }
        stall(seen + hidden, server, rounds: 1)
        try client.send("ping\n")
        lines = []
        while lines.last != "ok pong" { lines.append(try client.line()) }
        while server.stepped?.isBusy == true || client.hasInput {
            server.settle()
            lines += try client.arrivedLines()
        }
        #expect(!lines.contains { $0.contains("Hidden/") })
    }

    @Test func aSecondWatchShowsNoOlderValueAfterItsReply() throws {
        let tweaks = (0..<50).map { Tweak("A", "B", "C\($0)", 0, registry: registry) }
        let server = try TestServer(registry: registry) { $0.unsentBytes = 4_096 }
        let client = try server.connect()
        try client.ask("watch A since 0")
        stall(tweaks, server, rounds: 300)
        tweaks[0].value = 1_000
        try client.send("watch A/B/C0\n")
        var lines: [String] = []
        while !(lines.last?.hasPrefix("ok rev ") ?? false) { lines.append(try client.line()) }
        #expect(lines.contains { $0.hasPrefix("A/B/C0 = 1000 ") })
        tweaks[0].value = 1_001
        lines = []
        while !(lines.last?.contains("A/B/C0 = 1001 ") ?? false) { lines.append(try client.line()) }
        #expect(lines.count { $0.contains(" A/B/C0 = ") } == 1)
    }

    @Test func aWatcherAFewChangesBehindGetsAllOfThem() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let server = try TestServer(registry: registry)
        let client = try server.connect()
        try client.ask("watch A")
        for value in 1...500 { tweak.value = value }
        server.settle()
        for value in 1...500 { #expect(try client.line().hasPrefix("event \(value) A/B/C = \(value) ")) }
    }

    @Test func aDeafWatcherOfLongTextsHoldsEachTextOnce() throws {
        let texts = (0..<10).map { Tweak("A", "B", "T\($0)", "", registry: registry) }
        registry.historyLimit = 10
        let server = try TestServer(registry: registry) { $0.unsentBytes = 4_096 }
        let (deaf, other) = (try (0..<5).map { _ in try server.connect() }, try server.connect())
        for client in deaf { try client.ask("watch A since 0") }
        for round in 0..<30 {
            for text in texts { text.value = String(repeating: "\(round % 10)", count: 50_000) }
            server.settle()
        }
        // Values, previous values, a short history, and unsent output of about one event each.
        #expect(try Int(other.stats("heldBytes")) ?? 0 < 8_000_000)
        #expect(try !other.hasHit("memoryBytes"))
    }
}

extension String {
    fileprivate func components(after mark: String) -> Substring {
        guard let range = self[...].utf8.firstRange(of: mark.utf8) else { return "" }
        return self[range.upperBound...]
    }
}
