// Required durability: what was refused because the directory could not be flushed does not come back after a kill.

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

@Suite("Overrides on disk: taken back", .blocking)
struct OverrideTakenBackTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()

    init() throws { home = try TemporaryDirectory() }

    private func life() -> StoredLife {
        StoredLife(home.file("state"), isRequired: true, files: files, time: ManualTime())
    }

    /// What the next run finds.
    private func found() throws -> Double {
        let life = StoredLife(home.file("state"))
        defer { life.store.close() }
        #expect(life.events == [.opened(path: life.file, entries: life.store.facts.entries)])
        return try life.number("Size").value
    }

    /// The file's own flush is the first one of a write, that of the directory the second.
    @Test("the value from before is back, or none", arguments: [true, false])
    func refused(hasOne: Bool) throws {
        let life = life()
        let size = try life.number("Size")
        if hasOne {
            size.value = 2
            #expect(life.tried() == nil)
        }
        files.plan { $0.kind == .sync && $0.numberOfKind == 2 ? .fails(EIO) : nil }
        #expect(try life.propose(["Size": 3]) == "Input/output error (flushing the directory)")
        #expect(life.text?.contains(#""value": 3"#) != true)
        // Killed: nothing that the process still wanted to write is there.
        files.plan { _ in .crashesBefore }
        life.store.close()
        #expect(try found() == (hasOne ? 2 : 1))
    }

    @Test("a directory that cannot be flushed at all: the same")
    func always() throws {
        let life = life()
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
        files.plan { call in
            // Files can be flushed, and only what is in the directory cannot.
            call.kind == .sync && call.numberOfKind % 2 == 0 ? .fails(EIO) : nil
        }
        #expect(try life.propose(["Size": 3]) == "Input/output error (flushing the directory)")
        files.plan { _ in .crashesBefore }
        life.store.close()
        #expect(try found() == 2)
    }

    @Test(
        "a process that dies before or after any call of this leaves one of both, complete", arguments: 1...24,
        [false, true])
    func crashes(number: Int, isAfter: Bool) throws {
        let life = life()
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
        files.plan { call in
            if call.number == number { return isAfter ? .crashesAfter : .crashesBefore }
            return call.kind == .sync && call.numberOfKind == 2 ? .fails(EIO) : nil
        }
        let failure = try life.propose(["Size": 3])
        let isAnswered = !files.isCrashed
        files.plan { _ in .crashesBefore }
        life.store.close()
        let value = try found()
        #expect(value == 2 || value == 3)
        // The answer is given when it is taken back.
        if isAnswered { #expect(failure != nil && value == 2) }
    }

    @Test("where it cannot be taken back, the answer says so, and the next write does it")
    func notTakenBack() throws {
        let time = ManualTime()
        let life = StoredLife(home.file("state"), isRequired: true, files: files, time: time)
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
        files.plan { call in
            call.kind == .sync && call.numberOfKind == 2 || call.kind == .rename && call.numberOfKind == 2
                ? .fails(EIO) : nil
        }
        let reason = try life.propose(["Size": 3])
        #expect(reason?.contains("flushing the directory), and it cannot be taken back: ") == true)
        files.plan(nil)
        time.waitUntilAsleep(for: .milliseconds(100))
        time.advance(by: .milliseconds(100))
        #expect(life.isSavedInTheEnd())
        life.store.close()
        #expect(try found() == 2)
    }
}
