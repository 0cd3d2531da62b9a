// A guess at a secret: right or wrong, everything that is answered and told is the same.

import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

struct SecretGuessTests {
    /// What a server with a secret answers, and what it tells those who watch.
    /// - Parameters:
    ///   - secret: The value in force, of a default or of an override.
    ///   - script: What is typed by the one who guesses.
    private func transcript(_ secret: String, isDefault: Bool, _ script: [String]) throws -> [[String]] {
        let clock = ManualClock()
        let registry = TweakRegistry(now: { clock.now }, sleep: { _ in try await Task.sleep(for: .seconds(3_600)) })
        let tweak = Tweak("Vault", "Door", "Code", isDefault ? secret : "", flags: .secret, registry: registry)
        let pin = Tweak("Vault", "Door", "Pin", isDefault ? secret.count : 0, flags: .secret, registry: registry)
        if !isDefault { (tweak.value, pin.value) = (secret, secret.count) }
        let server = try TestServer(registry: registry)
        let (guesser, watcher, other) = (try server.connect(), try server.connect(), try server.connect())
        _ = try watcher.ask("watch *")
        _ = try other.ask("watch modified")
        var answers = try script.map { line in
            guard script[0] == "json" else { return try guesser.ask(line) }
            try guesser.send(line + "\n")
            return [try guesser.line()]
        }
        // What was set for a while ends, and watchers are told that, too.
        clock.advance(by: .seconds(60))
        registry.expire()
        for client in [watcher, other] {
            server.settle()
            client.endInput()
            answers.append(try client.restOfLines())
        }
        return answers
    }

    @Test(
        arguments: [
            ["set Vault/Door/Code hunter2"], ["set Vault/Door/Code hunter2 for 1s"],
            ["set Vault/Door/Code hunter2", "set Vault/Door/Code hunter2"],
            ["set Vault/Door/Pin 7"], ["set Vault/Door/Pin 7 for 1ms", "reset Vault"],
            ["check Vault/Door/Code hunter2", "modified", "stats", "ls"],
            ["set Vault/Door/Code hunter2", "modified", "ls", "explain Vault/Door/Code", "undo", "history"],
            ["set Vault/Door/Code hunter2", "reset Vault/Door/Code", "modified"],
            ["begin", "set Vault/Door/Code hunter2", "set Vault/Door/Pin 7", "commit", "watch * since 0"],
            ["json", "set Vault/Door/Code hunter2", "get *", "describe Vault/Door/Code", "modified", "find code"],
            ["Vault/Door/Pin += 9223372036854775800", "Vault/Door/Pin -= 7"],
        ], [true, false])
    func lookAlike(_ script: [String], _ isDefault: Bool) throws {
        let (right, wrong) = (
            try transcript("hunter2", isDefault: isDefault, script),
            try transcript("hunter33", isDefault: isDefault, script)
        )
        #expect(right.map { $0.map(Self.timeless) } == wrong.map { $0.map(Self.timeless) })
    }

    /// A line without what differs from one server to the next.
    private static func timeless(_ line: String) -> String {
        line.replacing(/at [0-9:TZ.-]+/, with: "at …").replacing(/"at":"[^"]*"/, with: "")
            // The capacity of a buffer is what the allocator makes of it.
            .replacing(/heldBytes: [0-9]+/, with: "").replacing(/[0-9]+ (ns|µs|us|ms|s)\b/, with: "…").replacing(
                /^  (uptime|pid|instance|listeners|commitsPerSecond|undelivered|deliveryLag).*/, with: "")
    }

    /// The program's own observers still run on real changes alone.
    @Test func observersSeeRealChangesOnly() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Vault", "Door", "Code", "a", flags: .secret, registry: registry)
        let heard = Mutex<[String]>([])
        let observation = tweak.observe { change in heard.withLock { $0.append(change.new) } }
        try tweak.set("a")
        try tweak.set("b")
        try tweak.set("b")
        tweak.reset()
        withExtendedLifetime(observation) { #expect(heard.withLock(\.self) == ["b", "a"]) }
    }
}
