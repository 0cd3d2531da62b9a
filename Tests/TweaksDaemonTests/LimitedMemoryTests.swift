// Tests that clients that do not read can neither end a process whose memory is limited, nor fill the kernel's.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite(
    .blocking, .tags(.process, .quantity), .enabled(if: Child.exists && Tool.sh.exists, "build TweaksCrashProbe"),
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"),
    .enabled(if: isQuantityFull, "set TWEAKS_TEST_QUANTITY=full"))
struct LimitedMemoryTests {
    private let directory: TemporaryDirectory
    /// As the probe sets it with `lean`.
    private static let budget = 16_777_216
    /// Allocators take address space for each thread, which the tests of this suite keep small.
    private let environment: [String: String]

    init() throws {
        directory = try TemporaryDirectory()
        let file = directory.file("tokens")
        let line = TokenText.line(TokenEntry(name: "reader", token: "twk_reader", scopes: [.read]))
        try Data("\(line)\n".utf8).write(to: URL(fileURLWithPath: file))
        try #require(chmod(file, 0o600) == 0)
        environment = ["TWEAKS_PORT": "0", "TWEAKS_TOKEN_FILE": file, "MALLOC_ARENA_MAX": "1"]
    }

    private enum Way: CaseIterable { case unix, tcp }

    /// Sessions ask for long listings and watch everything, while values change.
    @Test(arguments: Way.allCases) private func clientsThatDoNotReadEndNoProcess(_ way: Way) throws {
        _ = raiseDescriptorLimit()
        let group = MemoryGroup()
        let (child, count) = (try limitedChild(group), 200)
        let port = try self.port(of: child)
        let polite = try child.connect()
        // Quotes take twice as many bytes when they are printed.
        let text = String(repeating: "\"", count: 30_000)
        for number in 0..<3 { try polite.ask("Probe/String/T\(number) = '\(text)'") }
        var crowd: [TestClient] = []
        for number in 0..<count {
            let client = try way == .unix ? child.connect() : TestClient(port: port)
            // Those that hold most are closed while they still send.
            let first = way == .unix ? "" : "auth twk_reader\n"
            try? client.send(first + "watch *\n" + String(repeating: "get *\n", count: 10))
            crowd.append(client)
            let status = try polite.ask("Load/Count/C\(number % 50) = \(number + 1)").last
            #expect(status?.hasPrefix("ok rev ") == true)
            if number.isMultiple(of: 20) { #expect(try polite.ask("get Load").last == "ok") }
        }
        // A turn may exceed the budget until its end.
        let held = try polite.ask("stats").first { $0.hasPrefix("  heldBytes: ") }
        #expect(try #require(held.flatMap { Int($0.filter(\.isNumber)) }) <= Self.budget * 5 / 4)
        let inKernel = try way == .unix ? crowd.map { try $0.arrivedBytes() } : SocketQueues.all(of: port).map(\.sent)
        #expect(inKernel.count >= count / 8)
        #expect(inKernel.reduce(0, +) <= Self.budget)
        crowd = []
        #expect(try polite.ask("ping") == ["ok pong"])
        try child.stop()
        group?.remove()
    }

    /// Starts a probe that may take twice its budget more than at rest: in a memory group where this process may make
    /// one, which counts the kernel's buffers, too, else in its address space.
    private func limitedChild(_ group: MemoryGroup?) throws -> Child {
        let child = try child(through: group?.wrapper ?? [])
        if let group {
            try group.limit(group.used() + 2 * Self.budget)
            return child
        }
        let mapped = try mappedBytes(child)
        try child.stop()
        return try self.child(through: Child.limited("-v \((mapped + 2 * Self.budget) / 1_024)"))
    }

    private func child(through wrapper: [String]) throws -> Child {
        let child = try Child(in: directory.path, ["lean"], environment, through: wrapper)
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        return child
    }

    private func port(of child: Child) throws -> Int {
        // The log is read after the wait: read as the first part of one expression, it would be what it was before.
        let index = try child.waitForLine(containing: "tweaks at 127.0.0.1:")
        let digits = child.log.all[index].components(separatedBy: "127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
        return try #require(Int(digits))
    }

    private func mappedBytes(_ child: Child) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
        let line = try #require(status.splitLines().first { $0.hasPrefix("VmSize:") })
        return try #require(Int(line.filter(\.isNumber))) * 1_024
    }
}

/// A control group of this test's own, beside or below that of this process.
private final class MemoryGroup {
    private let path: String
    private let files: (limit: String, used: String)

    /// Makes a group; nil where the system or the rights of this process do not permit it.
    init?() {
        let groups = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.splitLines() ?? []
        let fields = groups.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
        let first = fields.first { $0.count == 3 && $0[1].split(separator: ",").contains("memory") }
        let isFirst = first != nil
        guard let own = first ?? fields.first(where: { $0.count == 3 && $0[1].isEmpty }) else { return nil }
        files =
            isFirst ? ("memory.limit_in_bytes", "memory.usage_in_bytes") : ("memory.max", "memory.current")
        let root = "/sys/fs/cgroup" + (isFirst ? "/memory" : "") + own[2]
        // In version 2 a group with processes has no groups with limits.
        let parents = [root, (root as NSString).deletingLastPathComponent]
        let name = "tweaks-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        for parent in parents where parent.hasPrefix("/sys/fs/cgroup") {
            let path = "\(parent)/\(name)"
            guard mkdir(path, 0o755) == 0 else { continue }
            if access("\(path)/\(files.limit)", W_OK) == 0, access("\(path)/cgroup.procs", W_OK) == 0 {
                self.path = path
                return
            }
            rmdir(path)
        }
        return nil
    }

    deinit { remove() }

    /// Runs a program in the group.
    var wrapper: [String] {
        [Tool.sh.path, "-c", "echo $$ > '\(path)/cgroup.procs' && exec \"$0\" \"$@\""]
    }

    func used() throws -> Int {
        let text = try String(contentsOfFile: "\(path)/\(files.used)", encoding: .utf8)
        return try #require(Int(text.filter(\.isNumber)))
    }

    func limit(_ bytes: Int) throws {
        let file = try #require(FileHandle(forWritingAtPath: "\(path)/\(files.limit)"))
        try file.write(contentsOf: Data("\(bytes)".utf8))
        try file.close()
    }

    /// Removes it; its processes must have ended.
    func remove() { rmdir(path) }
}
