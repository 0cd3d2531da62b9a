// Tests required durability on real disks: changes that cannot be saved are refused.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct RequiredDurabilityTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    @Test func changesThatCannotBeSavedAreRefused() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(durability: .required))
        #expect(try client.ask("Content/Text/Size = 71").last == "ok rev 1")
        // The proposed value is written again when it is in effect.
        try fixture.registry.waitUntilSaved()
        try FileManager.default.moveItem(atPath: fixture.state, toPath: fixture.directory.file("elsewhere"))
        try fixture.save("in the way", at: fixture.state)
        let refusal = "error io nothing was changed, because it cannot be saved: "
        #expect(try client.ask("Content/Text/Size = 72").last?.hasPrefix(refusal) == true)
        #expect(try client.ask("reset Content/Text/Size").last?.hasPrefix(refusal) == true)
        try client.send("begin\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\n")
        #expect(try client.lines(3) == ["ok rev 1", "ok queued", "ok queued"])
        #expect(try client.reply().last?.hasPrefix(refusal) == true)
        try client.send("json\nContent/Text/Size = 72\njson off\n")
        _ = try client.line()
        #expect(try client.line().hasPrefix(#"{"ok":false,"error":{"code":"io","message":"nothing was changed"#))
        #expect(try client.reply() == ["ok"])
        #expect(fixture.registry.revision == 1)
        #expect(try client.ask("modified").dropLast().map { $0.prefix(23) } == ["Content/Text/Size = 71 "])
        #expect(fixture.events.all.count { $0.changed != nil } <= 1)
        try FileManager.default.removeItem(atPath: fixture.state)
        #expect(try client.ask("reset Content/Text/Size").last == "ok rev 2")
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev 3")
        fixture.stop(daemon)
        let tweaks = ExampleTweaks()
        try fixture.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 73)
    }

    @Test func concurrentAdditionsHaveTheRightSumInMemoryAndOnDisk() throws {
        let registry = TweakRegistry()
        let sum = Tweak("Load", "Sum", "Sum", 0, registry: registry)
        let daemon = try fixture.start(durability: .required, registry: registry)
        let (clients, each) = (12, 8)
        let connections = try (0..<clients).map { _ in SendableClient(try fixture.connect(daemon)) }
        let replies = LogLines()
        concurrently(clients) { number in
            for _ in 0..<each {
                guard let last = try? connections[number].client.ask("Load/Sum/Sum += 1").last else { return }
                replies.note(last)
            }
        }
        #expect(replies.all.sorted() == (1...clients * each).map { "ok rev \($0)" }.sorted())
        #expect(sum.value == clients * each)
        fixture.stop(daemon)
        let later = TweakRegistry()
        let stored = Tweak("Load", "Sum", "Sum", 0, registry: later)
        try fixture.start(registry: later).stop()
        #expect(stored.value == clients * each)
        #expect(later.revision == UInt64(clients * each))
    }

    @Test func pendingChangesOfClosedSessionsDoNotReplaceNewerOnes() throws {
        let daemon = try fixture.start(durability: .required)
        for value in 20..<60 {
            let client = try fixture.connect(daemon)
            try client.send("Content/Text/Size = \(value)\nContent/Text/Alignment = right\n")
            client.endInput()
            // Closed before or after the reply.
            withExtendedLifetime(client) {}
        }
        let client = try fixture.connect(daemon)
        try eventually { try fixture.statistic("sessions", client) == "1" }
        #expect(try client.ask("Content/Text/Size = 90").last?.hasPrefix("ok rev ") == true)
        fixture.stop(daemon)
        let tweaks = ExampleTweaks()
        try fixture.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 90)
    }

    @Test func setsOfTheProgramAreInEffectAtOnceAndSavedLater() throws {
        let tweaks = ExampleTweaks()
        try fixture.start(durability: .required, registry: tweaks.registry)
        tweaks.size.value = 72
        try tweaks.registry.waitUntilSaved()
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
    }
}
