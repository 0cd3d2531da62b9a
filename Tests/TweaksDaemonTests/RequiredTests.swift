// durability: .required, on real disks: what cannot be saved does not happen, and what is answered is there.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct RequiredTests {
    private let station: Station

    init() throws { station = try Station() }

    /// The directory is a file: set, batch and reset are refused; then it is a directory again.
    @Test func aDiskThatRefuses() throws {
        let daemon = try station.start(durability: .required)
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 71").last == "ok rev 1")
        // It writes once more: what was proposed is in force now.
        try station.registry.waitUntilSaved()
        let elsewhere = station.directory.file("elsewhere")
        try FileManager.default.moveItem(atPath: station.state, toPath: elsewhere)
        try station.save("in the way", at: station.state)
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
        // Nothing has happened.
        #expect(station.registry.revision == 1)
        #expect(try client.ask("modified").dropLast().map { $0.prefix(23) } == ["Content/Text/Size = 71 "])
        #expect(station.events.count { $0.changed != nil } <= 1)
        try FileManager.default.removeItem(atPath: station.state)
        #expect(try client.ask("reset Content/Text/Size").last == "ok rev 2")
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev 3")
        station.stop(daemon)
        let tweaks = ExampleTweaks()
        try station.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 73)
    }

    /// Everybody adds to one tweak at once; what each was told is true, and the sum is right, in memory and on disk.
    @Test func noneIsLost() throws {
        let registry = TweakRegistry()
        let sum = Tweak("Load", "Sum", "Sum", 0, registry: registry)
        let daemon = try station.start(durability: .required, registry: registry)
        let (clients, each) = (12, 8)
        let connections = try (0..<clients).map { _ in SentOver(try station.connect(daemon)) }
        let answered = Answered()
        concurrently(clients) { number in
            for _ in 0..<each {
                guard let last = try? connections[number].client.ask("Load/Sum/Sum += 1").last else { return }
                answered.add(last)
            }
        }
        #expect(answered.all.sorted() == (1...clients * each).map { "ok rev \($0)" }.sorted())
        #expect(sum.value == clients * each)
        station.stop(daemon)
        let later = TweakRegistry()
        let stored = Tweak("Load", "Sum", "Sum", 0, registry: later)
        try station.start(registry: later).stop()
        #expect(stored.value == clients * each)
        #expect(later.revision == UInt64(clients * each))
    }

    /// What a client has proposed that left before it was written does not come back in the place of something newer.
    @Test func whoLeavesInBetween() throws {
        let daemon = try station.start(durability: .required)
        for value in 20..<60 {
            let hasty = try station.connect(daemon)
            try hasty.send("Content/Text/Size = \(value)\nContent/Text/Alignment = right\n")
            hasty.endInput()
            // Gone, answered or not.
            withExtendedLifetime(hasty) {}
        }
        let client = try station.connect(daemon)
        try eventually { try station.figure("sessions", client) == "1" }
        let last = try client.ask("Content/Text/Size = 90").last
        #expect(last?.hasPrefix("ok rev ") == true)
        station.stop(daemon)
        let tweaks = ExampleTweaks()
        try station.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 90)
    }

    /// The program's own sets never wait, and are saved soon after.
    @Test func setsOfTheProgram() throws {
        let tweaks = ExampleTweaks()
        let daemon = try station.start(durability: .required, registry: tweaks.registry)
        tweaks.size.value = 72
        try tweaks.registry.waitUntilSaved()
        #expect(try station.storedPaths() == ["Content/Text/Size"])
        station.stop(daemon)
    }
}
