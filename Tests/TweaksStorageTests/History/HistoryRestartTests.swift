// Undo and redo through restarts, against the same kind of model as without them.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// What a history should do: lists of overrides before and after each step.
private struct Model {
    struct Step {
        var before: [Double?]
        var after: [Double?]
        var session: UInt64
        var touched: [Int]
        var time: ContinuousClock.Instant
    }

    var overrides: [Double?]
    var done: [Step] = []
    var undone: [Step] = []
    /// The last entry can take in another change.
    var canMerge = false

    mutating func commit(
        _ changes: [(index: Int, value: Double?)], by session: UInt64, at time: ContinuousClock.Instant
    ) {
        let before = overrides
        for (index, value) in changes { overrides[index] = value }
        let touched = changes.map(\.index).filter { before[$0] != overrides[$0] }
        if touched.isEmpty { return }
        undone = []
        if canMerge, let last = done.last, last.session == session, last.touched == touched,
            time - last.time <= .milliseconds(500)
        {
            (done[done.count - 1].after, done[done.count - 1].time) = (overrides, time)
        } else {
            done.append(Step(before: before, after: overrides, session: session, touched: touched, time: time))
        }
        canMerge = true
    }

    mutating func undo() -> Bool {
        guard let step = done.popLast() else { return false }
        for index in step.touched { overrides[index] = step.before[index] }
        undone.append(step)
        canMerge = false
        return true
    }

    mutating func redo() -> Bool {
        guard let step = undone.popLast() else { return false }
        for index in step.touched { overrides[index] = step.after[index] }
        done.append(step)
        canMerge = false
        return true
    }
}

@Suite("History through restarts", .blocking)
struct HistoryRestartTests {
    private static let names = (0..<5).map { "N\($0)" }

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func life(_ time: ManualTime) throws -> StoredLife {
        let registry = TweakRegistry { time.now }
        registry.historyLimit = 100_000
        let life = StoredLife.withHistory(home.file("state"), time: time, registry: registry)
        for name in Self.names { _ = try life.number(name, 0) }
        return life
    }

