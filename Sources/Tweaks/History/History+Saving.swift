// Loads the records of earlier runs into the history, and tracks the records that the storage has to save.

extension History {
    /// Inserts the records of earlier runs before those of this one, and starts to track unsaved records.
    /// - Parameter raise: The revision that counting has continued from: those of this run's records are raised by it.
    mutating func load(_ older: [Record], raisingBy raise: UInt64) {
        let shift = older.last?.number ?? 0
        for index in records.indices { records[index].revision += raise }
        for index in records.indices where shift > 0 {
            records[index].number += shift
            records[index].undoneAt += shift
            records[index].kind = records[index].kind.shifted(by: shift)
        }
        hasUndone = hasUndone || older.contains { $0.status == .undone }
        let hasOwn = !records.isEmpty
        let hasChanged = records.contains { $0.isChange }
        records = Self.withUndoneAt(older) + records
        renumberClients()
        updateWeight()
        // The file has more records than fit, which is no loss.
        let removedBefore = removed
        if records.count > limit { remove(records.count - limit) { _ in 1 } }
        removed = removedBefore
        lastNumber += shift
        unsaved = Unsaved(from: shift + 1, isEmpty: !hasOwn)
        if hasChanged, shift > 0 { dropUndone(upTo: shift) }
    }

    /// Restores `undoneAt` of undone records from the undo records; the file does not contain it.
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

    /// Ends redo of changes from earlier runs, since the program has set values before the history was loaded.
    private mutating func dropUndone(upTo number: UInt64) {
        for index in records.indices where records[index].number <= number && records[index].status == .undone {
            records[index].status = .dropped
            unsaved?.mark(records[index].number)
        }
        hasUndone = records.contains { $0.status == .undone }
    }

    /// Whether there are unsaved records.
    var hasUnsaved: Bool { unsaved?.isEmpty == false }

    /// Returns the records to save, all or the unsaved ones, and the numbers of those with only a changed status.
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

    /// Stops tracking unsaved records.
    mutating func endSaving() { unsaved = nil }
}

/// Tracks the records that are new or changed since the last save.
struct Unsaved: Sendable {
    /// The number of the first new record.
    let from: UInt64
    /// The numbers of older records with a changed status.
    private(set) var marked: Set<UInt64> = []
    /// The numbers of older records into which later changes were merged.
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
    /// The same kind with the number of its undone or redone commit shifted.
    fileprivate func shifted(by count: UInt64) -> CommitKind {
        switch self {
        case .undo(let number, let session, let isMine): .undo(number + count, session: session, isMine: isMine)
        case .redo(let number, let session, let isMine): .redo(number + count, session: session, isMine: isMine)
        case .change, .reload, .expiry: self
        }
    }
}
