// Tests a thousand watchers of which ten do not read: the others get the last values, and memory stays bounded.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking, .serialized) struct SlowWatcherTests {
    /// The resident memory of this process; nil where the system does not report it.
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 }
    }

    /// In a process of its own, because its memory is measured.
    @Test(.enabled(if: raiseDescriptorLimit() >= 4_000, "needs 4,000 file descriptors: ulimit -n 4000"))
    func tenDeafWatchersOfAThousandDelayNoOthersAndMissNoLastValue() async {
        await #expect(processExitsWith: .success) { try Self.watchByAThousand() }
    }

    private static func watchByAThousand() throws {
        let registry = TweakRegistry()
        let tweaks = (0..<10).map { Tweak("A", "B", "C\($0)", 0, registry: registry) }
        let server = try TestServer(registry: registry, hasThread: true) { $0.unsentBytes = 8_192 }
        // The deaf ones watch everything, the others one tweak each.
        let clients = try (0..<quantity(1_000, few: 100)).map { _ in try server.connect() }
        for (number, client) in clients.enumerated() {
            try client.send(number < 10 ? "watch A\n" : "watch A/B/C\(number % 10)\n")
        }
        for client in clients { try #require(client.reply().last?.hasPrefix("ok rev 0 watching ") == true) }
        let (deaf, crowd) = (ClientGroup(Array(clients[..<10])), ClientGroup(Array(clients[10...])))

        let before = residentBytes
        let changes = quantity(100_000, few: 15_000)
        let done = Gate()
        Thread.detachNewThread {
            for change in 1...changes { tweaks[change % 10].value = change }
            done.open()
        }
        // The last value of each tweak arrives, and every change is either an event or counted as lagged.
        func isLast(_ path: String, _ text: String) -> Bool {
            let number = Int(path.suffix(1)) ?? 0
            return text.hasPrefix("\(number == 0 ? changes : changes - 10 + number) ")
        }
        try crowd.read { $0.newest.count == 1 && $0.newest.allSatisfy(isLast) && $0.events + $0.lagged >= changes / 10 }
        done.waitBlocking()
        try #require(crowd.received.allSatisfy { $0.events + $0.lagged == changes / 10 })
        if let before, let after = residentBytes { try #require(after - before < 256 << 20) }

        // The deaf ones begin to read.
        try deaf.read { $0.newest.count == 10 && $0.newest.allSatisfy(isLast) && $0.events + $0.lagged >= changes }
        try #require(deaf.received.allSatisfy { $0.events + $0.lagged == changes && $0.lagged > changes / 2 })
    }

    @Test func theEventsKeptForADeafWatcherAreBoundedByTheTweaks() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let server = try TestServer(registry: registry, hasThread: true)
        let (deaf, other) = (try server.connect(), try server.connect())
        try deaf.ask("watch A")
        _ = try other.json("json")
        // The other session is served between the changes.
        let rounds = quantity(50, few: 25)
        for round in 1...rounds {
            for change in 1...1_000 { count.value = round * 1_000 + change }
            #expect(try other.json("ping") == #"{"ok":true,"pong":true}"#)
        }
        let crowd = ClientGroup([deaf])
        try crowd.read {
            $0.newest["A/B/Count"]?.hasPrefix("\((rounds + 1) * 1_000) ") == true
                && $0.events + $0.lagged >= rounds * 1_000
        }
        #expect(crowd.received[0].events + crowd.received[0].lagged == rounds * 1_000)
        #expect(crowd.received[0].lagged > 0)
    }

    @Test func lateEventsDoNotDivideAReply() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let (_, client, other) = try TestServer(registry: registry) { $0.unsentBytes = 4_096 }.withTwoClients()
        try client.ask("watch A")
        let last = quantity(50_000, few: 10_000)
        for change in 1...last { count.value = change }
        try other.ask("ping")
        try client.send("get A/B/Count\nping\n")
        var lines: [String] = []
        while lines.last != "ok pong" { lines.append(try client.line()) }
        let replies = lines.filter { !$0.hasPrefix("event ") }
        #expect(replies == ["A/B/Count = \(last)           # int, default 0", "ok", "ok pong"])
        let position = try #require(lines.firstIndex { !$0.hasPrefix("event ") })
        #expect(lines[position...].prefix(2) == replies[..<2])
    }
}
