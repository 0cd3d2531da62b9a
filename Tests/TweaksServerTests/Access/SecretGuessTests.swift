// Tests that a guess at a secret gets the same replies and events, right or wrong.

import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

struct SecretGuessTests {
    /// The replies of a server with a secret, and the events of sessions that watch.
    /// - Parameters:
    ///   - secret: The value in effect, of a default or of an override.
    ///   - script: The lines of the session that guesses.
    private func transcript(_ secret: String, isDefault: Bool, _ script: [String]) throws -> [[String]] {
        let clock = ManualClock()
        let registry = TweakRegistry(now: { clock.now }, sleep: { _ in try await Task.sleep(for: .seconds(3_600)) })
        let tweak = Tweak("Vault", "Door", "Code", isDefault ? secret : "", flags: .secret, registry: registry)
        let pin = Tweak("Vault", "Door", "Pin", isDefault ? secret.count : 0, flags: .secret, registry: registry)
        if !isDefault { (tweak.value, pin.value) = (secret, secret.count) }
        let server = try TestServer(registry: registry)
        let (guesser, watcher, other) = (try server.connect(), try server.connect(), try server.connect())
        try watcher.ask("watch *")
        try other.ask("watch modified")
        var replies = try script.map { try script[0] == "json" ? [guesser.json($0)] : guesser.ask($0) }
        // Temporary overrides expire, which is an event, too.
        clock.advance(by: .seconds(60))
        registry.expire()
        for client in [watcher, other] {
            server.settle()
            client.endInput()
            replies.append(try client.restOfLines())
        }
        return replies
    }

    @Test(
        arguments: [
            ["set Vault/Door/Code hunter2"], ["set Vault/Door/Code hunter2 for 1s"],
            ["set Vault/Door/Code hunter2", "set Vault/Door/Code hunter2"],
            ["set Vault/Door/Pin 7"], ["set Vault/Door/Pin 7 for 1ms", "reset Vault"],
            ["check Vault/Door/Code hunter2", "modified", "stats", "ls"],
            [
                "set Vault/Door/Code hunter2", "modified", "modified --stale", "ls", "explain Vault/Door/Code", "undo",
                "history",
            ],
            ["set Vault/Door/Code hunter2", "reset Vault/Door/Code", "modified"],
            ["begin", "set Vault/Door/Code hunter2", "set Vault/Door/Pin 7", "commit", "watch * since 0"],
            ["json", "set Vault/Door/Code hunter2", "get *", "describe Vault/Door/Code", "modified", "find code"],
            ["Vault/Door/Pin += 9223372036854775800", "Vault/Door/Pin -= 7"],
        ], [true, false])
    func rightAndWrongGuessesLookAlike(_ script: [String], _ isDefault: Bool) throws {
        let right = try transcript("hunter2", isDefault: isDefault, script)
        let wrong = try transcript("hunter33", isDefault: isDefault, script)
        #expect(right.map { $0.map(Self.normalized) } == wrong.map { $0.map(Self.normalized) })
    }

    /// A line without what differs from one server to the next.
    private static func normalized(_ line: String) -> String {
        line.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "…").replacing(/"at":"[^"]*"/, with: "")
            // The capacity of a buffer depends on the allocator.
            .replacing(/heldBytes: [0-9]+/, with: "").replacing(/[0-9]+ (ns|µs|us|ms|s)\b/, with: "…").replacing(
                /^  (uptime|pid|instance|listeners|commitsPerSecond|undelivered|deliveryLag).*/, with: "")
    }

    @Test func observersRunOnRealChangesOnly() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Vault", "Door", "Code", "a", flags: .secret, registry: registry)
        let seen = Mutex<[String]>([])
        let observation = tweak.observe { change in seen.withLock { $0.append(change.new) } }
        for value in ["a", "b", "b"] { try tweak.set(value) }
        tweak.reset()
        withExtendedLifetime(observation) { #expect(seen.withLock(\.self) == ["b", "a"]) }
    }
}
