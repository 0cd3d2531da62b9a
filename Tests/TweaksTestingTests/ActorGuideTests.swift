// Runs the service of the guide Actors and tasks, whose code is in this file.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksTesting

// MARK: The guide

enum Settings {
    static let size = Tweak("Pool", "Connections", "Size", 4, in: 1...64, help: "Open connections")
    static let limit = Tweak("Pool", "Queue", "Limit", 100, in: 1...10_000)
    static let retry = TweakGroup("Pool", "Retry", TweakRetryPolicy(attempts: 3))
    static let ping = Tweak("Pool", "Health", "Ping", .seconds(30), in: .seconds(1) ... .seconds(600))
    static let all: [any TweakHandle] = [size, limit, retry, ping]
}

actor Queue {
    private var waiting = 0

    func join() throws {
        guard waiting < Settings.limit.value else { throw QueueError.full }
        waiting += 1
    }

    func leave() { waiting -= 1 }
}

enum QueueError: Error { case full }

actor Pool {
    private(set) var open: [Int] = []
    private(set) var attempts = 0
    private(set) var log: [String] = []

    init() {
        Settings.size.bind(on: self) { pool, size in pool.resize(to: size) }
        Settings.retry.bind(on: self) { pool, policy in pool.attempts = policy.attempts }
        Settings.size.observe(on: self) { pool, change in
            pool.log.append("\(change.old) → \(change.new) by \(change.origin)")
        }
    }

    private func resize(to size: Int) {
        while open.count > size { open.removeLast() }
        while open.count < size { open.append(open.count) }
    }
}

actor Warmup {
    private(set) var size = 0
    private var binding: TweakBinding?

    func begin() { binding = Settings.size.bind(on: self) { warmup, size in warmup.size = size } }

    func end() { binding?.cancel() }
}

func keepAlive(_ pool: Pool, ping: @escaping @Sendable (Int) async -> Void) async {
    var pinging: Task<Void, any Error>?
    for await pause in Settings.ping.values {
        pinging?.cancel()
        pinging = Task {
            while true {
                for connection in await pool.open { await ping(connection) }
                try await Task.sleep(for: pause)
            }
        }
    }
    pinging?.cancel()
}

@MainActor final class Dashboard {
    var size = 0
    private(set) var lines: [String] = []
    private var observation: TweakObservation?

    func appear() {
        Settings.size.bind(to: self, \.size)
        observation = Settings.limit.observe { [weak self] change in self?.lines.append("limit \(change.new)") }
    }

    func disappear() { observation = nil }
}

func enterMaintenance() throws {
    try TweakRegistry.shared.commit { batch in
        batch.set(Settings.size, 1)
        batch.set(Settings.limit, 10)
        batch.set(Settings.retry, TweakRetryPolicy(attempts: 1))
    }
}

struct PoolTests {
    @Test(.tweak(Settings.limit, 1)) func refusesMoreThanItsLimit() async throws {
        let queue = Queue()
        try await queue.join()
        await #expect(throws: QueueError.full) { try await queue.join() }
    }

    @Test(.tweak(Settings.size, 2)) func followsItsSize() async throws {
        let pool = Pool()
        #expect(try await pool.connections(at: 5) == 5)
        #expect(await pool.log == ["2 → 5 by code"])
    }
}

extension Pool {
    fileprivate func connections(at size: Int) throws -> Int {
        try Settings.size.set(size)
        return open.count
    }
}

// MARK: The tests of its code

@Suite struct ActorGuideTests {
    private static let guide = "Sources/Tweaks/Tweaks.docc/ActorsAndTasks.md"
    // The daemon is no part of these tests; .ci/snippets compiles it.
    private static let blocks = DocumentedBlock.all("swift", of: guide).filter { !$0.text.contains("TweakDaemon") }

    @Test func theGuideHasBlocks() { #expect(Self.blocks.count > 7) }

    @Test(arguments: blocks) func theGuideShowsTheCodeOfThisFile(_ block: DocumentedBlock) throws {
        #expect(try Document("Tests/TweaksTestingTests/ActorGuideTests.swift").shows(block), "\(block.text)")
    }

    @Test(.tweak(Settings.size, 4), .tweak(Settings.limit, 100), .tweak(Settings.retry, TweakRetryPolicy(attempts: 3)))
    func aBatchChangesAllOrNothing() async throws {
        let (connections, attempts) = try await Pool().inMaintenance()
        #expect(connections == 1 && attempts == 1)
    }

    @Test(.tweak(Settings.size, 4)) func aCanceledBindingWritesNoMore() async throws {
        let warmup = Warmup()
        #expect(try await warmup.sizes() == [4, 5, 5])
    }

    /// The stream of pings ends when the last task that holds its end has ended.
    @Test(.tweak(Settings.size, 2)) func aTaskEndsWithItsTasks() async throws {
        let pool = Pool()
        #expect(try await pool.connections(at: 3) == 3)
        let (alive, pings) = pinging(pool)
        var seen: [Int] = []
        for await connection in pings {
            seen.append(connection)
            if seen.count == 3 { alive.cancel() }
        }
        await alive.value
        // Pings go on until the cancellation is seen.
        #expect(seen.starts(with: [0, 1, 2]))
    }

    private func pinging(_ pool: Pool) -> (Task<Void, Never>, AsyncStream<Int>) {
        let (pings, pinged) = AsyncStream.makeStream(of: Int.self)
        let end = End(pinged)
        return (Task { await keepAlive(pool) { connection in end.pinged.yield(connection) } }, pings)
    }

    @MainActor @Test(.tweak(Settings.size, 4), .tweak(Settings.limit, 100))
    func anObjectOfTheMainActorFollows() throws {
        let dashboard = Dashboard()
        dashboard.appear()
        #expect(dashboard.size == 4 && dashboard.lines.isEmpty)
        try Settings.size.set(6)
        try Settings.limit.set(50)
        #expect(dashboard.size == 6 && dashboard.lines == ["limit 50"])
        dashboard.disappear()
        try Settings.limit.set(60)
        #expect(dashboard.lines == ["limit 50"])
    }
}

/// Ends a stream when it is released.
private final class End: Sendable {
    let pinged: AsyncStream<Int>.Continuation

    init(_ pinged: AsyncStream<Int>.Continuation) { self.pinged = pinged }

    deinit { pinged.finish() }
}

extension Pool {
    fileprivate func inMaintenance() throws -> (connections: Int, attempts: Int) {
        try enterMaintenance()
        return (open.count, attempts)
    }
}

extension Warmup {
    /// The size when it begins, after a change, and after one that follows its end.
    fileprivate func sizes() throws -> [Int] {
        begin()
        let first = size
        try Settings.size.set(5)
        let second = size
        end()
        try Settings.size.set(6)
        return [first, second, size]
    }
}
