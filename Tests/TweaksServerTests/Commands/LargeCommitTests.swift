// Tests that commits of many tweaks are validated and reported off the I/O thread.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LargeCommitTests {
    private static let count = 3_000
    private let registry = TweakRegistry()
    private let server: TestServer
    private let validations = Validations()

    init() throws {
        let validations = validations
        for number in 0..<Self.count {
            _ = Tweak(
                "Many", "Of", "T\(number)", "", validate: { _ in validations.note() }, registry: registry)
        }
        server = try TestServer(registry: registry)
        for (text, origin) in [("a", TweakOrigin.code), ("b", .configFile)] {
            try registry.commit(origin: origin) { batch in
                for number in 0..<Self.count { batch.set("Many/Of/T\(number)", .string(text)) }
            }
        }
    }

    /// Counts the validations on the thread that serves the clients, and all others.
    private final class Validations: Sendable {
        @TaskLocal static var isServing = false
        let serving = Atomic(0)
        let others = Atomic(0)

        /// Holds up the validations while it is closed.
        let held = Mutex<Gate?>(nil)

        func note() -> String? {
            held.withLock { $0 }?.waitBlocking()
            if Self.isServing { serving.add(1, ordering: .relaxed) } else { others.add(1, ordering: .relaxed) }
            return nil
        }
    }

    /// Sends a request, and serves the client on this thread.
    private func ask(_ client: TestClient, _ request: String) throws -> [String] {
        try Validations.$isServing.withValue(true) {
            try client.send("\(request)\n")
            return try client.reply()
        }
    }

    @Test func undoIsValidatedOnAnotherThread() throws {
        let client = try server.connect()
        let before = validations.others.load(ordering: .relaxed)
        let lines = try ask(client, "undo force")
        #expect(lines.count == Self.count + 1)
        #expect(lines.first?.hasPrefix("Many/Of/T0 = \"a\" ") == true)
        #expect(lines.last?.hasPrefix("ok rev 3 undid 2") == true)
        #expect(validations.serving.load(ordering: .relaxed) == 0)
        #expect(validations.others.load(ordering: .relaxed) >= before + Self.count)
    }

    @Test func aLargeBatchIsValidatedOnAnotherThreadAndKeepsItsRules() throws {
        let client = try server.connect()
        try client.ask("begin 1")
        for number in 0..<Self.count { try client.ask("set Many/Of/T\(number) c") }
        let before = validations.serving.load(ordering: .relaxed)
        #expect(try ask(client, "commit").last?.hasPrefix("error conflict") == true)
        #expect(validations.serving.load(ordering: .relaxed) == before)
        #expect(registry.revision == 2)
    }

    @Test func aLargeResetShowsItsTweaksInOrder() throws {
        let client = try server.connect()
        let lines = try ask(client, "reset *")
        #expect(lines.count == Self.count + 1)
        #expect(lines.first?.hasPrefix("Many/Of/T0 = \"\" ") == true)
        #expect(lines.dropLast().last?.hasPrefix("Many/Of/T\(Self.count - 1) = \"\" ") == true)
        #expect(lines.last == "ok rev 3")
    }

    @Test func aLargeResetTakesNoMoreMemoryThanItNeeds() throws {
        var limits = TweakServerLimits()
        // 512 bytes for each of its tweaks would be too much.
        limits.memoryBytes = 2_400_000
        let client = try TestServer(registry: registry, limits: limits).connect()
        let lines = try ask(client, "reset *")
        #expect(lines.last == "ok rev 3")
    }

    @Test func aSessionThatLosesItsRightsMeanwhileChangesNothing() throws {
        let client = try server.connect()
        let gate = Gate()
        validations.held.withLock { $0 = gate }
        try client.send("undo force\n")
        server.settle()
        server.stepped?.limitNewest(to: [])
        gate.open()
        #expect(try client.reply().last?.hasPrefix("error ") == true)
        #expect(registry.revision == 2)
    }

    @Test func theHistoryOfManyChangesIsComplete() throws {
        let client = try server.connect()
        let lines = try ask(client, "history 2")
        #expect(lines.first?.hasSuffix("config file, \(Self.count) tweaks") == true)
        #expect(lines.last == "ok")
    }
}
