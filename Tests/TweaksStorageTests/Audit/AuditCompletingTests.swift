// What the audit gets from the history, where a crash of the machine has cost it its last lines.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite("Audit after a crash of the machine", .blocking)
struct AuditCompletingTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func lines(_ name: String = "audit.log") -> [String] {
        (home.read(name) ?? "").split(separator: "\n").map { String($0) }
    }

    /// One run of a program, from its start to its end.
    private func run(_ body: (TweakRegistry) throws -> Void = { _ in }) throws {
        let registry = TweakRegistry()
        _ = try registry.register("A", "B", "X", 1.0)
        _ = try registry.register("A", "B", "Word", "a")
        _ = try registry.register("A", "B", "Secret", "a", flags: .secret)
        _ = try registry.register("A", "B", "Free", "a")
        let trail = AuditTrail(AuditSettings(path: home.file("audit.log")), registry: registry) { _ in }
        let life = StoredLife.withHistory(home.file("state"), registry: registry)
        trail.complete()
        try body(registry)
        life.store.close()
        trail.close()
    }

    private func set(_ registry: TweakRegistry, by session: UInt64, _ values: [(String, TweakValue)]) throws {
        let connection = TweakConnection(transport: "unix socket", peer: "uid 1000 pid 7")
        var batch = TweakBatch()
        for (path, value) in values { batch.set(path, value) }
        try registry.commit(
            batch, origin: .user(1000).through(connection), kind: .change(session: session), delivery: .caller)
    }

    /// Five lines of four commits, one of which has two tweaks; and one that takes another back.
    private func commits(_ registry: TweakRegistry) throws {
        try set(registry, by: 1, [("A/B/X", .number(2))])
        try set(registry, by: 2, [("A/B/X", .number(3)), ("A/B/Word", .string("say \"ö\""))])
        try set(registry, by: 3, [("A/B/Secret", .string("hunter2"))])
        try set(registry, by: 4, [("A/B/X", .number(4))])
        try registry.undo(origin: .user(0))
    }

    /// Without what the history does not know: which process it was, and the session. Times may differ in the last digit.
    private func known(_ line: String) -> Substring {
        line.replacing(#/"from":"[^"]*"(,"peer":"[^"]*")?(,"session":\d+)?/#, with: "").dropFirst(34)
    }

    @Test(
        "it gets exactly the lines that it lacks, the rest of half a commit among them", arguments: 1...6,
        [false, true])
    func cut(kept: Int, isTorn: Bool) throws {
        try run(commits)
        let all = lines()
        try #require(all.count == 6)
        let half = isTorn && kept < 6 ? String(all[kept].prefix(60)) : ""
        let before = all.prefix(kept).map { $0 + "\n" }.joined() + half
        try Data(before.utf8).write(to: URL(fileURLWithPath: home.file("audit.log")))
        try run()
        let (found, start) = (lines(), kept + (half.isEmpty ? 0 : 1))
        #expect(home.read("audit.log")?.hasPrefix(before) == true)
        #expect(found.dropFirst(start).map(known) == all.dropFirst(kept).map(known))
        #expect(found.dropFirst(start).allSatisfy { $0.contains(#""from":"history""#) })
        #expect(home.read("audit.log")?.contains("hunter2") == false)
        for line in found.dropFirst(start) {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
        }
        // Now it has them.
        try run()
        #expect(lines() == found)
    }

    @Test("an ordinary restart adds nothing, though a drag is one entry of the history")
    func ordinary() throws {
        try run { registry in
            try commits(registry)
            for value in 5...20 { try set(registry, by: 9, [("A/B/X", .number(Double(value)))]) }
            _ = registry.applyConfigFile([ConfigEntry(path: "A/B/Free", text: "c", line: 1, origin: TweakOrigin("x:1"))]
            )
        }
        let before = home.read("audit.log")
        for _ in 0..<2 { try run() }
        #expect(home.read("audit.log") == before && lines().count == 23)
        // What comes after that is written as ever.
        try run { try set($0, by: 1, [("A/B/X", .number(50))]) }
        #expect(lines().count == 24)
    }

    @Test("a file without a commit gets none, unless it was begun anew behind another one", arguments: [false, true])
    func empty(isRotated: Bool) throws {
        try run(commits)
        let all = lines()
        let older = all.prefix(3).map { $0 + "\n" }.joined()
        try Data().write(to: URL(fileURLWithPath: home.file("audit.log")))
        if isRotated { try Data(older.utf8).write(to: URL(fileURLWithPath: home.file("audit.log.1"))) }
        try run()
        #expect(lines().map(known) == (isRotated ? all.dropFirst(3).map(known) : []))
        #expect(home.read("audit.log.1") == (isRotated ? older : nil))
    }

    @Test("what was left out is counted already")
    func leftOut() throws {
        try run(commits)
        let line =
            #"{"time":"2026-11-21T09:30:01.123Z","kind":"left out","commits":4,"from revision":2,"to revision":5}"#
        let before = lines()[0] + "\n" + line + "\n"
        try Data(before.utf8).write(to: URL(fileURLWithPath: home.file("audit.log")))
        try run()
        #expect(home.read("audit.log") == before)
    }

    @Test("what is a secret by now is so in what was kept before that")
    func becameSecret() throws {
        try run(commits)
        try Data((lines()[0] + "\n").utf8).write(to: URL(fileURLWithPath: home.file("audit.log")))
        let registry = TweakRegistry()
        _ = try registry.register("A", "B", "Word", "a", flags: .secret)
        let trail = AuditTrail(AuditSettings(path: home.file("audit.log")), registry: registry) { _ in }
        let life = StoredLife.withHistory(home.file("state"), registry: registry)
        trail.complete()
        life.store.close()
        trail.close()
        #expect(lines().count == 6 && home.read("audit.log")?.contains("say") == false)
        #expect(lines()[2].hasSuffix(#""path":"A/B/Word","secret":true}"#))
    }
}
