// Tests failing disks, on real file systems: replies, events, and the stored values.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DurabilityTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    /// The size in a daemon that starts now.
    private func sizeAfterRestart(_ storage: TweakDaemon.Storage? = nil) throws -> Double {
        let tweaks = ExampleTweaks()
        let daemon = try fixture.start(storage: storage, registry: tweaks.registry)
        defer { fixture.stop(daemon) }
        return tweaks.size.value
    }

    /// Expects unsaved replies until the disk is repaired, and saved ones afterwards.
    private func expectUnsaved(_ daemon: TweakDaemon, _ reason: String, repair: () throws -> Void) throws {
        let client = try fixture.connect(daemon)
        let start = fixture.events.all.count
        let revision = fixture.registry.revision
        for (value, number) in [(71, revision + 1), (72, revision + 2)] {
            let last = try client.ask("Content/Text/Size = \(value)").last ?? ""
            #expect(last.hasPrefix("ok rev \(number) unsaved: \(reason)"), "\(last)")
            #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = \(value) "))
        }
        #expect(try fixture.statistic("storage", client)?.hasPrefix("unsaved: \(reason)") == true)
        let (text, end) = try fixture.events.next(from: start, "unsaved") { $0.unsaved }
        #expect(text.contains(reason) && text.contains("; "))
        try repair()
        // It retries without another set.
        try fixture.events.next(from: end, "saving") { $0.saving }
        #expect(fixture.events.all[start...].compactMap(\.unsaved).count == 1)
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev \(revision + 3)")
        #expect(try fixture.statistic("storage", client) == "saved")
    }

    @Test func aFileInPlaceOfTheStateDirectoryIsReported() throws {
        let daemon = try fixture.start()
        try FileManager.default.moveItem(atPath: fixture.state, toPath: fixture.directory.file("elsewhere"))
        try fixture.save("in the way", at: fixture.state)
        try expectUnsaved(daemon, "File exists (making the directory") {
            try FileManager.default.removeItem(atPath: fixture.state)
        }
        fixture.stop(daemon)
        #expect(try sizeAfterRestart() == 73)
    }

    @Test(.needsMounting) func aFullDiskIsReportedAndTheValueStaysInEffect() throws {
        let disk = try Tmpfs(kilobytes: 64)
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        let daemon = try fixture.start(storage: storage)
        try FileManager.default.createSymbolicLink(atPath: fixture.state, withDestinationPath: "\(disk.path)/state")
        let filler = try disk.fill()
        try expectUnsaved(daemon, "No space left on device (") { try FileManager.default.removeItem(atPath: filler) }
        fixture.stop(daemon)
        #expect(try sizeAfterRestart(storage) == 73)
    }

    @Test(.needsMounting) func onAFullDiskTheOldFileStays() throws {
        let disk = try Tmpfs(kilobytes: 64)
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        let (daemon, client) = try fixture.withClient(fixture.start(storage: storage))
        #expect(try client.ask("Content/Text/Size = 70").last == "ok rev 1")
        let before = try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/state/overrides.json"))
        let filler = try disk.fill()
        #expect(try client.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev 2 unsaved: No space") == true)
        fixture.stop(daemon)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/state/overrides.json")) == before)
        #expect(try sizeAfterRestart(storage) == 70)
        try FileManager.default.removeItem(atPath: filler)
    }

    @Test(.needsMounting) func aReadOnlyDiskIsReportedAtTheStart() throws {
        let disk = try Tmpfs(kilobytes: 64, options: "ro")
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        try FileManager.default.createSymbolicLink(atPath: fixture.state, withDestinationPath: "\(disk.path)/state")
        let daemon = try fixture.start(storage: storage)
        try fixture.events.next("unsaved") { $0.unsaved?.contains("Read-only file system") == true ? true : nil }
        let client = try fixture.connect(daemon)
        let refusal = "ok rev 1 unsaved: Read-only file system"
        #expect(try client.ask("Content/Text/Size = 71").last?.hasPrefix(refusal) == true)
        #expect(fixture.events.all.compactMap(\.unsaved).count == 1)
        try disk.remount("rw")
        try fixture.events.next("saving") { $0.saving }
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev 2")
        fixture.stop(daemon)
        #expect(try sizeAfterRestart(storage) == 73)
    }

    @Test(.enabled(if: Child.exists)) func aLimitOnTheSizeOfFilesIsReported() throws {
        let child = try Child(in: fixture.directory.path)
        try child.waitUntilReady()
        let client = try child.connect()
        #expect(try client.ask("Probe/Int/T0 = 1").last == "ok rev 1")
        try client.ask("run Probe/Disk/Limit 16")
        let failure = "unsaved: File too large (writing overrides.json)"
        for number in 2...5 {
            #expect(try client.ask("Probe/Int/T0 = \(number)").last == "ok rev \(number) \(failure)")
        }
        #expect(try fixture.statistic("storage", client) == failure)
        try client.ask("run Probe/Disk/Limit")
        try child.waitForLine(containing: "overrides are saved again")
        #expect(child.log.all.count { $0.contains("File too large") } == 1)
        #expect(try client.ask("Probe/Int/T0 = 6").last == "ok rev 6")
        try child.kill()
        let next = try Child(in: fixture.directory.path)
        try next.waitUntilReady()
        #expect(try next.connect().ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 6 "))
        try next.stop()
    }

    @Test func aDeletedDirectoryIsCreatedAgainWithAllOverrides() throws {
        let (daemon, client) = try fixture.withClient(fixture.start())
        try client.ask("Content/Text/Size = 71")
        try FileManager.default.removeItem(atPath: fixture.state)
        #expect(try client.ask("Content/Text/Alignment = right").last == "ok rev 2")
        #expect(try fixture.storedPaths() == ["Content/Text/Alignment", "Content/Text/Size"])
        fixture.stop(daemon)
        #expect(try sizeAfterRestart() == 71)
    }

    @Test(arguments: [true, false]) func aDirectoryInPlaceOfTheFileIsQuarantined(_ isRunning: Bool) throws {
        let first = try fixture.start()
        #expect(try fixture.connect(first).ask("Content/Text/Size = 71").last == "ok rev 1")
        if !isRunning { fixture.stop(first) }
        try FileManager.default.removeItem(atPath: fixture.overrides)
        try FileManager.default.createDirectory(
            atPath: fixture.overrides + "/something", withIntermediateDirectories: true)
        let tweaks = ExampleTweaks()
        let daemon = isRunning ? first : try fixture.start(registry: tweaks.registry)
        let client = try fixture.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 72").last?.hasPrefix("ok rev ") == true)
        let (text, _) = try fixture.events.next("warning") { $0.warning }
        #expect(text.contains("overrides.json cannot be used: ") && text.contains("it is kept as "))
        let quarantined = try #require(try fixture.statistic("setAside", client))
        #expect(FileManager.default.fileExists(atPath: "\(fixture.state)/\(quarantined)/something"))
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
        fixture.stop(daemon)
        #expect(try sizeAfterRestart() == 72)
    }

    /// Each of several consecutive changes is a write of its own.
    @Test func writesAreCounted() throws {
        let client = try fixture.connect(fixture.start())
        for number in 1...3 {
            #expect(try client.ask("Content/Text/Size = \(20 + number)").last == "ok rev \(number)")
            #expect(try fixture.statistic("storageWrites", client) == "\(number)")
        }
        #expect(try fixture.statistic("storageFailures", client) == "0")
    }

    /// As scripts do, with the end of input right after the request.
    @Test(.enabled(if: Tool.nc.exists), arguments: [TweakDaemon.Durability.bestEffort, .required])
    func netcatGetsTheReplyOfTheDisk(_ durability: TweakDaemon.Durability) throws {
        let daemon = try fixture.start(durability: durability)
        let path = try #require(daemon.socketPath)
        for (input, end) in [("Content/Text/Size = 71\n", "ok rev 1\n"), ("reset *\nquit\n", "ok rev 2\nok\n")] {
            let answer = try Tool.nc.run(["-N", "-U", path], input: input)
            #expect(answer.hasSuffix(end), "\(answer)")
            #expect(try fixture.storedPaths().isEmpty == (end != "ok rev 1\n"))
        }
    }

    @Test func ofASharedStateDirectoryTheFirstDaemonSaves() throws {
        let tweaks = ExampleTweaks()
        let first = try fixture.start()
        let second = try fixture.start(registry: tweaks.registry)
        let (text, _) = try fixture.events.next("unsaved") { $0.unsaved }
        #expect(text.hasPrefix("\(fixture.state) is used by pid \(getpid()); ") && text.contains("TWEAKS_STATE_DIR"))
        let (one, two) = (try fixture.connect(first), try fixture.connect(second))
        #expect(try one.ask("Content/Text/Size = 71").last == "ok rev 1")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.overrides))
        let reply = try two.ask("Content/Text/Size = 72").last
        #expect(reply == "ok rev 1 unsaved: the state directory is used by pid \(getpid())")
        #expect(try fixture.statistic("storage", two)?.hasPrefix("off: ") == true)
        fixture.stop(second)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.overrides)) == bytes)
        #expect(try one.ask("Content/Text/Size = 73").last == "ok rev 2")
        fixture.stop(first)
        #expect(try sizeAfterRestart() == 73)
    }

    @Test func theRevisionContinuesAfterARestart() throws {
        for round in 0..<3 {
            let (daemon, client) = try fixture.withClient(fixture.start(registry: ExampleTweaks().registry))
            #expect(try client.ask("Content/Text/Size = \(20 + round)").last == "ok rev \(round * 2 + 1)")
            #expect(try client.ask("reset Content/Text/Size").last == "ok rev \(round * 2 + 2)")
            fixture.stop(daemon)
        }
    }

    @Test func savedWaitsForTheDisk() async throws {
        let tweaks = ExampleTweaks()
        try fixture.start(registry: tweaks.registry)
        tweaks.size.value = 72
        try await tweaks.registry.saved()
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
        tweaks.size.reset()
        try tweaks.registry.waitUntilSaved()
        #expect(try fixture.storedPaths().isEmpty)
    }
}
