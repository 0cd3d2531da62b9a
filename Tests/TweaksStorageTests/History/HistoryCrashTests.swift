// A process that dies at any call on files leaves a history that is never behind its values, nor ahead of them.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite("History on disk: crashes", .blocking)
struct HistoryCrashTests {
    private static let numbers = 1...40

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func life(
        _ files: any FileSystem = PosixFileSystem(), _ time: ManualTime = ManualTime()
    ) throws -> StoredLife {
        let life = StoredLife.withHistory(home.file("state"), files: files, time: time)
        _ = try life.number("X")
        return life
    }

    /// A life that is told to die, in an append or where the file has to be replaced: its last line has no end.
    private func dies(_ plan: @escaping FailingFileSystem.Plan, isAppending: Bool) throws -> FailingFileSystem {
        let first = try life()
        try first.set("X", 2, by: 1)
        first.store.close()
        if !isAppending {
            let text = try #require(home.read("state/history.jsonl"))
            try home.write(text + "{", to: "state/history.jsonl")
        }
        let files = FailingFileSystem()
        let second = try life(files)
        files.plan(plan)
        try second.set("X", 3, by: 2)
        second.tried()
        second.store.close()
        return files
    }

    @Test("in an append, or in a replacement", arguments: numbers, [false, true])
    func crash(number: Int, isAfter: Bool) throws {
        for isAppending in [false, true] {
            _ = try dies(
                { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }, isAppending: isAppending)
            let third = try life()
            let value = third.registry["A/B/X"]?.value
            let entries = third.registry.entries
            #expect(value == .number(2) || value == .number(3))
            // Whoever finds a value finds who has set it, and no commit that has not happened.
            #expect(
                entries
                    == (value == .number(3)
                        ? ["2 session 2: X 2→3", "1 session 1: X 1→2"] : ["1 session 1: X 1→2"]))
            try third.registry.undo()
            #expect(third.registry["A/B/X"]?.value == (value == .number(3) ? .number(2) : .number(1)))
            third.store.close()
            #expect(third.events.count == 1)
            #expect(!home.names("state").contains { $0.hasSuffix(".tmp") })
            try FileManager.default.removeItem(atPath: home.file("state"))
        }
    }

    @Test("all calls are among those")
    func coverage() throws {
        for isAppending in [false, true] {
            let files = try dies({ _ in nil }, isAppending: isAppending)
            let own = files.log.drop { !$0.name.hasPrefix("history.jsonl") }.map(\.kind)
            let wanted: [FailingFileSystem.Kind] =
                isAppending
                // The disk begins with the overrides, and has the history before these are in place.
                ? [
                    .factsOfName, .open, .facts, .write, .open, .write, .sync, .sync, .facts, .rename, .sync,
                ]
                : [.factsOfName, .open, .write, .sync, .facts, .rename, .sync]
            #expect(own.starts(with: wanted))
            #expect(files.log.count < Self.numbers.upperBound)
            try FileManager.default.removeItem(atPath: home.file("state"))
        }
    }
}