    @Test("thousands of commits, undos, redos and restarts", .tags(.quantity), arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let time = ManualTime()
        var model = Model(overrides: Self.names.map { _ in nil })
        var life = try life(time)
        for _ in 0..<quantity(1_500) {
            time.advance(by: .milliseconds(Int.random(in: 0...400, using: &random)))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<2:
                life.store.close()
                life = try self.life(time)
                model.canMerge = false
            case 2..<25: #expect(model.undo() == ((try? life.registry.undo()) != nil))
            case 25..<40: #expect(model.redo() == ((try? life.registry.redo()) != nil))
            default: try commit(life.registry, &model, at: time.now, &random)
            }
            let overrides = Self.names.map { name in
                life.registry["A/B/\(name)"]?.layers.last { $0.layer == .override }?.value
            }
            #expect(overrides == model.overrides.map { $0.map { .number($0) } })
        }
        let changes = life.registry.history.filter { $0.kind == .change }
        #expect(changes.count { !$0.isUndone } == model.done.count)
        life.store.close()
        #expect(home.names("state") == ["history.jsonl", "lock", "overrides.json"])
    }

    private func commit(
        _ registry: TweakRegistry, _ model: inout Model, at time: ContinuousClock.Instant,
        _ random: inout SeededGenerator
    ) throws {
        let session = UInt64.random(in: 1...3, using: &random)
        let indices =
            Bool.random(using: &random) ? [0] : Array(Self.names.indices.shuffled(using: &random).prefix(3))
        let changes = indices.map { index -> (index: Int, value: Double?) in
            (
                index,
                Int.random(in: 0..<5, using: &random) == 0 ? nil : Double(Int.random(in: 1...4, using: &random)) / 3
            )
        }
        var batch = TweakBatch()
        for (index, value) in changes {
            let path = "A/B/\(Self.names[index])"
            if let value { batch.set(path, .number(value)) } else { batch.reset(path) }
        }
        try registry.commit(
            batch, origin: TweakOrigin("session \(session)"), kind: .change(session: session), delivery: .caller)
        model.commit(changes, by: session, at: time)
    }

    @Test("a tweak that registers late, under another name, or not at all")
    func late() throws {
        let time = ManualTime()
        let first = try life(time)
        try first.set("N0", 2)
        try first.registry.register("A", "B", "Secret", "s", flags: .secret).set("t")
        try first.registry.register("A", "B", "Old", 1.0).set(5)
        try first.set("N1", 3, by: 2)
        first.store.close()
        let registry = TweakRegistry { time.now }
        let second = StoredLife.withHistory(home.file("state"), time: time, registry: registry)
        #expect(
            registry.entries == ["4 session 2: N1 0→3", "3 code: Old 1→5", "2 code: Secret ?→?", "1 session 1: N0 0→2"])
        #expect(throws: TweakError.self) { try registry.undo() }
        let late = try second.number("N1", 0)
        #expect(late.value == 3)
        try registry.undo()
        #expect(late.value == 0)
        let renamed = try registry.register("A", "B", "New", 1.0, formerly: "A/B/Old")
        #expect(renamed.value == 5)
        try registry.undo()
        #expect(renamed.value == 1)
        _ = try registry.register("A", "B", "Secret", "s", flags: .secret)
        #expect { try registry.undo() } throws: { "\($0)".contains("is a secret") }
        try registry.undo(force: true)
        // It is of another kind by now.
        _ = try registry.register("A", "B", "N0", "text")
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(throws: TweakError.self) { try registry.redo() }
        second.store.close()
        let file = try #require(home.read("state/history.jsonl"))
        #expect(file.contains(#"{"path":"A/B/Secret","secret":true}"#) && !file.contains(#""t""#))
    }

    @Test("a temporary override is taken back and made again after a restart, with the end that it had")
    func temporary() throws {
        let time = ManualTime()
        let first = try life(time)
        try first.set("N0", 2)
        var batch = TweakBatch()
        batch.set("A/B/N0", .number(3), for: .seconds(600))
        try first.registry.commit(batch, origin: .user(1000), kind: .change(session: 2), delivery: .caller)
        first.store.close()
        let second = try life(time)
        let tweak = try second.number("N0", 0)
        #expect(tweak.value == 3)
        try second.registry.undo()
        #expect(tweak.value == 2)
        second.store.close()
        let third = try life(time)
        let again = try third.number("N0", 0)
        try third.registry.redo()
        #expect(again.value == 3)
        third.store.close()
        let file = try #require(home.read("state/history.jsonl"))
        #expect(
            file.contains(
                #""before":2,"after":2,"temporaryAfter":{"time":"2026-11-21T09:30:00.123Z","expires":"2026-11-21T09:40:00.123Z","value":3}"#
            ))
    }

    @Test("what has become a secret is shown and stored no more")
    func becomesSecret() throws {
        let time = ManualTime()
        let first = try life(time)
        let word = try first.registry.register("A", "B", "Word", "a")
        word.value = "hunter2"
        first.store.close()
        // A line without an end: the file is replaced with the next write, and not appended to.
        try home.write(try #require(home.read("state/history.jsonl")) + "{", to: "state/history.jsonl")
        let second = try life(time)
        _ = try second.registry.register("A", "B", "Word", "a", flags: .secret)
        #expect(second.registry.entries.last == "1 code: Word ?→?")
        #expect { try second.registry.undo() } throws: { "\($0)".contains("is a secret") }
        // The replacement leaves the value out.
        try second.set("N0", 1)
        second.store.close()
        #expect(home.read("state/history.jsonl")?.contains("hunter2") == false)
    }

    @Test("the file is bounded by commits, and so is what is read", .tags(.quantity))
    func boundedByCommits() throws {
        let time = ManualTime()
        let registry = TweakRegistry { time.now }
        registry.historyLimit = 10
        let life = StoredLife.withHistory(home.file("state"), time: time, registry: registry)
        _ = try life.number("X")
        let last = quantity(300, few: 100)
        var longest = 0
        for number in 1...last {
            try life.set("X", Double(number + 1), by: UInt64(number))
            life.tried()
            time.advance(by: .milliseconds(500))
            longest = max(longest, life.historyLines.count)
        }
        life.store.close()
        #expect((20...85).contains(longest))
        let next = TweakRegistry { time.now }
        next.historyLimit = 10
        let second = StoredLife.withHistory(home.file("state"), time: time, registry: next)
        #expect(next.entries.count == 10 && next.entries.first == "\(last) session \(last): X \(last)→\(last + 1)")
        second.store.close()
    }

    @Test("the file is bounded by bytes")
    func boundedByBytes() throws {
        let time = ManualTime()
        let registry = TweakRegistry { time.now }
        registry.historyLimit = 10
        let life = StoredLife.withHistory(home.file("state"), time: time, registry: registry)
        let text = try registry.register("A", "B", "Text", "")
        for number in 0..<10 {
            time.advance(by: .seconds(1))
            // Each is in the line four times: two values, two overrides.
            text.value = String(repeating: "\(number)", count: 300_000)
        }
        life.store.close()
        let size = try #require(FileManager.default.attributesOfItem(atPath: life.historyFile)[.size] as? Int)
        #expect((4_000_000...8_500_000).contains(size))
    }
}
