// Tests that the audit is completed from the history after a crash of the machine.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct AuditCompletionTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func lines() -> [String] { home.auditLines("audit.log") }

    /// Runs a program with audit and history from start to end.
    private func run(isWordSecret: Bool = false, _ body: (TweakRegistry) throws -> Void = { _ in }) throws {
        let registry = TweakRegistry()
        _ = try registry.register("A", "B", "X", 1.0)
        _ = try registry.register("A", "B", "Word", "a", flags: isWordSecret ? .secret : [])
        _ = try registry.register("A", "B", "Secret", "a", flags: .secret)
        _ = try registry.register("A", "B", "Free", "a")
        let trail = AuditTrail(AuditSettings(path: home.file("audit.log")), registry: registry) { _ in }
        let run = ProgramRun(home.file("state"), keepsHistory: true, registry: registry)
        trail.complete()
        try body(registry)
        run.store.close()
        trail.close()
    }

    private func set(_ registry: TweakRegistry, by session: UInt64, _ values: [(String, TweakValue)]) throws {
        let connection = TweakConnection(transport: "unix socket", peer: "uid 1000 pid 7")
        var batch = TweakBatch()
        for (path, value) in values { batch.set(path, value) }
        try registry.commit(
            batch, origin: .user(1000).through(connection), kind: .change(session: session), delivery: .caller)
    }

    /// Makes five lines of four commits, one of which has two tweaks, and one line of an undo.
    private func commits(_ registry: TweakRegistry) throws {
        try set(registry, by: 1, [("A/B/X", .number(2))])
        try set(registry, by: 2, [("A/B/X", .number(3)), ("A/B/Word", .string("say \"ö\""))])
        try set(registry, by: 3, [("A/B/Secret", .string("hunter2"))])
        try set(registry, by: 4, [("A/B/X", .number(4))])
        try registry.undo(origin: .user(0))
    }

    /// A line without its connection, which the history does not know, and its time, whose last digit may differ.
    private func known(_ line: String) -> Substring {
        line.replacing(#/"from":"[^"]*"(,"peer":"[^"]*")?(,"session":\d+)?/#, with: "").dropFirst(34)
    }

    @Test(
        arguments: 1...6,
        [false, true])
    func exactlyTheMissingLinesAreAdded(kept: Int, isTorn: Bool) throws {
        try run(commits)
        let all = lines()
        try #require(all.count == 6)
        let half = isTorn && kept < 6 ? String(all[kept].prefix(60)) : ""
        let before = all.prefix(kept).map { $0 + "\n" }.joined() + half
        try home.write(before, to: "audit.log")
        try run()
        let found = lines()
        let added = found.dropFirst(kept + (half.isEmpty ? 0 : 1))
        #expect(home.read("audit.log")?.hasPrefix(before) == true)
        #expect(added.map(known) == all.dropFirst(kept).map(known))
        #expect(added.allSatisfy { $0.contains(#""from":"history""#) })
        #expect(home.read("audit.log")?.contains("hunter2") == false)
        for line in added { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
        // The next run adds nothing.
        try run()
        #expect(lines() == found)
    }

    @Test func anOrdinaryRestartAddsNothing() throws {
        try run { registry in
            try commits(registry)
            for value in 5...20 { try set(registry, by: 9, [("A/B/X", .number(Double(value)))]) }
            let entry = ConfigEntry(path: "A/B/Free", text: "c", line: 1, origin: TweakOrigin("x:1"))
            _ = registry.replace(.configFile, with: [entry])
        }
        let before = home.read("audit.log")
        for _ in 0..<2 { try run() }
        #expect(home.read("audit.log") == before && lines().count == 23)
        // Later changes are written as usual.
        try run { try set($0, by: 1, [("A/B/X", .number(50))]) }
        #expect(lines().count == 24)
    }

    @Test(arguments: [false, true]) func anEmptyFileIsCompletedOnlyAfterARotation(isRotated: Bool) throws {
        try run(commits)
        let all = lines()
        let older = all.prefix(3).map { $0 + "\n" }.joined()
        try home.write("", to: "audit.log")
        if isRotated { try home.write(older, to: "audit.log.1") }
        try run()
        #expect(lines().map(known) == (isRotated ? all.dropFirst(3).map(known) : []))
        #expect(home.read("audit.log.1") == (isRotated ? older : nil))
    }

    @Test func omittedChangesCountAsWritten() throws {
        try run(commits)
        let line =
            #"{"time":"2026-11-21T09:30:01.123Z","kind":"left out","commits":4,"from revision":2,"to revision":5}"#
        let before = lines()[0] + "\n" + line + "\n"
        try home.write(before, to: "audit.log")
        try run()
        #expect(home.read("audit.log") == before)
    }

    @Test func aValueThatBecameASecretIsNotAdded() throws {
        try run(commits)
        try home.write(lines()[0] + "\n", to: "audit.log")
        try run(isWordSecret: true)
        #expect(lines().count == 6 && home.read("audit.log")?.contains("say") == false)
        #expect(lines()[2].hasSuffix(#""path":"A/B/Word","secret":true}"#))
    }
}
