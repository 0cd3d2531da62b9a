// What a disk can do to a storage: the values stay in effect, the answer says so, and it is tried again.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Overrides on disk: failures", .blocking)
struct OverrideFailureTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualTime()

    init() throws { home = try TemporaryDirectory() }

    private func life() -> StoredLife { StoredLife(home.file("state"), files: files, time: time) }

    @Test(
        "each call of a write may fail: unsaved, and saved with the next attempt",
        arguments: [
            (FailingFileSystem.Kind.open, ENOSPC, "No space left on device (writing overrides.json)"),
            (.open, EROFS, "Read-only file system (writing overrides.json)"),
            (.open, EACCES, "Permission denied (writing overrides.json)"),
            (.open, EMFILE, "Too many open files (writing overrides.json)"),
            (.write, ENOSPC, "No space left on device (writing overrides.json)"),
            (.write, EDQUOT, "Disk quota exceeded (writing overrides.json)"),
            (.sync, EIO, "Input/output error (flushing overrides.json)"),
            (.facts, EIO, "Input/output error (flushing overrides.json)"),
            (.rename, EIO, "Input/output error (replacing overrides.json)"),
        ])
    func fails(kind: FailingFileSystem.Kind, code: Int32, reason: String) throws {
        let life = life()
        let size = try life.number("Size")
        files.plan { $0.kind == kind ? .fails(code) : nil }
        size.value = 2
        #expect(life.tried() == reason)
        #expect(size.value == 2)
        #expect(home.names("state") == ["lock"])
        #expect(life.store.facts.state == "unsaved: \(reason)")
        files.plan(nil)
        time.waitUntilAsleep(for: .milliseconds(100))
        time.advance(by: .milliseconds(100))
        #expect(life.isSavedInTheEnd())
        #expect(life.text?.contains("A/B/Size") == true)
        #expect(life.events.count == 3)
        #expect(life.events.last == .recovered(path: life.file))
        #expect(life.store.facts.lastFailure == reason)
        #expect(life.store.facts.state == "saved")
    }

    @Test("a directory that cannot be flushed is a failure, though the file is the new one")
    func directorySync() throws {
        let life = life()
        try life.number("X").value = 2
        life.tried()
        files.plan { $0.kind == .sync && $0.numberOfKind == 2 ? .fails(EIO) : nil }
        try life.number("X").value = 3
        #expect(life.tried() == "Input/output error (flushing the directory)")
        #expect(life.text?.contains(#""value": 3"#) == true)
        files.plan(nil)
        try life.number("X").value = 4
        time.waitUntilAsleep(for: .milliseconds(20))
        time.advance(by: .milliseconds(20))
        #expect(life.isSavedInTheEnd())
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test("interrupted calls and short writes are gone on with", arguments: [1, 2, 3, 5, 8])
    func interrupted(period: Int) throws {
        files.plan { call in
            switch call.kind {
            case .write: .isShort
            case .open, .openDirectory, .sync, .rename, .lock, .read:
                call.number % (period + 1) == 0 ? .fails(EINTR) : nil
            default: nil
            }
        }
        let life = life()
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
        life.store.close()
        files.plan(nil)
        #expect(try self.life().number("Size").value == 2)
    }

    @Test("back-off: ever less often, and each reason is said once")
    func backOff() throws {
        let life = life()
        files.plan { $0.kind == .sync ? .fails(ENOSPC) : nil }
        try life.number("Size").value = 2
        life.tried()
        for delay in [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000] {
            time.waitUntilAsleep(for: .milliseconds(delay))
            time.advance(by: .milliseconds(delay))
        }
        time.waitUntilAsleep(for: .seconds(30))
        #expect(life.store.facts.failures == 12)
        #expect(life.events.count == 2)
        files.plan { $0.kind == .sync ? .fails(EIO) : nil }
        time.advance(by: .seconds(30))
        time.waitUntilAsleep(for: .seconds(30))
        #expect(life.events.count == 3)
        files.plan(nil)
        time.advance(by: .seconds(30))
        #expect(life.isSavedInTheEnd())
        #expect(life.events.count == 4)
    }

    @Test("while it fails, something new is tried soon, and not in a frenzy")
    func news() throws {
        let life = life()
        let size = try life.number("Size")
        files.plan { $0.kind == .sync ? .fails(ENOSPC) : nil }
        size.value = 2
        life.tried()
        time.waitUntilAsleep(for: .milliseconds(100))
        for number in 3...1_000 { size.value = Double(number) }
        time.waitUntilAsleep(for: .milliseconds(20))
        #expect(life.store.facts.failures == 1)
        #expect(life.store.status.answer(for: life.registry.revision) == .pending)
        time.advance(by: .milliseconds(20))
        #expect(life.tried() != nil)
        #expect(life.store.facts.failures == 2)
        // It has not put off the attempt that was due.
        time.waitUntilAsleep(for: .milliseconds(80))
    }

    @Test("a directory that is deleted underneath is made again")
    func deleted() throws {
        let life = life()
        try life.number("Size").value = 2
        life.tried()
        try FileManager.default.removeItem(atPath: life.directory)
        try life.number("Other").value = 3
        #expect(life.tried() == nil)
        #expect(life.text?.contains("A/B/Size") == true)
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test("a directory that is replaced underneath is the new one; what lies there is kept")
    func replaced() throws {
        let life = life()
        try life.number("Size").value = 2
        life.tried()
        try FileManager.default.moveItem(atPath: life.directory, toPath: home.file("away"))
        try FileManager.default.createDirectory(
            atPath: life.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try home.write("not ours", to: "state/overrides.json")
        try life.number("Size").value = 3
        #expect(life.tried() == nil)
        #expect(life.text?.contains(#""value": 3"#) == true)
        #expect(home.read("state/overrides.json.unreadable-20261121T093000Z") == "not ours")
        #expect(home.read("away/overrides.json")?.contains(#""value": 2"#) == true)
    }

    @Test("a file that is replaced by a directory, or changed by hand, is set aside")
    func foreign() throws {
        let life = life()
        try life.number("Size").value = 2
        life.tried()
        try FileManager.default.removeItem(atPath: life.file)
        try FileManager.default.createDirectory(atPath: life.file, withIntermediateDirectories: false)
        try life.number("Size").value = 3
        #expect(life.tried() == nil)
        try home.write("by hand", to: "state/overrides.json")
        try life.number("Size").value = 4
        #expect(life.tried() == nil)
        #expect(life.text?.contains(#""value": 4"#) == true)
        #expect(home.read("state/overrides.json.unreadable-20261121T093000Z-2") == "by hand")
        #expect(life.store.facts.setAside == "overrides.json.unreadable-20261121T093000Z-2")
    }

    @Test("a copy of our own file is ours")
    func copied() throws {
        let life = life()
        try life.number("Size").value = 2
        life.tried()
        try home.write(try #require(life.text), to: "state/overrides.json")
        try life.number("Size").value = 3
        #expect(life.tried() == nil)
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test("a file that cannot be replaced is still ours, however often that is tried")
    func replacing() throws {
        let life = life()
        let size = try life.number("Size")
        size.value = 2
        #expect(life.tried() == nil)
        files.plan { $0.kind == .rename ? .fails(EBUSY) : nil }
        size.value = 3
        life.tried()
        for delay in [100, 200, 400, 800] {
            time.waitUntilAsleep(for: .milliseconds(delay))
            time.advance(by: .milliseconds(delay))
        }
        time.waitUntilAsleep(for: .milliseconds(1_600))
        #expect(life.store.facts.state.hasPrefix("unsaved: Device or resource busy"))
        #expect(life.text?.contains(#""value": 2"#) == true)
        files.plan(nil)
        time.advance(by: .milliseconds(1_600))
        #expect(life.isSavedInTheEnd())
        #expect(life.text?.contains(#""value": 3"#) == true)
        #expect(home.names("state") == ["lock", "overrides.json"])
    }
}
