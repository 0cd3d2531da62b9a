// Undo and redo of one's own changes among those of others, held against a model, and case by case.

import Testing
import Tweaks
import TweaksTestSupport

/// What they should do, written down in the simplest way.
private struct OwnUndoModel {
    struct Commit {
        let owner: String
        let before: [String: Int]
        let after: [String: Int]
        var isUndone = false
        var undoer = ""
        /// How many commits there were when it was taken back.
        var undoneAt = 0
    }

    enum Outcome: Equatable { case nothing, conflict, done(Int) }

    var commits: [Commit] = []
    var values: [String: Int] = [:]
    /// Those that were taken back, in this order.
    private var order: [Int] = []

    mutating func set(_ changes: [String: Int], by owner: String) {
        let before = Dictionary(uniqueKeysWithValues: changes.keys.map { ($0, values[$0, default: 0]) })
        commits.append(Commit(owner: owner, before: before, after: changes))
        values.merge(changes) { $1 }
    }

    mutating func undo(_ who: String) -> Outcome {
        guard let index = commits.lastIndex(where: { !$0.isUndone && $0.owner == who }) else { return .nothing }
        let commit = commits[index]
        if isTouched(commit, since: index + 1) || !agrees(commit.after) { return .conflict }
        values.merge(commit.before) { $1 }
        (commits[index].isUndone, commits[index].undoer, commits[index].undoneAt) = (true, who, commits.count)
        order.append(index)
        return .done(index)
    }

    mutating func redo(_ who: String) -> Outcome {
        let end = commits.lastIndex { $0.owner == who } ?? -1
        let index = order.last { index in
            let commit = commits[index]
            return end < commit.undoneAt && (commit.owner == who || commit.undoer == who)
        }
        guard let index else { return .nothing }
        if isTouched(commits[index], since: commits[index].undoneAt) || !agrees(commits[index].before) {
            return .conflict
        }
        values.merge(commits[index].after) { $1 }
        commits[index].isUndone = false
        order.removeAll { $0 == index }
        return .done(index)
    }

    private func isTouched(_ commit: Commit, since start: Int) -> Bool {
        commits[start...].contains { !$0.isUndone && !Set($0.after.keys).isDisjoint(with: commit.after.keys) }
    }

    private func agrees(_ expected: [String: Int]) -> Bool {
        expected.allSatisfy { values[$0.key, default: 0] == $0.value }
    }
}

@Suite struct OwnUndoTests {
    private static let names = (0..<4).map { "A/X/T\($0)" }
    private let registry = TweakRegistry()

    init() throws {
        for name in Self.names {
            let path = try TweakPath(name)
            _ = Tweak(path.category, path.collection, path.name, 0, registry: registry)
        }
    }

    private func origin(_ name: String) throws -> TweakOrigin { TweakOrigin.user(1000).named(try PersonName(name)) }

    @discardableResult
    private func set(_ changes: [String: Int], _ name: String) throws -> UInt64 {
        var batch = TweakBatch()
        for (path, value) in changes { batch.set(path, .int(Int64(value))) }
        return try registry.commit(
            batch, origin: try origin(name), kind: .change(session: 1, isStep: true), delivery: .caller
        ).revision
    }

    /// Two people of one user, who set, take back and make again in any order.
    @Test(arguments: 0..<40 as Range<UInt64>) func agreesWithAModel(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = OwnUndoModel()
        var revisions: [UInt64] = []
        for step in 1...150 {
            let who = ["Ada", "Bob", "Eve"][Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1:
                let count = Int.random(in: 1...2, using: &random)
                // Few values, so that the same comes back.
                let paths = Self.names.shuffled(using: &random).prefix(count)
                let value = Int.random(in: 1...3, using: &random)
                let changes = Dictionary(uniqueKeysWithValues: paths.map { ($0, value) })
                if changes.allSatisfy({ model.values[$0.key, default: 0] == $0.value }) { continue }
                let news = changes.filter { model.values[$0.key, default: 0] != $0.value }
                model.set(news, by: who)
                revisions.append(try set(changes, who))
            case 2...3: try compare(model.undo(who), who, .undo, revisions, step)
            default: try compare(model.redo(who), who, .redo, revisions, step)
            }
            for name in Self.names {
                #expect(registry[name]?.value == .int(Int64(model.values[name, default: 0])), "step \(step) \(name)")
            }
        }
    }

    private func compare(
        _ expected: OwnUndoModel.Outcome, _ who: String, _ direction: HistoryStep.Direction, _ revisions: [UInt64],
        _ step: Int
    ) throws {
        let origin = try origin(who)
        var outcome: OwnUndoModel.Outcome
        do throws(TweakError) {
            let done =
                direction == .undo
                ? try registry.undo(origin: origin, mine: true) : try registry.redo(origin: origin, mine: true)
            outcome = .done(revisions.firstIndex(of: done.entry.revision) ?? -1)
        } catch {
            outcome = error.message.contains("nothing") ? .nothing : .conflict
        }
        #expect(outcome == expected, "step \(step): \(direction) of \(who)")
    }

    @Test func othersStandAndAreNamed() throws {
        try set([Self.names[0]: 1], "Ada")
        try set([Self.names[1]: 2], "Bob")
        let undone = try registry.undo(origin: origin("Ada"), mine: true)
        #expect(undone.entry.origin.description == "uid 1000 (Ada)" && undone.entry.revision == 1)
        #expect(registry[Self.names[1]]?.value == .int(2))
        // A change of somebody else's does not end it, nor one's own name in another identity.
        try set([Self.names[2]: 3], "Bob")
        let ada = try PersonName("Ada")
        #expect(throws: TweakError.self) { try registry.redo(origin: TweakOrigin.user(7).named(ada), mine: true) }
        try registry.redo(origin: origin("Ada"), mine: true)
        #expect(registry[Self.names[0]]?.value == .int(1))
    }

    /// Another person has set the same value anew, and means it.
    @Test func theSameValueOfAnotherIsAConflict() throws {
        let path = Self.names[0]
        try set([path: 1], "Ada")
        try set([path: 2], "Bob")
        try set([path: 1], "Bob")
        let error = #expect(throws: TweakError.self) { try registry.undo(origin: origin("Ada"), mine: true) }
        #expect(error?.code == .conflict && error?.path?.joined == path)
        #expect(error?.message.contains("in revision 3 by uid 1000 (Bob)") == true)
        try registry.undo(origin: origin("Ada"), mine: true, force: true)
        #expect(registry[path]?.value == .int(0))
    }

    /// What one has taken back of others' is one's own to make again.
    @Test func redoesWhatOneHasUndone() throws {
        try set([Self.names[0]: 1], "Bob")
        try registry.undo(origin: origin("Ada"))
        try registry.redo(origin: origin("Ada"), mine: true)
        #expect(registry[Self.names[0]]?.value == .int(1))
        #expect(throws: TweakError.self) { try registry.redo(origin: origin("Ada"), mine: true) }
    }
}
