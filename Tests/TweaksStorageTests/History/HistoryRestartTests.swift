// Tests undo and redo through restarts against a model, and the limits of the history file.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// A model of the history: lists of overrides before and after each step.
private struct Model {
    struct Step {
        var before: [Double?]
        var after: [Double?]
        var session: UInt64
        var touched: [Int]
        var time: Moment

        var isVoid: Bool { touched.allSatisfy { before[$0] == after[$0] } }
    }

    var overrides: [Double?]
    var done: [Step] = []
    var undone: [Step] = []
    /// Whether the last entry can absorb another change.
    var canMerge = false

    mutating func commit(
        _ changes: [(index: Int, value: Double?)], by session: UInt64, at time: Moment
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
        // Undo skips what left everything as it was.
        guard let position = done.lastIndex(where: { !$0.isVoid }) else { return false }
        let step = done[position]
        done.removeSubrange(position...)
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

@Suite(.blocking) struct HistoryRestartTests {
    private static let names = (0..<5).map { "N\($0)" }

    private let home: TemporaryDirectory
    private let time = ManualClock()

    init() throws { home = try TemporaryDirectory() }

    private func start() throws -> ProgramRun {
        let registry = TweakRegistry { [time] in time.now }
        registry.historyLimit = 100_000
        let run = ProgramRun(home.file("state"), keepsHistory: true, time: time, registry: registry)
        for name in Self.names { _ = try run.number(name, 0) }
        return run
    }

    @Test(.tags(.quantity), arguments: [1, 2, 3] as [UInt64])
    func undoAndRedoFollowTheModelThroughRestarts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = Model(overrides: Self.names.map { _ in nil })
        var run = try start()
        for _ in 0..<quantity(1_500) {
            time.advance(by: .milliseconds(Int.random(in: 0...400, using: &random)))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<2:
                run.store.close()
                run = try self.start()
                model.canMerge = false
            case 2..<25: #expect(model.undo() == ((try? run.registry.undo()) != nil))
            case 25..<40: #expect(model.redo() == ((try? run.registry.redo()) != nil))
            default: try commit(run.registry, &model, at: time.now, &random)
            }
            let overrides = Self.names.map { name in
                run.registry["A/B/\(name)"]?.layers.last { $0.layer == .override }?.value
            }
            #expect(overrides == model.overrides.map { $0.map { .number($0) } })
        }
        let changes = run.registry.history.filter { $0.kind == .change }
        #expect(changes.count { !$0.isUndone } == model.done.count { !$0.isVoid })
        run.store.close()
        #expect(home.names("state") == ["history.jsonl", "lock", "overrides.json"])
    }

    private func commit(
        _ registry: TweakRegistry, _ model: inout Model, at time: Moment,
        _ random: inout SeededGenerator
    ) throws {
        let session = UInt64.random(in: 1...3, using: &random)
        let indices =
            Bool.random(using: &random) ? [0] : Array(Self.names.indices.shuffled(using: &random).prefix(3))
        let changes = indices.map { index -> (index: Int, value: Double?) in
            let isReset = Int.random(in: 0..<5, using: &random) == 0
            return (index, isReset ? nil : Double(Int.random(in: 1...4, using: &random)) / 3)
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

    @Test func tweaksRegisteredLateOrRenamedCanBeUndone() throws {
        let first = try start()
        try first.set("N0", 2)
        try first.registry.register("A", "B", "Secret", "s", flags: .secret).set("t")
        try first.registry.register("A", "B", "Old", 1.0).set(5)
        try first.set("N1", 3, by: 2)
        first.store.close()
        let registry = TweakRegistry { [time] in time.now }
        let second = ProgramRun(home.file("state"), keepsHistory: true, time: time, registry: registry)
        let entries = ["4 session 2: N1 0→3", "3 code: Old 1→5", "2 code: Secret ?→?", "1 session 1: N0 0→2"]
        #expect(registry.entries == entries)
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
        // It has another kind now.
        _ = try registry.register("A", "B", "N0", "text")
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(throws: TweakError.self) { try registry.redo() }
        second.store.close()
        let file = try #require(home.read("state/history.jsonl"))
        #expect(file.contains(#"{"path":"A/B/Secret","secret":true}"#) && !file.contains(#""t""#))
    }

    @Test func aTemporaryOverrideCanBeUndoneAndRedoneAfterARestart() throws {
        let first = try start()
        try first.set("N0", 2)
        try first.set("N0", 3, for: .seconds(600), by: 2)
        first.store.close()
        let second = try start()
        let tweak = try second.number("N0", 0)
        #expect(tweak.value == 3)
        try second.registry.undo()
        #expect(tweak.value == 2)
        second.store.close()
        let third = try start()
        let again = try third.number("N0", 0)
        try third.registry.redo()
        #expect(again.value == 3)
        third.store.close()
        let temporary = #"{"time":"2026-11-21T09:30:00.123Z","expires":"2026-11-21T09:40:00.123Z","value":3}"#
        let file = try #require(home.read("state/history.jsonl"))
        #expect(file.contains(#""before":2,"after":2,"temporaryAfter":\#(temporary)"#))
    }

    @Test func aValueThatBecameASecretIsNeitherShownNorStored() throws {
        let first = try start()
        let word = try first.registry.register("A", "B", "Word", "a")
        word.value = "hunter2"
        first.store.close()
        // A torn line makes the next write replace the file.
        try home.write(try #require(home.read("state/history.jsonl")) + "{", to: "state/history.jsonl")
        let second = try start()
        _ = try second.registry.register("A", "B", "Word", "a", flags: .secret)
        #expect(second.registry.entries.last == "1 code: Word ?→?")
        #expect { try second.registry.undo() } throws: { "\($0)".contains("is a secret") }
        // The replacement leaves the value out.
        try second.set("N0", 1)
        second.store.close()
        #expect(home.read("state/history.jsonl")?.contains("hunter2") == false)
    }

    private func startBounded() -> ProgramRun {
        let registry = TweakRegistry { [time] in time.now }
        registry.historyLimit = 10
        return ProgramRun(home.file("state"), keepsHistory: true, time: time, registry: registry)
    }

    @Test(.tags(.quantity)) func theFileIsBoundedByCommits() throws {
        let run = startBounded()
        _ = try run.number("X")
        let last = quantity(300, few: 100)
        var longest = 0
        for number in 1...last {
            try run.set("X", Double(number + 1), by: UInt64(number))
            run.flush()
            time.advance(by: .milliseconds(500))
            longest = max(longest, run.historyLines.count)
        }
        run.store.close()
        #expect((20...85).contains(longest))
        let entries = startBounded().registry.entries
        #expect(entries.count == 10 && entries.first == "\(last) session \(last): X \(last)→\(last + 1)")
    }

    @Test func theFileIsBoundedByBytes() throws {
        let run = startBounded()
        let text = try run.registry.register("A", "B", "Text", "")
        for number in 0..<10 {
            time.advance(by: .seconds(1))
            // Each is in the line four times: two values, two overrides.
            text.value = String(repeating: "\(number)", count: 300_000)
        }
        run.store.close()
        let size = try #require(FileManager.default.attributesOfItem(atPath: run.historyFile)[.size] as? Int)
        #expect((4_000_000...8_500_000).contains(size))
    }
}
