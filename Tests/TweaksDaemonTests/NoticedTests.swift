// The config file as a running daemon notices it: appearing, half written, emptied, saved in bursts.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct NoticedTests {
    private let station: Station

    init() throws { station = try Station() }

    private var size: TweakValue? { station.registry["Content/Text/Size"]?.value }

    /// Writes in place, as a script does.
    private func write(_ text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: station.config))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    @Test func itAppearsLater() throws {
        let daemon = try station.start(.init(station.config))
        let (failed, end) = try station.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed.problems.count == 1 && failed.problems[0].line == nil && failed.problems[0].error.code == .io)
        try station.save("Content/Text/Size = 64\n")
        let (reload, _) = try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(reload.changes.map(\.description) == ["Content/Text/Size: file changed 60 → 64"] && size == .number(64))
        station.stop(daemon)
    }

    @Test func aSlowWriter() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config))
        try write("Content/Text/Size = 7")
        let (waiting, end) = try station.events.next("reloadWaiting") { $0.reloadWaiting }
        #expect(waiting.hasPrefix("\(station.config) does not end with a line break"))
        #expect(size == .number(64))
        try write("Content/Text/Size = 75\n")
        try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(size == .number(75))
        // At its word, where somebody says so.
        try write("Content/Text/Size = 8")
        try write("Content/Text/Size = 80")
        try daemon.reload()
        #expect(size == .number(80))
        station.stop(daemon)
    }

    @Test func emptied() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config))
        try write("")
        let (waiting, _) = try station.events.next("reloadWaiting") { $0.reloadWaiting }
        #expect(waiting.hasPrefix("\(station.config) is empty"))
        #expect(size == .number(64))
        let reload = try daemon.reload()
        #expect(reload.changes.map(\.description) == ["Content/Text/Size: no longer in the file, changed 64 → 60"])
        #expect(size == .number(60) && reload.count == 0)
        station.stop(daemon)
    }

    @Test func commentsAlone() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config))
        let start = station.events.all.count
        try station.save("# Content/Text/Size = 64\n\n")
        try station.events.next(from: start, "reloaded") { $0.reloaded }
        #expect(size == .number(60))
        station.stop(daemon)
    }

    @Test func removed() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config))
        try FileManager.default.removeItem(atPath: station.config)
        let (waiting, end) = try station.events.next("reloadWaiting") { $0.reloadWaiting }
        #expect(waiting.hasPrefix("\(station.config) is gone") && size == .number(64))
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.map(\.error.code) == [.io] && size == .number(64))
        try station.save("Content/Text/Size = 65\n")
        try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(size == .number(65))
        station.stop(daemon)
    }

    @Test func aBurstEndsWithTheLast() throws {
        try station.save("Content/Text/Size = 11\n")
        let daemon = try station.start(.init(station.config))
        for number in 1...20 { try station.save("Content/Text/Size = \(20 + number)\n") }
        try station.events.next("reloaded") { event in
            event.reloaded.flatMap { $0.changes.first?.new == .number(40) ? true : nil }
        }
        #expect(size == .number(40))
        // Fewer commits than saves.
        #expect(station.registry.revision < 15)
        station.stop(daemon)
    }

    /// Saved again as it was, it commits nothing, and nobody is told; who asks is.
    @Test func theSameAgain() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config))
        let revision = station.registry.revision
        for _ in 1...3 { try station.save("Content/Text/Size = 64\n") }
        try station.save("Content/Text/Size = 6.4e1\n")
        let (reload, end) = try station.events.next(from: 1, "reloaded") { event in
            event.reloaded.flatMap { $0.changes.isEmpty ? $0 : nil }
        }
        #expect(reload.revision == revision)
        #expect(try daemon.reload().changes.isEmpty)
        try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(station.registry.revision == revision)
        station.stop(daemon)
    }

    /// Observers of what changed run once, and see the file's values together.
    @Test func oneCommit() throws {
        let daemon = try station.start(.init(station.config))
        try station.save("Content/Text/Size = 64\nContent/Text/Alignment = right\nContent/Text/Fade = 250ms\n")
        let (commit, _) = try station.events.next("changed") { $0.changed }
        #expect(commit.origin == .configFile)
        #expect(commit.changes.map(\.path.name).sorted() == ["Alignment", "Size"])
        station.stop(daemon)
        #expect(station.events.count { $0.changed != nil } == 1)
    }

    /// Nothing is read, nothing is written.
    @Test func frozen() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config), ["TWEAKS_FROZEN": "1"])
        let client = try station.connect(daemon)
        #expect(size == .number(60))
        #expect(try client.ask("reload")[0].hasPrefix("error "))
        #expect(throws: TweakReloadError.self) { try daemon.reload() }
        station.stop(daemon)
        #expect(!FileManager.default.fileExists(atPath: station.state))
        #expect(station.events.all.compactMap(\.reloaded).isEmpty)
    }
}
