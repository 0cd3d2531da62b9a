// What a disk, a crash and other writers can do to presets: the old one or the new one is there, whole.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Presets on disk: failures", .blocking)
struct PresetFailureTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualTime()
    private let name: PresetName

    init() throws {
        home = try TemporaryDirectory()
        name = try PresetName("warm")
    }

    private var place: String { home.file("state/presets") }

    private func folder(_ files: any FileSystem) -> PresetFolder {
        PresetFolder(directory: .success(home.file("state")), program: "bounce", fileSystem: files, time: time)
    }

    /// A preset of as many values, all the same.
    private func draft(_ value: Int, count: Int = 2) throws -> PresetDraft {
        let registry = TweakRegistry()
        for number in 0..<count { try Tweak("A", "B", "T\(number)", 0, registry: registry).set(value) }
        return registry.snapshot().draft(
            of: registry.listing().nodes, pattern: nil, origin: .code, lineLimit: 65_536)
    }

    private func found() throws -> [String] { try folder(PosixFileSystem()).read(name).entries.map(\.text) }

    @Test(arguments: [
        (FailingFileSystem.Kind.open, ENOSPC, "No space left on device; make room"),
        (.open, EROFS, "Read-only file system; mount it for writing, or name another TWEAKS_STATE_DIR"),
        (.write, ENOSPC, "No space left on device; make room"), (.write, EDQUOT, "Disk quota exceeded; make room"),
        (.sync, EIO, "Input/output error; look after the disk, or name another TWEAKS_STATE_DIR"),
        (.rename, EIO, "Input/output error; look after the disk, or name another TWEAKS_STATE_DIR"),
    ])
    func fails(kind: FailingFileSystem.Kind, code: Int32, reason: String) throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { call in call.kind == kind && call.name != "warm.conf" ? .fails(code) : nil }
        let error = #expect(throws: TweakError.self) { try folder.write(try draft(2), as: name) }
        #expect(error?.description == "io the preset warm is not saved: \(reason)")
        files.plan(nil)
        #expect(try found() == ["1", "1"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["warm.conf"])
        try folder.write(try draft(2), as: name)
        #expect(try found() == ["2", "2"])
    }

    @Test(arguments: [
        (FailingFileSystem.Kind.openDirectory, "/state cannot be opened"), (.names, "the presets cannot be listed"),
    ])
    func cannotBeListed(kind: FailingFileSystem.Kind, words: String) throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { $0.kind == kind ? .fails(EMFILE) : nil }
        let error = #expect(throws: TweakError.self) { try folder.list() }
        #expect(error?.message.contains("\(words): Too many open files; raise the limit of open files") == true)
        #expect(folder.names().isEmpty)
    }

    @Test func cannotBeReadOrDeleted() throws {
        let folder = folder(files)
        try folder.write(try draft(1), as: name)
        files.plan { $0.kind == .read || $0.kind == .remove ? .fails(EIO) : nil }
        #expect(throws: TweakError.self) { try folder.read(name) }
        let error = #expect(throws: TweakError.self) { try folder.delete(name) }
        #expect(error?.message.hasPrefix("the preset warm is not deleted: Input/output error") == true)
        files.plan(nil)
        #expect(try found() == ["1", "1"])
    }

    @Test func signalsAndShortWrites() throws {
        let folder = folder(files)
        files.plan { call in
            if call.kind == .write, call.numberOfKind < 5 { return .isShort }
            return call.number % 2 == 1 && call.number < 20 ? .fails(EINTR) : nil
        }
        try folder.write(try draft(1), as: name)
        files.plan(nil)
        #expect(try found() == ["1", "1"])
    }

    /// The process dies before or after any one call.
    @Test(arguments: 1...24, [false, true]) func crash(number: Int, isAfter: Bool) throws {
        try folder(PosixFileSystem()).write(try draft(1), as: name)
        files.plan { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }
        let isSaved = (try? folder(files).write(try draft(2), as: name)) != nil
        let values = try found()
        #expect(values == ["1", "1"] || values == ["2", "2"])
        if isSaved { #expect(values == ["2", "2"]) }
        #expect(try folder(PosixFileSystem()).list().map(\.name) == [name])
        // What is left over goes when it is old.
        // Far enough, whatever the system's clock says.
        time.advance(by: .seconds(100 * 365 * 24 * 3_600))
        try folder(PosixFileSystem()).write(try draft(3), as: name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["warm.conf"])
    }

    /// Everybody saves, some read and list meanwhile: each sees one whole file.
    @Test func manySaveTheSame() throws {
        try folder(PosixFileSystem()).write(try draft(0, count: 500), as: name)
        let drafts = try (1...4).map { try draft($0, count: 500) }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let folder = folder(PosixFileSystem())
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
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["warm.conf"])
    }
}
