// Tests that changes reach many watchers in slices of time, and that watchers that do not read cost nothing.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct FanOutTests {
    /// A clock that advances by 20 µs when it is read and by 50 µs with each system call on a client: the time of a
    /// slow machine, the same in each run.
    private final class Effort: FaultInjector {
        private let start = Moment.now
        private let microseconds = Atomic(0)
        let sends = Atomic(0)

        var elapsed: Int { microseconds.load(ordering: .relaxed) }

        func read() -> Moment {
            start + .microseconds(microseconds.add(20, ordering: .relaxed).newValue)
        }

        func make(_ call: SystemCall, on descriptor: Int32, count: Int, _ body: (Int) -> Int) -> Int {
            if call == .send { sends.add(1, ordering: .relaxed) }
            if call == .send || call == .receive { microseconds.add(50, ordering: .relaxed) }
            return body(count)
        }
    }

    private let registry = TweakRegistry()
    private let effort = Effort()
    private let server: TurnByTurnServer
    private static let count = quantity(10_000, few: 6_000)
    /// No turn takes longer: four slices of a millisecond, and what each may exceed it by.
    private static let longestTurn = 6_000

    init() throws {
        for number in 0..<Self.count { _ = Tweak("Many", "Of", "T\(number)", 0, registry: registry) }
        let effort = effort
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        (limits.unsentBytes, hooks.faults, hooks.clock) = (16_384, effort, { effort.read() })
        server = try TurnByTurnServer(registry, limits, hooks)
    }

    private func commitAll(_ value: Int64) throws {
        try registry.commit(origin: .code) { batch in
            for number in 0..<Self.count { batch.set("Many/Of/T\(number)", .int(value)) }
        }
    }

    /// Clients that watch, and have read the reply.
    private func watchers(_ count: Int, _ pattern: (Int) -> String = { _ in "*" }) throws -> [TestClient] {
        try (0..<count).map { number in
            let client = try server.connect()
            try client.send("watch \(pattern(number)) since \(registry.revision)\n")
            while !client.hasInput { server.turn() }
            #expect(try client.line().contains(" watching "))
            return client
        }
    }

    /// Runs turns until nothing is left to do, and returns their number.
    private func runTurns() throws -> Int {
        var turns = 0
        repeat {
            let before = effort.elapsed
            server.turn()
            turns += 1
            try #require(effort.elapsed - before <= Self.longestTurn)
        } while server.stepped.hasWork && turns < 100_000
        return turns
    }

    @Test func oneLargeCommitReachesManyWatchersInSlices() throws {
        let (watchers, other) = (try watchers(quantity(200, few: 60)), try server.connect())
        try commitAll(1)
        for _ in 0..<10 {
            try other.send("ping\n")
            let before = effort.elapsed
            server.turn()
            try #require(effort.elapsed - before <= Self.longestTurn)
            try #require(try other.hasInput && other.line() == "ok pong")
            #expect(server.stepped.hasWork)
        }
        #expect(try runTurns() > quantity(5, few: 1))
        withExtendedLifetime(watchers) {}
    }

    @Test func aLargeCommitIsTakenInBySlices() throws {
        let watchers = try watchers(1) { _ in "Many/Of/T\(Self.count - 1)" }
        try commitAll(1)
        server.turn()
        #expect(!watchers[0].hasInput && server.stepped.hasWork)
        #expect(try runTurns() > quantity(2, few: 1))
        #expect(try watchers[0].line().hasPrefix("event 1 Many/Of/T\(Self.count - 1) = 1 "))
    }

    @Test func watchersThatBeginToReadTakeTurns() throws {
        let (watchers, other) = (try watchers(quantity(100, few: 25)), try server.connect())
        try commitAll(1)
        _ = try runTurns()
        for client in watchers { for _ in 0..<200 { _ = try client.line() } }
        try other.send("ping\n")
        _ = try runTurns()
        #expect(try other.line() == "ok pong")
    }

    @Test func watchersThatDoNotReadCostNoSystemCalls() throws {
        let (watchers, other) = (try watchers(quantity(100, few: 25)), try server.connect())
        try commitAll(1)
        _ = try runTurns()
        let before = effort.sends.load(ordering: .relaxed)
        for number in 0..<100 {
            try other.send("set Many/Of/T7 \(number)\n")
            while !other.hasInput { server.turn() }
            #expect(try other.reply().last?.hasPrefix("ok rev ") == true)
            _ = try runTurns()
        }
        #expect(effort.sends.load(ordering: .relaxed) - before == 100)
        withExtendedLifetime(watchers) {}
    }

    @Test func watchersThatDoNotReadShareTheirChanges() throws {
        let client = try server.connect()
        func held() throws -> Int {
            try client.send("stats\n")
            while !client.hasInput { server.turn() }
            let line = try client.reply().first { $0.hasPrefix("  heldBytes: ") }
            return try #require(line.flatMap { Int($0.dropFirst(13)) })
        }
        let (few, before) = (try watchers(1), try held())
        try commitAll(1)
        _ = try runTurns()
        let ofOne = try held() - before
        let (many, among) = (try watchers(100), try held())
        for value in 2...5 {
            try commitAll(Int64(value))
            _ = try runTurns()
        }
        // Besides its unsent output, here and in the kernel, each holds only a position.
        #expect(try held() - among <= ofOne + 100 * 131_072)
        withExtendedLifetime((few, many)) {}
    }

    @Test func eachOfManyNarrowWatchersGetsItsEvent() throws {
        let watchers = try watchers(quantity(150, few: 40)) { "Many/Of/T\($0 * 60)" }
        for value in 1...2 {
            try commitAll(Int64(value))
            _ = try runTurns()
            for (number, client) in watchers.enumerated() {
                try #require(client.hasInput)
                let line = try client.line()
                try #require(line.hasPrefix("event \(value) Many/Of/T\(number * 60) = \(value) "), "\(line)")
                try #require(!client.hasInput)
            }
        }
    }
}
