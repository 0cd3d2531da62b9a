// Compares undo and redo with a model: lists of overrides before and after each step.

import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

/// The expected behavior of a registry with history, by whole copies of its overrides.
private struct HistoryModel {
    typealias Overrides = [String: Int64]

    struct Step {
        var before: Overrides
        var after: Overrides
        var session: UInt64
        var touched: [String]
        var time: Int

        var isVoid: Bool { touched.allSatisfy { before[$0] == after[$0] } }
    }

    var overrides: Overrides = [:]
    var done: [Step] = []
    var undone: [Step] = []
    /// The last step can be extended if there are more: there was no undo or redo since.
    var barrier = 0

    mutating func commit(_ changes: [(path: String, value: Int64?)], session: UInt64, time: Int) {
        let before = overrides
        for (path, value) in changes { overrides[path] = value }
        let touched = Set(changes.map(\.path)).filter { before[$0] != overrides[$0] }
        if touched.isEmpty { return }
        undone = []
        let order = changes.map(\.path).filter { touched.contains($0) }
        if let last = done.last, done.count > barrier, last.session == session, last.touched == order,
            time - last.time <= 500
        {
            (done[done.count - 1].after, done[done.count - 1].time) = (overrides, time)
        } else {
            done.append(Step(before: before, after: overrides, session: session, touched: order, time: time))
        }
    }

    mutating func undo() -> Bool {
        // Undo skips what left everything as it was.
        guard let index = done.lastIndex(where: { !$0.isVoid }) else { return false }
        let step = done[index]
        done.removeSubrange(index...)
        for path in step.touched { overrides[path] = step.before[path] }
        undone.append(step)
        barrier = done.count
        return true
    }

    mutating func redo() -> Bool {
        guard let step = undone.popLast() else { return false }
        for path in step.touched { overrides[path] = step.after[path] }
        done.append(step)
        barrier = done.count
        return true
    }
}

@Suite("History against a model")
struct HistoryModelTests {
    private static let paths = (0..<6).map { "A/B/\($0)" }

    @Test(.tags(.quantity), arguments: 1...UInt64(quantity(4, few: 2)))
    func thousandsOfCommitsUndosAndRedosAgreeWithTheModel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let now = Mutex(0)
        let start = Moment.now
        let registry = TweakRegistry { start + .milliseconds(now.withLock { $0 }) }
        registry.historyLimit = 100_000
        for number in 0..<6 { _ = try registry.register("A", "B", "\(number)", 0) }
        var model = HistoryModel()
        for _ in 0..<quantity(3_000, few: 1_000) {
            let time = now.withLock { now in
                now += Int.random(in: 0...400, using: &random)
                return now
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: #expect(model.undo() == ((try? registry.undo()) != nil))
            case 2: #expect(model.redo() == ((try? registry.redo()) != nil))
            default: try commit(registry, &model, time: time, &random)
            }
            let overrides = Self.paths.map { registry[$0]?.layers.last { $0.layer == .override }?.value }
            #expect(overrides == Self.paths.map { model.overrides[$0].map { .int($0) } })
        }
        #expect(registry.history.filter { $0.kind == .change && !$0.isUndone }.count == model.done.count { !$0.isVoid })
    }

    private func commit(
        _ registry: TweakRegistry, _ model: inout HistoryModel, time: Int, _ random: inout SeededGenerator
    ) throws {
        let session = UInt64.random(in: 1...2, using: &random)
        let paths = Bool.random(using: &random) ? [Self.paths[0]] : Array(Self.paths.shuffled(using: &random).prefix(3))
        let changes = paths.map { path -> (path: String, value: Int64?) in
            (path, Int.random(in: 0..<5, using: &random) == 0 ? nil : Int64.random(in: 0...3, using: &random))
        }
        var batch = TweakBatch()
        for (path, value) in changes {
            if let value { batch.set(path, .int(value)) } else { batch.reset(path) }
        }
        try registry.commit(
            batch, origin: TweakOrigin("session \(session)"), kind: .change(session: session), delivery: .caller)
        model.commit(changes, session: session, time: time)
    }
}
