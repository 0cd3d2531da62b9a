// Tests how a running daemon notices that its config file appears, changes, or is removed.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct ConfigFileWatchTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    @Test func aFileThatAppearsIsRead() throws {
        try fixture.start(config: fixture.configFile)
        let (failed, end) = try fixture.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed.problems.count == 1 && failed.problems[0].line == nil && failed.problems[0].error.code == .io)
        try fixture.save("Content/Text/Size = 64\n")
        let (reload, _) = try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(reload.changes.map(\.description) == ["Content/Text/Size: file changed 60 → 64"])
        #expect(fixture.size == .number(64))
    }

    @Test func anUnfinishedLineWaits() throws {
        let daemon = try fixture.start(configText: "Content/Text/Size = 64\n")
        try fixture.write("Content/Text/Size = 7")
        // In between it may be seen empty.
        let text = "\(fixture.config) does not end with a line break"
        let (_, end) = try fixture.events.next("reloadWaiting") { event in
            event.reloadWaiting.flatMap { $0.hasPrefix(text) ? true : nil }
        }
        #expect(fixture.size == .number(64))
        try fixture.write("Content/Text/Size = 75\n")
        try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(fixture.size == .number(75))
        // A reload on request reads it as it is.
        try fixture.write("Content/Text/Size = 8")
        try fixture.write("Content/Text/Size = 80")
        try daemon.reload()
        #expect(fixture.size == .number(80))
    }

    @Test func anEmptiedFileWaitsForAReload() throws {
        let daemon = try fixture.start(configText: "Content/Text/Size = 64\n")
        try fixture.write("")
        let (waiting, _) = try fixture.events.next("reloadWaiting") { $0.reloadWaiting }
        #expect(waiting.hasPrefix("\(fixture.config) is empty"))
        #expect(fixture.size == .number(64))
        let reload = try daemon.reload()
        #expect(reload.changes.map(\.description) == ["Content/Text/Size: no longer in the file, changed 64 → 60"])
        #expect(fixture.size == .number(60) && reload.count == 0)
    }

    @Test func aFileWithCommentsAloneResetsItsValues() throws {
        try fixture.start(configText: "Content/Text/Size = 64\n")
        let start = fixture.events.all.count
        try fixture.save("# Content/Text/Size = 64\n\n")
        try fixture.events.next(from: start, "reloaded") { $0.reloaded }
        #expect(fixture.size == .number(60))
    }

    @Test func aRemovedFileChangesNothing() throws {
        let daemon = try fixture.start(configText: "Content/Text/Size = 64\n")
        try FileManager.default.removeItem(atPath: fixture.config)
        let (waiting, end) = try fixture.events.next("reloadWaiting") { $0.reloadWaiting }
        #expect(waiting.hasPrefix("\(fixture.config) is gone") && fixture.size == .number(64))
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.map(\.error.code) == [.io] && fixture.size == .number(64))
        try fixture.save("Content/Text/Size = 65\n")
        try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(fixture.size == .number(65))
    }

    @Test func ofABurstTheLastSaveIsInEffect() throws {
        try fixture.start(configText: "Content/Text/Size = 11\n")
        for number in 1...20 { try fixture.save("Content/Text/Size = \(20 + number)\n") }
        try fixture.events.next("reloaded") { event in
            event.reloaded.flatMap { $0.changes.first?.new == .number(40) ? true : nil }
        }
        #expect(fixture.size == .number(40))
        // Fewer commits than saves.
        #expect(fixture.registry.revision < 20)
    }

    @Test func equalValuesCommitNothing() throws {
        let daemon = try fixture.start(configText: "Content/Text/Size = 64\n")
        let revision = fixture.registry.revision
        for _ in 1...3 { try fixture.save("Content/Text/Size = 64\n") }
        try fixture.save("Content/Text/Size = 6.4e1\n")
        let (reload, end) = try fixture.events.next(from: 1, "reloaded") { event in
            event.reloaded.flatMap { $0.changes.isEmpty ? $0 : nil }
        }
        #expect(reload.revision == revision)
        #expect(try daemon.reload().changes.isEmpty)
        try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(fixture.registry.revision == revision)
    }

    @Test func aReloadIsOneCommit() throws {
        let daemon = try fixture.start(config: fixture.configFile)
        try fixture.save("Content/Text/Size = 64\nContent/Text/Alignment = right\nContent/Text/Fade = 250ms\n")
        let (commit, _) = try fixture.events.next("changed") { $0.changed }
        #expect(commit.origin == .configFile)
        #expect(commit.changes.map(\.path.name).sorted() == ["Alignment", "Size"])
        fixture.stop(daemon)
        #expect(fixture.events.all.count { $0.changed != nil } == 1)
    }

    @Test func aFrozenDaemonNeitherReadsNorWrites() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile, ["TWEAKS_FROZEN": "1"]))
        #expect(fixture.size == .number(60))
        #expect(try client.ask("reload")[0].hasPrefix("error "))
        #expect(throws: TweakReloadError.self) { try daemon.reload() }
        fixture.stop(daemon)
        #expect(!FileManager.default.fileExists(atPath: fixture.state))
        #expect(fixture.events.all.compactMap(\.reloaded).isEmpty)
    }
}
