// Undo and redo of those who see a part, held against a model that keeps a list of commits and nothing else.

import Testing
import Tweaks
import TweaksTestSupport

/// What undo and redo should do, written down in the simplest way.
private struct UndoModel {
    struct Commit {
        let number: Int
        let before: [String: Int]
        let after: [String: Int]
        var isUndone = false
        /// How many commits there were when it was taken back.
        var undoneAt = 0
    }

    enum Outcome: Equatable { case nothing, denied, conflict, done(Int) }

    var commits: [Commit] = []
    var values: [String: Int] = [:]

    mutating func set(_ changes: [String: Int]) {
        let before = changes.keys.map { ($0, values[$0, default: 0]) }
        commits.append(
            Commit(number: commits.count, before: Dictionary(uniqueKeysWithValues: before), after: changes))
        values.merge(changes) { $1 }
    }

    func isSeen(_ commit: Commit, _ rights: Rights) -> Bool {
        commit.after.keys.allSatisfy { rights.allows(.read, PartialUndoTests.path($0)) }
    }

    mutating func undo(_ rights: Rights) -> Outcome {
        guard let commit = commits.last(where: { !$0.isUndone && isSeen($0, rights) }) else { return .nothing }
        let outcome = go(commit, from: commit.after, to: commit.before, rights)
        if case .done = outcome {
            (commits[commit.number].isUndone, commits[commit.number].undoneAt) = (true, commits.count)
            order.append(commit.number)
        }
        return outcome
    }

    /// The numbers of those that were taken back, in this order.
    var order: [Int] = []

    mutating func redo(_ rights: Rights) -> Outcome {
        // A new change ends it, if anything of that is seen.
        let end = commits.last { $0.after.keys.contains { rights.allows(.read, PartialUndoTests.path($0)) } }
        let number = order.last { number in
            let commit = commits[number]
            return commit.isUndone && isSeen(commit, rights) && (end.map { $0.number < commit.undoneAt } ?? true)
        }
        guard let number else { return .nothing }
        let outcome = go(commits[number], from: commits[number].before, to: commits[number].after, rights)
        if case .done = outcome {
            commits[number].isUndone = false
            order.removeAll { $0 == number }
        }
        return outcome
    }

    private mutating func go(
        _ commit: Commit, from: [String: Int], to: [String: Int], _ rights: Rights
    ) -> Outcome {
        if !to.keys.allSatisfy({ rights.allows(.write, PartialUndoTests.path($0)) }) { return .denied }
        if from.contains(where: { values[$0.key, default: 0] != $0.value }) { return .conflict }
        values.merge(to) { $1 }
        return .done(commit.number)
    }
}

@Suite struct PartialUndoTests {
    private static let names = ["A", "B", "C"].flatMap { category in (0..<2).map { "\(category)/X/T\($0)" } }

