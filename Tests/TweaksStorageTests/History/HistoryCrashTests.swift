// A process that dies at any call on files costs the last of its history, and nothing else.

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

    /// A life that is told to die; true when it did.
    private func dies(_ plan: @escaping FailingFileSystem.Plan, isAppending: Bool) throws -> FailingFileSystem {
        let first = try life()
        try first.set("X", 2, by: 1)
        first.store.close()
        let (files, time) = (FailingFileSystem(), ManualTime())
        let second = try life(files, time)
        files.plan(plan)
        try second.set("X", 3, by: 2)
        if second.tried() == nil, isAppending {
            time.waitUntilAsleep(for: .milliseconds(500))
            time.advance(by: .milliseconds(500))
            time.waitUntilAsleep()
        }
        second.store.close()
        return files
    }

    @Test("in an append, or in a replacement at the end", arguments: numbers, [false, true])
    func crash(number: Int, isAfter: Bool) throws {
        for isAppending in [false, true] {
            _ = try dies(
                { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }, isAppending: isAppending)
            let third = try life()
            let value = third.registry["A/B/X"]?.value
            let entries = third.registry.entries
            #expect(value == .number(2) || value == .number(3))
            #expect(entries == ["1 session 1: X 1→2"] || entries == ["2 session 2: X 2→3", "1 session 1: X 1→2"])
            // The history is never ahead of the values.
            if entries.count == 2 { #expect(value == .number(3)) }
            if value == .number(3), entries.count == 1 {
                #expect(throws: TweakError.self) { try third.registry.undo() }
                #expect(third.registry["A/B/X"]?.value == value)
            } else {
                try third.registry.undo()
                #expect(third.registry["A/B/X"]?.value == .number(entries.count == 2 ? 2 : 1))
            }
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
            #expect(
                own
                    == (isAppending
                        ? [.factsOfName, .open, .facts, .write, .sync, .facts]
                        : [.factsOfName, .open, .write, .sync, .facts, .rename, .sync]))
            #expect(files.log.count < Self.numbers.upperBound)
            try FileManager.default.removeItem(atPath: home.file("state"))
        }
    }
}
