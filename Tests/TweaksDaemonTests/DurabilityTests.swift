// Disks that refuse, on real file systems: what is answered meanwhile, what is said, and what is there afterwards.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DurabilityTests {
    private let station: Station

    init() throws { station = try Station() }

    /// The value in a daemon that starts now.
    private func sizeAfterRestart(_ storage: TweakDaemon.Storage? = nil) throws -> Double {
        let tweaks = ExampleTweaks()
        let daemon = try station.start(storage: storage, registry: tweaks.registry)
        defer { station.stop(daemon) }
        return tweaks.size.value
    }

    /// From the first set that the disk refuses to the first that it takes again.
    private func checkRefusal(_ daemon: TweakDaemon, _ reason: String, repair: () throws -> Void) throws {
        let client = try station.connect(daemon)
        let start = station.events.all.count
        let revision = station.registry.revision
        for (step, value) in [71, 72].enumerated() {
            let number = revision + UInt64(step) + 1
            let last = try client.ask("Content/Text/Size = \(value)").last ?? ""
            #expect(last.hasPrefix("ok rev \(number) unsaved: \(reason)"), "\(last)")
            #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = \(value) "))
        }
        #expect(try station.figure("storage", client)?.hasPrefix("unsaved: \(reason)") == true)
        let (said, end) = try station.events.next(from: start, "unsaved") { $0.unsaved }
        #expect(said.contains(reason) && said.contains("; "))
        try repair()
        // Nobody sets anything: it tries again by itself.
        try station.events.next(from: end, "saving") { $0.saving }
        #expect(station.events.all[start...].compactMap(\.unsaved).count == 1)
        #expect(try station.storedPaths() == ["Content/Text/Size"])
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev \(revision + 3)")
        #expect(try station.figure("storage", client) == "saved")
    }

    // MARK: Refusals

    @Test func theDirectoryIsAFile() throws {
        let daemon = try station.start()
        try FileManager.default.moveItem(atPath: station.state, toPath: station.directory.file("elsewhere"))
        try station.save("in the way", at: station.state)
        try checkRefusal(daemon, "File exists (making the directory") {
            try FileManager.default.removeItem(atPath: station.state)
        }
        station.stop(daemon)
        #expect(try sizeAfterRestart() == 73)
    }

    @Test(.enabled(if: Tmpfs.isPermitted, "mounting is not permitted here")) func theDiskIsFull() throws {
        let disk = try Tmpfs(kilobytes: 64)
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        let daemon = try station.start(storage: storage)
        try FileManager.default.createSymbolicLink(atPath: station.state, withDestinationPath: "\(disk.path)/state")
        let filler = try disk.fill()
        try checkRefusal(daemon, "No space left on device (") { try FileManager.default.removeItem(atPath: filler) }
        station.stop(daemon)
        #expect(try sizeAfterRestart(storage) == 73)
    }

    /// What was saved before stays when the disk is full.
    @Test(.enabled(if: Tmpfs.isPermitted, "mounting is not permitted here")) func theOldFileStays() throws {
        let disk = try Tmpfs(kilobytes: 64)
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        let daemon = try station.start(storage: storage)
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 70").last == "ok rev 1")
        let before = try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/state/overrides.json"))
        let filler = try disk.fill()
        #expect(try client.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev 2 unsaved: No space") == true)
        station.stop(daemon)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(disk.path)/state/overrides.json")) == before)
        #expect(try sizeAfterRestart(storage) == 70)
        try FileManager.default.removeItem(atPath: filler)
    }

    @Test(.enabled(if: Tmpfs.isPermitted, "mounting is not permitted here")) func theDiskIsReadOnly() throws {
        let disk = try Tmpfs(kilobytes: 64, options: "ro")
        let storage = TweakDaemon.Storage.directory("\(disk.path)/state")
        try FileManager.default.createSymbolicLink(atPath: station.state, withDestinationPath: "\(disk.path)/state")
        let daemon = try station.start(storage: storage)
        // It says so at the start, before anybody has set anything.
        try station.events.next("unsaved") { $0.unsaved?.contains("Read-only file system") == true ? true : nil }
        let client = try station.connect(daemon)
        let reply = try client.ask("Content/Text/Size = 71").last
        #expect(reply?.hasPrefix("ok rev 1 unsaved: Read-only file system") == true)
        #expect(station.events.all.compactMap(\.unsaved).count == 1)
        try disk.remount("rw")
        try station.events.next("saving") { $0.saving }
        #expect(try client.ask("Content/Text/Size = 73").last == "ok rev 2")
        station.stop(daemon)
        #expect(try sizeAfterRestart(storage) == 73)
    }

    /// A limit on the size of files, which needs no rights.
    @Test(.enabled(if: Child.exists)) func theFileMayNotGrow() throws {
        let child = try Child(in: station.directory.path)
        try child.waitUntilReady()
        let client = try child.connect()
        #expect(try client.ask("Probe/Int/T0 = 1").last == "ok rev 1")
        try client.ask("run Probe/Disk/Limit 16")
        for number in 2...5 {
            #expect(
                try client.ask("Probe/Int/T0 = \(number)").last
                    == "ok rev \(number) unsaved: File too large (writing overrides.json)")
        }
        #expect(try station.figure("storage", client) == "unsaved: File too large (writing overrides.json)")
        try client.ask("run Probe/Disk/Limit")
        try child.waitForLine(containing: "overrides are saved again")
        #expect(child.log.all.count { $0.contains("File too large") } == 1)
        #expect(try client.ask("Probe/Int/T0 = 6").last == "ok rev 6")
        try child.kill()
        let next = try Child(in: station.directory.path)
        try next.waitUntilReady()
        #expect(try next.connect().ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 6 "))
        try next.stop()
    }

    // MARK: Not refused

    /// The directory is made again, with everything in it.
    @Test func theDirectoryIsDeleted() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Size = 71")
        try FileManager.default.removeItem(atPath: station.state)
        #expect(try client.ask("Content/Text/Alignment = right").last == "ok rev 2")
        #expect(try station.storedPaths() == ["Content/Text/Alignment", "Content/Text/Size"])
        station.stop(daemon)
        #expect(try sizeAfterRestart() == 71)
    }

    /// What somebody put there is set aside, never overwritten.
    @Test(arguments: [true, false]) func theFileIsADirectory(_ isRunning: Bool) throws {
        let first = try station.start()
        #expect(try station.connect(first).ask("Content/Text/Size = 71").last == "ok rev 1")
        if !isRunning { station.stop(first) }
        try FileManager.default.removeItem(atPath: station.overrides)
        try FileManager.default.createDirectory(
            atPath: station.overrides + "/something", withIntermediateDirectories: true)
        let tweaks = ExampleTweaks()
        let daemon = isRunning ? first : try station.start(registry: tweaks.registry)
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 72").last?.hasPrefix("ok rev ") == true)
        let (text, _) = try station.events.next("warning") { $0.warning }
        #expect(text.contains("overrides.json cannot be taken: ") && text.contains("it is kept as "))
        let aside = try #require(try station.figure("setAside", client))
        #expect(FileManager.default.fileExists(atPath: "\(station.state)/\(aside)/something"))
        #expect(try station.storedPaths() == ["Content/Text/Size"])
        station.stop(daemon)
        #expect(try sizeAfterRestart() == 72)
    }

    /// One at a time, every change is a write of its own; writes that are shared are tested with a disk that waits.
    @Test func writesAreCounted() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        for number in 1...3 {
            #expect(try client.ask("Content/Text/Size = \(20 + number)").last == "ok rev \(number)")
            #expect(try station.figure("storageWrites", client) == "\(number)")
        }
        #expect(try station.figure("storageFailures", client) == "0")
        station.stop(daemon)
    }

    /// As a script does it: the end of input right behind, and the answer is still the disk's.
    @Test(.enabled(if: Tool.nc.exists), arguments: [TweakDaemon.Durability.bestEffort, .required])
    func byNetcat(_ durability: TweakDaemon.Durability) throws {
        let daemon = try station.start(durability: durability)
        let path = try #require(daemon.socketPath)
        for (input, end) in [("Content/Text/Size = 71\n", "ok rev 1\n"), ("reset *\nquit\n", "ok rev 2\nok\n")] {
            let answer = try Tool.nc.run(["-N", "-U", path], input: input)
            #expect(answer.hasSuffix(end), "\(answer)")
            #expect(try station.storedPaths().isEmpty == (end != "ok rev 1\n"))
        }
        station.stop(daemon)
    }

    // MARK: Instances and restarts

    @Test func twoWithOneDirectory() throws {
        let tweaks = ExampleTweaks()
        let first = try station.start()
        let second = try station.start(registry: tweaks.registry)
        let (said, _) = try station.events.next("unsaved") { $0.unsaved }
        #expect(said.hasPrefix("\(station.state) is used by pid \(getpid()); ") && said.contains("TWEAKS_STATE_DIR"))
        let (one, two) = (try station.connect(first), try station.connect(second))
        #expect(try one.ask("Content/Text/Size = 71").last == "ok rev 1")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: station.overrides))
        let reply = try two.ask("Content/Text/Size = 72").last
        #expect(reply == "ok rev 1 unsaved: the state directory is used by pid \(getpid())")
        #expect(try station.figure("storage", two)?.hasPrefix("off: ") == true)
        station.stop(second)
        #expect(try Data(contentsOf: URL(fileURLWithPath: station.overrides)) == bytes)
        #expect(try one.ask("Content/Text/Size = 73").last == "ok rev 2")
        station.stop(first)
        #expect(try sizeAfterRestart() == 73)
    }

    @Test func theRevisionGoesOn() throws {
        for round in 0..<3 {
            let daemon = try station.start(registry: ExampleTweaks().registry)
            let client = try station.connect(daemon)
            #expect(try client.ask("Content/Text/Size = \(20 + round)").last == "ok rev \(round * 2 + 1)")
            #expect(try client.ask("reset Content/Text/Size").last == "ok rev \(round * 2 + 2)")
            station.stop(daemon)
        }
    }

    @Test func savedWaitsForTheDisk() async throws {
        let tweaks = ExampleTweaks()
        let daemon = try station.start(registry: tweaks.registry)
        tweaks.size.value = 72
        try await tweaks.registry.saved()
        #expect(try station.storedPaths() == ["Content/Text/Size"])
        tweaks.size.reset()
        try tweaks.registry.waitUntilSaved()
        #expect(try station.storedPaths().isEmpty)
        station.stop(daemon)
    }
}
