// Kills a process at random moments: acknowledged changes, or later ones, are there after the restart.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking) struct CrashTests {
    /// How often a process is killed.
    private static let rounds = quantity(204, few: 21)

    /// Three processes at once, each with its own directory; one has required durability.
    @Test(.enabled(if: Child.exists), .tags(.quantity)) func noAcknowledgedChangeIsLost() async throws {
        let lanes = 3
        let acknowledged = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let isRequired = lane == 0
                    var run = try CrashRun(isRequired ? ["required"] : [], seed: UInt64(20_261_121 + lane))
                    for _ in 0..<(Self.rounds + lanes - 1) / lanes { try run.killOnce() }
                    return try run.finish()
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(acknowledged > Self.rounds)
    }
}

/// One state directory, one daemon after another, each of them killed.
private struct CrashRun {
    private let directory: TemporaryDirectory
    private let words: [String]
    private var generator: SeededGenerator
    private let model = CrashModel()
    private static let clients = 3

    init(_ words: [String], seed: UInt64) throws {
        directory = try TemporaryDirectory()
        self.words = words
        generator = SeededGenerator(seed: seed)
        let child = try started()
        try model.begin(child.connect())
        try child.kill()
    }

    private func started() throws -> Child {
        let child = try Child(in: directory.path, words)
        guard try child.waitUntilReady() else { throw ClientError.ended("\(child.log.all)") }
        return child
    }

    /// Checks one run and kills it.
    mutating func killOnce() throws {
        if Int.random(in: 0..<8, using: &generator) == 0 {
            // Long before it is ready, or soon after.
            let child = try Child(in: directory.path, words)
            usleep(UInt32.random(in: 0..<80_000, using: &generator))
            try child.kill()
        } else {
            let child = try started()
            try model.check(child.connect(), child.log.all)
            try drive(child)
        }
        try checkFiles()
    }

    /// Clients change values; after a random number of replies the process is killed.
    private mutating func drive(_ child: Child) throws {
        let deadline = Int.random(in: 1..<40, using: &generator)
        let delay = UInt32.random(in: 0..<3_000, using: &generator)
        let seeds = (0..<Self.clients).map { _ in generator.next() }
        let connections = try seeds.map { _ in SendableClient(try child.connect()) }
        let start = model.acknowledged
        let model = model
        concurrently(Self.clients) { number in
            var generator = SeededGenerator(seed: seeds[number])
            // Until the connection ends.
            while (try? model.change(connections[number].client, &generator)) != nil {
                guard model.acknowledged - start >= deadline else { continue }
                usleep(delay)
                child.signal(SIGKILL)
            }
        }
        #expect(try child.waitForEnd() == -SIGKILL)
    }

    /// Expects a complete file, or none yet, and no quarantined file.
    private func checkFiles() throws {
        let state = directory.file("state")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []
        #expect(!names.contains { $0.contains("unreadable") }, "\(names)")
        guard names.contains("overrides.json") else { return #expect(model.acknowledged == 0) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(state)/overrides.json"))
        #expect(try JSONSerialization.jsonObject(with: bytes) is [String: Any])
    }

    /// - Returns: The number of acknowledged changes.
    func finish() throws -> Int {
        let child = try started()
        try model.check(child.connect(), child.log.all)
        try child.stop()
        try checkFiles()
        return model.acknowledged
    }
}
