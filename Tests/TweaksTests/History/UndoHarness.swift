// Compares undo and redo of a registry with a model that is a plain list of commits.

import Testing
import Tweaks

/// A caller of undo and redo: with rights, and perhaps only for the changes of its name.
struct UndoCaller {
    var name: String?
    var rights = Rights.all

    func allows(_ kind: TweakScope.Kind, _ name: String) -> Bool {
        guard let path = try? TweakPath(name) else { preconditionFailure("\(name) is not a path") }
        return rights.allows(kind, path)
    }
}

/// The expected behavior of undo and redo.
struct UndoModel {
    private struct Commit {
        let owner: String?
        let before: [String: Int]
        let after: [String: Int]
        /// The name of the caller that undid it, and the number of commits at that time.
        var undo: (name: String?, count: Int)?

        func belongs(to caller: UndoCaller) -> Bool { caller.name == nil || owner == caller.name }

        func isVisible(to caller: UndoCaller) -> Bool { after.keys.allSatisfy { caller.allows(.read, $0) } }
    }

    enum Outcome: Equatable { case nothing, denied, conflict, done(Int) }

    private(set) var values: [String: Int]
    private var commits: [Commit] = []
    /// The indices of the undone commits in the order in which they were undone.
    private var undone: [Int] = []

    init(names: [String]) { values = Dictionary(uniqueKeysWithValues: names.map { ($0, 0) }) }

    mutating func set(_ changes: [String: Int], by owner: String?) {
        commits.append(Commit(owner: owner, before: values.filter { changes[$0.key] != nil }, after: changes))
        values.merge(changes) { $1 }
    }

    mutating func undo(_ caller: UndoCaller) -> Outcome {
        let last = commits.lastIndex { $0.undo == nil && $0.belongs(to: caller) && $0.isVisible(to: caller) }
        guard let last else { return .nothing }
        let outcome = apply(commits[last].before, over: commits[last].after, last, since: last + 1, caller)
        if outcome == .done(last) {
            commits[last].undo = (caller.name, commits.count)
            undone.append(last)
        }
        return outcome
    }

    mutating func redo(_ caller: UndoCaller) -> Outcome {
        // A new change of which the caller sees a part ends redo.
        let end = commits.lastIndex { commit in
            commit.belongs(to: caller) && commit.after.keys.contains { caller.allows(.read, $0) }
        }
        let last = undone.last { index in
            guard let undo = commits[index].undo, end ?? -1 < undo.count else { return false }
            let isOwn = commits[index].belongs(to: caller) || undo.name == caller.name
            return isOwn && commits[index].isVisible(to: caller)
        }
        guard let last, let undo = commits[last].undo else { return .nothing }
        let outcome = apply(commits[last].after, over: commits[last].before, last, since: undo.count, caller)
        if outcome == .done(last) {
            commits[last].undo = nil
            undone.removeAll { $0 == last }
        }
        return outcome
    }

    private mutating func apply(
        _ new: [String: Int], over old: [String: Int], _ index: Int, since start: Int, _ caller: UndoCaller
    ) -> Outcome {
        if !new.keys.allSatisfy({ caller.allows(.write, $0) }) { return .denied }
        let isTouched = commits[start...].contains { commit in
            commit.undo == nil && commit.after.keys.contains { new[$0] != nil }
        }
        if isTouched || old.contains(where: { values[$0.key] != $0.value }) { return .conflict }
        values.merge(new) { $1 }
        return .done(index)
    }
}

/// A registry whose tweaks are 0, and its model.
struct UndoHarness {
    let registry = TweakRegistry()
    private var model: UndoModel
    private var revisions: [UInt64] = []

    init(_ names: [String]) throws {
        model = UndoModel(names: names)
        for path in try names.map({ try TweakPath($0) }) {
            _ = Tweak(path.category, path.collection, path.name, 0, registry: registry)
        }
    }

    static func origin(_ name: String?) throws -> TweakOrigin {
        try name.map { TweakOrigin.user(1000).named(try DisplayName($0)) } ?? .code
    }

    mutating func set(_ changes: [String: Int], by name: String? = nil) throws {
        let news = changes.filter { model.values[$0.key] != $0.value }
        if news.isEmpty { return }
        model.set(news, by: name)
        var batch = TweakBatch()
        for (path, value) in changes { batch.set(path, .int(Int64(value))) }
        // As a step, so that each is an entry of its own.
        let result = try registry.commit(
            batch, origin: Self.origin(name), kind: .change(session: 1, isStep: true), delivery: .caller)
        revisions.append(result.revision)
    }

    /// Checks that the registry does the same as the model.
    @discardableResult
    mutating func check(
        _ direction: HistoryStep.Direction, _ caller: UndoCaller, at location: SourceLocation = #_sourceLocation
    ) throws -> UndoModel.Outcome {
        let expected = direction == .undo ? model.undo(caller) : model.redo(caller)
        let origin = try Self.origin(caller.name)
        var outcome: UndoModel.Outcome
        do throws(TweakError) {
            let revision =
                if caller.name == nil {
                    try reverse(direction, caller.rights)
                } else if direction == .undo {
                    try registry.undo(origin: origin, mine: true).entry.revision
                } else {
                    try registry.redo(origin: origin, mine: true).entry.revision
                }
            outcome = .done(revisions.firstIndex(of: revision) ?? -1)
        } catch {
            outcome = error.code == .denied ? .denied : error.message.contains("nothing") ? .nothing : .conflict
        }
        let values = model.values.mapValues { TweakValue.int(Int64($0)) }
        let current = values.keys.map { ($0, registry[$0]?.value) }
        #expect(outcome == expected, "\(direction), \(caller.rights.words)", sourceLocation: location)
        #expect(current.allSatisfy { $1 == values[$0] }, "\(current), not \(values)", sourceLocation: location)
        return outcome
    }

    private func reverse(_ direction: HistoryStep.Direction, _ rights: Rights) throws(TweakError) -> UInt64 {
        let step = try registry.historyStep(direction, force: false, rights: rights)
        try registry.commit(
            step.batch, origin: .code, ifUnchangedSince: step.revision, kind: step.kind, rights: rights,
            delivery: .caller)
        return step.entry.revision
    }
}
