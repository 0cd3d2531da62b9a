// Turns audit items into lines: each its own within a budget, beyond it one when a fold begins and one when it ends.

import Tweaks
import TweaksWire

/// Formats items as lines, within a budget per origin, so that a busy client can neither fill the disk nor hide what it
/// did.
///
/// A change within the budget of its origin has a line of its own. Beyond it, the changes of a tweak by that origin share
/// a fold: its first line is written at once, the line about all of them within ten seconds. Session actions always
/// share folds, of a minute.
struct AuditFolds {
    /// The bytes that an origin may write at once …
    static let burst = 1_048_576.0
    /// … and per minute after that.
    static let bytesPerMinute = 4_096.0
    /// How long changes are folded: the line is written within ten seconds, the time of a turn included.
    static let changeWindow = Duration.seconds(9)
    static let noteWindow = Duration.seconds(60)
    /// The maximum memory of open folds, in bytes; beyond it the oldest end early.
    private static let maxWeight = 4_194_304

    private var folds: [AuditItem.Key: AuditFold] = [:]
    /// The keys of the folds in the order of their begin.
    private var (changes, notes) = (AuditFoldOrder(changeWindow), AuditFoldOrder(noteWindow))
    private(set) var budgets: AuditBudgets
    private var weight = 0
    /// The number of items merged into other lines.
    private(set) var folded = 0

    init(bytesPerDay: Int) { budgets = AuditBudgets(bytesPerDay: bytesPerDay) }

    /// Appends the line of an item, or adds it to an open fold.
    mutating func add(_ item: AuditItem, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        if item.isReload { return AuditLineEncoder.append(item, isCut: false, anchor, to: &bytes) }
        var key = item.key
        if extend(key, item, anchor, &bytes) { return }
        let hasBudget = budgets.hasBudget(key.origin, item.time)
        if item.isNote, !hasBudget, !key.isMixed {
            key = key.mixed
            if extend(key, item.mixed, anchor, &bytes) { return }
        }
        let start = bytes.count
        AuditLineEncoder.append(item, isCut: !hasBudget, anchor, to: &bytes)
        budgets.spend(bytes.count - start + AuditChain.linkBytes, key.origin, item.time)
        if item.isNote || !hasBudget { begin(AuditFold(item), key, anchor, &bytes) }
    }

    /// Adds what was written today before this run.
    mutating func add(earlier: AuditBudgets, _ now: ContinuousClock.Instant) { budgets.add(earlier: earlier, now) }

    /// Ends the folds whose time is over.
    /// - Parameter isLast: Ends all of them.
    mutating func end(_ now: ContinuousClock.Instant, isLast: Bool, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        budgets.forgetEnded(now)
        while let key = notes.popFirst(isLast ? nil : now, folds) { end(key, anchor, &bytes) }
        while let key = changes.popFirst(isLast ? nil : now, folds) { end(key, anchor, &bytes) }
    }

    /// When the next line is due; nil if there is none.
    var next: ContinuousClock.Instant? { [notes.next(folds), changes.next(folds)].compactMap(\.self).min() }

    // MARK: Folds

    /// Adds an item to an open fold of a key.
    private mutating func extend(
        _ key: AuditItem.Key, _ item: AuditItem, _ anchor: TimeAnchor, _ bytes: inout [UInt8]
    ) -> Bool {
        guard let open = folds[key] else { return false }
        if item.time - open.begun >= (item.isNote ? Self.noteWindow : Self.changeWindow) {
            end(key, anchor, &bytes)
            return false
        }
        weight -= open.weight
        folds[key]?.add(item)
        weight += folds[key]?.weight ?? 0
        endOldest(anchor, &bytes)
        return true
    }

    private mutating func begin(
        _ fold: AuditFold, _ key: AuditItem.Key, _ anchor: TimeAnchor, _ bytes: inout [UInt8]
    ) {
        folds[key] = fold
        weight += fold.weight
        if key.isNote { notes.append(key, fold.begun) } else { changes.append(key, fold.begun) }
        endOldest(anchor, &bytes)
    }

    /// Ends folds until the others fit their memory.
    private mutating func endOldest(_ anchor: TimeAnchor, _ bytes: inout [UInt8]) {
        while weight > Self.maxWeight {
            guard let key = changes.popFirst(nil, folds) ?? notes.popFirst(nil, folds) else { return }
            end(key, anchor, &bytes)
        }
    }

    private mutating func end(_ key: AuditItem.Key, _ anchor: TimeAnchor, _ bytes: inout [UInt8]) {
        guard let fold = folds.removeValue(forKey: key) else { return }
        weight -= fold.weight
        if fold.count == 1 { return }
        let start = bytes.count
        AuditLineEncoder.append(fold, anchor, to: &bytes)
        budgets.charge(bytes.count - start + AuditChain.linkBytes, key.origin, fold.last.time)
        folded += fold.count - 2
    }
}

/// The order in which folds of one length began.
private struct AuditFoldOrder {
    private let window: Duration
    private var keys: [(key: AuditItem.Key, begun: ContinuousClock.Instant)] = []
    private var head = 0

    init(_ window: Duration) { self.window = window }

    mutating func append(_ key: AuditItem.Key, _ begun: ContinuousClock.Instant) { keys.append((key, begun)) }

    /// Removes and returns the oldest fold.
    /// - Parameter now: Only if its time is over; nil for any.
    mutating func popFirst(_ now: ContinuousClock.Instant?, _ folds: [AuditItem.Key: AuditFold]) -> AuditItem.Key? {
        while head < keys.count {
            let (key, begun) = keys[head]
            let isOpen = folds[key]?.begun == begun
            if isOpen, let now, now - begun < window { return nil }
            head += 1
            if head >= 256, head * 2 >= keys.count { (keys, head) = (Array(keys[head...]), 0) }
            if isOpen { return key }
        }
        return nil
    }

    /// When the next line is due. A fold with a single item has had its line.
    func next(_ folds: [AuditItem.Key: AuditFold]) -> ContinuousClock.Instant? {
        keys[head...].first { key, begun in
            folds[key].map { $0.begun == begun && $0.count > 1 } ?? false
        }?.begun.advanced(by: window)
    }
}
