// A process that dies before or after any single call on files leaves the old file or the new one, complete.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite("Overrides on disk: crashes", .blocking)
struct OverrideCrashTests {
    private static let numbers = 1...40

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// What a next run finds; anything else than complete files is an event.
    private func found(_ place: String) throws -> (values: [Double], events: [OverrideStore.Event]) {
        let life = StoredLife(home.file(place))
        let values = try ["X", "Y"].map { try life.number($0).value }
        life.store.close()
        #expect(!home.names(place).contains { $0.hasSuffix(".tmp") })
        return (values, life.events)
    }

    private func set(_ life: StoredLife, _ value: Double) throws {
        try life.registry.commit(origin: .code) { batch in
            batch.set("A/B/X", .number(value))
            batch.set("A/B/Y", .number(value))
        }
    }

    @Test("in a write", arguments: numbers, [false, true])
    func write(number: Int, isAfter: Bool) throws {
        let files = FailingFileSystem()
        let life = StoredLife(home.file("state"), files: files, time: ManualTime())
        _ = try (life.number("X"), life.number("Y"))
        try set(life, 2)
        #expect(life.tried() == nil)
        files.plan { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }
        try set(life, 3)
        let failure = life.tried()
        let wasReached = files.isCrashed
        life.store.close()
        let (values, events) = try found("state")
        // Half a write would be a value that nobody set, an empty file, or a file set aside.
        #expect(values == [2, 2] || values == [3, 3])
        if failure == nil { #expect(values == [3, 3]) }
        #expect(events == [.opened(path: life.file, entries: 2)])
        if !wasReached { #expect(failure == nil) }
    }

    @Test("all calls of a write are among those")
    func coverage() throws {
        let files = FailingFileSystem()
        let life = StoredLife(home.file("state"), files: files)
        try life.number("X").value = 2
        life.tried()
        files.plan(nil)
        try life.number("X").value = 3
        life.tried()
        #expect(
            files.log.map(\.kind) == [
                .factsOfPath, .factsOfName, .factsOfName, .open, .write, .sync, .facts, .rename, .sync,
            ])
        #expect(files.log.count < Self.numbers.upperBound)
    }

    @Test("in the first write of all, with the directory still to be made", arguments: numbers, [false, true])
    func first(number: Int, isAfter: Bool) throws {
        let files = FailingFileSystem()
        files.plan { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }
        let life = StoredLife(home.file("state/deep"), files: files, time: ManualTime())
        _ = try (life.number("X"), life.number("Y"))
        try set(life, 3)
        let failure = life.tried()
        life.store.close()
        let (values, events) = try found("state/deep")
        #expect(values == [1, 1] || values == [3, 3])
        if failure == nil { #expect(values == [3, 3]) }
        #expect(events.count == 1)
    }

    @Test("while a broken file is set aside", arguments: numbers, [false, true])
    func settingAside(number: Int, isAfter: Bool) throws {
        try FileManager.default.createDirectory(
            atPath: home.file("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try home.write("evidence", to: "state/overrides.json")
        let files = FailingFileSystem()
        files.plan { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }
        let life = StoredLife(home.file("state"), files: files, time: ManualTime())
        _ = try (life.number("X"), life.number("Y"))
        try set(life, 3)
        life.tried()
        life.store.close()
        _ = try found("state")
        let kept = home.names("state").filter { home.read("state/\($0)") == "evidence" }
        #expect(kept.count == 1)
    }
}
