// What the history has to do with files: commits of earlier runs come first, and new ones are noted for the storage.

extension History {
    /// Puts the commits of earlier runs before those of this one, and notes from now on what the storage has to save.
    /// - Parameter revision: Where counting has gone on; commits made before that are not older than those.
    mutating func load(_ older: [Record], revision: UInt64) {
        let shift = older.last?.number ?? 0
        for index in records.indices where shift > 0 {
            records[index].number += shift
            records[index].undoneAt += shift
            records[index].kind = records[index].kind.shifted(by: shift)
            records[index].revision = max(records[index].revision, revision)
        }
        hasUndone = hasUndone || older.contains { $0.status == .undone }
        let hasOwn = !records.isEmpty
        let hasChanged = records.contains { $0.isChange }
        released += records
        records = (Self.withUndoneAt(older) + records).suffix(limit)
        weigh()
        lastNumber += shift
        unsaved = Unsaved(from: shift + 1, isEmpty: !hasOwn)
        if hasChanged, shift > 0 { dropUndone(upTo: shift) }
    }

    /// When those were taken back that are: the file says it by the commits that did so.
    private static func withUndoneAt(_ records: [Record]) -> [Record] {
        if records.allSatisfy({ $0.status == .done }) { return records }
        var times: [UInt64: UInt64] = [:]
        for record in records {
            if case .undo(let number, _, _) = record.kind { times[number] = record.number }
        }
        return records.map { record in
            var record = record
            record.undoneAt = times[record.number] ?? record.number
            return record
        }
    }

    /// What the program itself has set before ended redo of what was undone in an earlier run.
    private mutating func dropUndone(upTo number: UInt64) {
        for index in records.indices where records[index].number <= number && records[index].status == .undone {
            records[index].status = .dropped
            unsaved?.mark(records[index].number)
        }
        hasUndone = records.contains { $0.status == .undone }
    }

    /// Whether the storage has something to save.
    var hasUnsaved: Bool { unsaved?.isEmpty == false }

    /// What the storage has to save: all of it, or what is new; and of which of that only the status is.
    mutating func takeUnsaved(all: Bool) -> (records: [Record], marked: Set<UInt64>) {
        guard let unsaved else { return ([], []) }
        self.unsaved = Unsaved(from: lastNumber + 1, isEmpty: true)
        let kept = kept
        if all { return (Array(kept), []) }
        let fresh = kept.lastIndex { $0.number < unsaved.from }.map { kept[($0 + 1)...] } ?? kept
        let others = unsaved.marked.union(unsaved.merged)
        if others.isEmpty { return (Array(fresh), []) }
        let changed = kept[..<fresh.startIndex].filter { others.contains($0.number) }
        return (changed + fresh, unsaved.marked.subtracting(unsaved.merged))
    }

    /// Nobody saves it any more.
    mutating func endSaving() { unsaved = nil }
}

/// Commits that the storage has not seen as they are now.
struct Unsaved: Sendable {
    /// All from this one on.
    let from: UInt64
    /// And these, of which only the status has changed.
    private(set) var marked: Set<UInt64> = []
    /// And these, which took in later ones.
    private(set) var merged: Set<UInt64> = []
    private(set) var isEmpty: Bool

    init(from number: UInt64, isEmpty: Bool) { (from, self.isEmpty) = (number, isEmpty) }

    mutating func note(_ number: UInt64) {
        isEmpty = false
        if number < from { merged.insert(number) }
    }

    mutating func mark(_ number: UInt64) {
        isEmpty = false
        if number < from { marked.insert(number) }
    }
}

extension CommitKind {
    /// The same with the commit that it is about counted differently.
    fileprivate func shifted(by count: UInt64) -> CommitKind {
        switch self {
        case .undo(let number, let session, let isMine): .undo(number + count, session: session, isMine: isMine)
        case .redo(let number, let session, let isMine): .redo(number + count, session: session, isMine: isMine)
        case .change, .reload, .expiry: self
        }
    }
}
