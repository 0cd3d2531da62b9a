// Tests that disk failures, crashes and concurrent writers leave the old or the new preset, complete.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct PresetFailureTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualClock()
    private let name: PresetName

    init() throws {
        home = try TemporaryDirectory()
        name = try PresetName("warm")
    }

    private func folder(_ files: any FileSystem = PosixFileSystem()) -> PresetFolder {
        PresetFolder(directory: .success(home.file("state")), program: "bounce", fileSystem: files, time: time)
    }

    /// A preset of equal values.
    private func draft(_ value: Int, count: Int = 2) throws -> PresetDraft {
        let registry = TweakRegistry()
        for number in 0..<count { try Tweak("A", "B", "T\(number)", 0, registry: registry).set(value) }
        return registry.snapshot().draft(
            of: registry.listing().nodes, pattern: nil, origin: .code, lineLimit: 65_536)
    }

    private func found() throws -> [String] { try folder().read(name).entries.map(\.text) }

    @Test(arguments: [
        (FailingFileSystem.Kind.open, ENOSPC, "No space left on device; make room"),
        (.open, EROFS, "Read-only file system; mount it for writing, or name another TWEAKS_STATE_DIR"),
        (.write, ENOSPC, "No space left on device; make room"), (.write, EDQUOT, "Disk quota exceeded; make room"),
        (.sync, EIO, "Input/output error; check the disk, or name another TWEAKS_STATE_DIR"),
        (.rename, EIO, "Input/output error; check the disk, or name another TWEAKS_STATE_DIR"),
    ])
    func aFailedWriteKeepsTheOldPreset(kind: FailingFileSystem.Kind, code: Int32, reason: String) throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { call in call.kind == kind && call.name != "warm.conf" ? .fails(code) : nil }
        let error = #expect(throws: TweakError.self) { try folder.write(try draft(2), as: name) }
        #expect(error?.description == "io the preset warm is not saved: \(reason)")
        files.plan(nil)
        #expect(try found() == ["1", "1"] && home.names("state/presets") == ["warm.conf"])
        try folder.write(try draft(2), as: name)
        #expect(try found() == ["2", "2"])
    }

    @Test(arguments: [
        (FailingFileSystem.Kind.openDirectory, "/state cannot be opened"), (.names, "the presets cannot be listed"),
    ])
    func aFailedListingIsReported(kind: FailingFileSystem.Kind, words: String) throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { $0.kind == kind ? .fails(EMFILE) : nil }
        let error = #expect(throws: TweakError.self) { try folder.list() }
        #expect(error?.message.contains("\(words): Too many open files; raise the limit of open files") == true)
        #expect(folder.names().isEmpty)
    }

    @Test func aFailedReadOrDeletionIsReported() throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { $0.kind == .read || $0.kind == .remove ? .fails(EIO) : nil }
        #expect(throws: TweakError.self) { try folder.read(name) }
        let error = #expect(throws: TweakError.self) { try folder.delete(name) }
        #expect(error?.message.hasPrefix("the preset warm is not deleted: Input/output error") == true)
        files.plan(nil)
        #expect(try found() == ["1", "1"])
    }

    @Test func interruptedCallsAndShortWritesAreContinued() throws {
        let folder = folder(files)
        files.plan { call in
            if call.kind == .write, call.numberOfKind < 5 { return .isShort }
            return call.number % 2 == 1 && call.number < 20 ? .fails(EINTR) : nil
        }
        try folder.write(try draft(1), as: name)
        files.plan(nil)
        #expect(try found() == ["1", "1"])
    }

    /// The process dies before or after one call.
    @Test(arguments: 1...24, [false, true]) func aCrashLeavesTheOldOrTheNewPreset(number: Int, isAfter: Bool) throws {
        try folder().write(try draft(1), as: name)
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        let isSaved = (try? folder(files).write(try draft(2), as: name)) != nil
        let values = try found()
        #expect(values == ["1", "1"] || values == ["2", "2"])
        if isSaved { #expect(values == ["2", "2"]) }
        #expect(try folder().list().map(\.name) == [name])
        // Old temporary files are removed; this is later than any system clock.
        time.advance(by: .seconds(100 * 365 * 24 * 3_600))
        try folder().write(try draft(3), as: name)
        #expect(home.names("state/presets") == ["warm.conf"])
    }

    @Test func concurrentReadersSeeWholeFiles() throws {
        try folder().write(try draft(0, count: 500), as: name)
        let drafts = try (1...4).map { try draft($0, count: 500) }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let folder = folder()
            for _ in 0..<20 {
                if number < 4 {
                    #expect(throws: Never.self) { try folder.write(drafts[number], as: name) }
                } else {
                    let values = (try? folder.read(name))?.entries.map(\.text) ?? []
                    #expect(values.count == 500 && Set(values).count == 1)
                    #expect((try? folder.list())?.map(\.tweaks) == [500])
                }
            }
        }
        #expect(home.names("state/presets") == ["warm.conf"])
    }
}