    fileprivate static func path(_ text: String) -> TweakPath {
        guard let path = try? TweakPath(text) else { preconditionFailure("\(text) is no path") }
        return path
    }

    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        for name in names {
            let path = path(name)
            _ = Tweak(path.category, path.collection, path.name, 0, registry: registry)
        }
        return registry
    }

    /// One after another, several who see different parts set, take back and make again.
    @Test(arguments: 0..<40 as Range<UInt64>) func agreesWithAModel(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let registry = Self.registry()
        var model = UndoModel()
        let people = [
            Rights.all, Rights(["write:A"]), Rights(["write:B", "write:A/X/T0"]), Rights(["read", "write:C"]),
            Rights(["write"], without: ["read:C"]),
        ]
        var revisions: [UInt64] = []
        for step in 1...120 {
            let (number, rights) = (step, people[Int.random(in: people.indices, using: &random)])
            switch Int.random(in: 0..<4, using: &random) {
            case 0...1:
                let count = Int.random(in: 1...2, using: &random)
                let changes = Self.names.shuffled(using: &random).prefix(count).map { ($0, number) }
                model.set(Dictionary(uniqueKeysWithValues: changes))
                revisions.append(try Self.set(changes, registry))
            case 2: Self.compare(model.undo(rights), .undo, rights, registry, revisions)
            default: Self.compare(model.redo(rights), .redo, rights, registry, revisions)
            }
            for name in Self.names {
                #expect(registry[name]?.value == .int(Int64(model.values[name, default: 0])), "step \(step) \(name)")
            }
        }
    }

    private static func set(_ changes: [(String, Int)], _ registry: TweakRegistry) throws -> UInt64 {
        var batch = TweakBatch()
        for (path, value) in changes { batch.set(path, .int(Int64(value))) }
        // A step of its own, however quickly others follow.
        return try registry.commit(
            batch, origin: .code, kind: .change(session: 1, isStep: true), delivery: .caller
        ).revision
    }

    private static func compare(
        _ expected: UndoModel.Outcome, _ direction: HistoryStep.Direction, _ rights: Rights, _ registry: TweakRegistry,
        _ revisions: [UInt64], at location: SourceLocation = #_sourceLocation
    ) {
        var outcome: UndoModel.Outcome
        do throws(TweakError) {
            let step = try registry.historyStep(direction, force: false, rights: rights)
            _ = try registry.commit(
                step.batch, origin: .code, ifUnchangedSince: step.revision, kind: step.kind, rights: rights,
                delivery: .caller)
            outcome = .done(revisions.firstIndex(of: step.entry.revision) ?? -1)
        } catch {
            outcome = error.code == .denied ? .denied : error.message.contains("nothing") ? .nothing : .conflict
        }
        #expect(outcome == expected, "\(direction) with \(rights.words)", sourceLocation: location)
    }

    /// What ends redo for those who see it does not for others.
    @Test func redoGoesOnWhereNothingWasSeen() throws {
        let (registry, mine) = (Self.registry(), Rights(["write:A"]))
        _ = try Self.set([("A/X/T0", 1)], registry)
        Self.compare(.done(0), .undo, mine, registry, [1])
        _ = try Self.set([("B/X/T0", 1)], registry)
        #expect(throws: TweakError.self) { _ = try registry.historyStep(.redo, force: false) }
        Self.compare(.done(0), .redo, mine, registry, [1])
        #expect(registry["A/X/T0"]?.value == .int(1))
    }

    /// Who may force what he sees still cannot touch what he does not.
    @Test func forceTakesAdmin() throws {
        let registry = Self.registry()
        _ = try Self.set([("A/X/T0", 1), ("A/X/T1", 1)], registry)
        for (scopes, code) in [
            (["write:A"], "denied"), (["admin:A/X/T0", "read"], "denied"), (["admin:B", "read"], "denied"),
            (["admin:B"], "conflict"), (["admin:A"], ""),
        ] as [([String], String)] {
            var found = ""
            do throws(TweakError) {
                let rights = Rights(try scopes.map { text throws(TweakError) in try TweakScope(text) })
                _ = try registry.historyStep(.undo, force: true, rights: rights)
            } catch {
                found = error.code.rawValue
            }
            #expect(found == code, "\(scopes)")
        }
    }

    @Test func historyShowsWhatIsSeen() throws {
        let registry = Self.registry()
        for changes in [[("A/X/T0", 1)], [("B/X/T0", 1)], [("A/X/T0", 2), ("B/X/T0", 2)], [("B/X/T1", 3)]] {
            _ = try Self.set(changes, registry)
        }
        let mine = registry.history(last: 2, seenWith: Rights(["read:A"]))
        #expect(mine.map(\.revision) == [3, 1])
        #expect(mine.map { $0.changes.map(\.path.joined) } == [["A/X/T0"], ["A/X/T0"]])
        #expect(registry.history(last: 1, seenWith: Rights(["read:C"])).isEmpty)
        #expect(registry.history(last: 1, seenWith: Rights(["read:A"])).map(\.revision) == [3])
        #expect(registry.history(last: 9, seenWith: .all).count == 4)
    }
}
