// Two processes and one state directory: the second reads, says so, and never writes.

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

@Suite("Overrides on disk: the lock", .blocking)
struct OverrideLockTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test("the second storage reads, and never writes")
    func second() throws {
        let first = StoredLife(home.file("state"))
        try first.number("Size").value = 2
        first.tried()
        let before = first.text
        let second = StoredLife(home.file("state"))
        let size = try second.number("Size")
        #expect(size.value == 2)
        size.value = 3
        let reason = "the state directory is used by pid \(ProcessInfo.processInfo.processIdentifier)"
        #expect(second.tried() == reason)
        #expect(second.store.status.answer(for: 1) == .unsaved(reason))
        #expect(try second.propose(["Size": 4]) == reason)
        #expect(second.store.facts.state == "off: \(reason)")
        first.store.close()
        size.value = 5
        second.tried()
        second.store.close()
        #expect(second.text == before)
        #expect(second.events.count == 1)
        #expect("\(second.events[0])".hasSuffix("or give this one its own TWEAKS_STATE_DIR"))
        let third = StoredLife(home.file("state"))
        #expect(third.events == [.opened(path: third.file, entries: 1)])
    }

    @Test("the lock of another process counts, and is free when that is killed")
    func child() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/flock") else {
            try Test.cancel("this machine has no flock")
        }
        StoredLife(home.file("state")).store.close()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        process.arguments = ["--no-fork", home.file("state/lock"), "/bin/sh", "-c", "echo held; exec cat"]
        let output = Pipe()
        process.standardOutput = output
        // It ends with its input, even if this test does not get so far.
        let input = Pipe()
        process.standardInput = input
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
        let life = StoredLife(home.file("state"))
        try life.number("Size").value = 2
        #expect(life.tried()?.hasPrefix("the state directory is used by") == true)
        life.store.close()
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let next = StoredLife(home.file("state"))
        try next.number("Size").value = 3
        #expect(next.tried() == nil)
    }

    @Test("the lock is taken again when its file was deleted, and lost to whoever was faster")
    func deleted() throws {
        let first = StoredLife(home.file("state"))
        try first.number("Size").value = 2
        first.tried()
        try FileManager.default.removeItem(atPath: home.file("state/lock"))
        try first.number("Size").value = 3
        #expect(first.tried() == nil)
        try FileManager.default.removeItem(atPath: home.file("state/lock"))
        let second = StoredLife(home.file("state"))
        try second.number("Size").value = 4
        #expect(second.tried() == nil)
        try first.number("Size").value = 5
        #expect(first.tried()?.hasPrefix("the state directory is used by") == true)
        #expect(second.text?.contains(#""value": 4"#) == true)
    }

    @Test("what dead writers left behind is removed; what lives is not")
    func stale() throws {
        let first = StoredLife(home.file("state"))
        for name in ["overrides.json.1.tmp", "overrides.json.999999.tmp", "overrides.json.unreadable-x", "notes.tmp"] {
            try home.write("x", to: "state/\(name)")
        }
        StoredLife(home.file("state")).store.close()
        #expect(home.names("state").count == 5)
        first.store.close()
        StoredLife(home.file("state")).store.close()
        #expect(home.names("state") == ["lock", "notes.tmp", "overrides.json.unreadable-x"])
    }
}
