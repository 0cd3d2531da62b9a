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
    private var changes = AuditFoldOrder(changeWindow)
    private var notes = AuditFoldOrder(noteWindow)
    var budgets: AuditBudgets
    private var weight = 0
    /// The number of items merged into other lines.
    private(set) var folded = 0

    init(bytesPerDay: Int) { budgets = AuditBudgets(bytesPerDay: bytesPerDay) }

    /// Appends the line of an item, or adds it to an open fold.
    mutating func add(_ item: AuditItem, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        if item.isReload { return AuditFormat.append(item, isCut: false, anchor, to: &bytes) }
        if extend(item, anchor, &bytes) { return }
        var key = item.key
        let hasBudget = budgets.hasBudget(key.origin, item.time)
        if item.isNote, !hasBudget, !key.isMixed {
            if extend(item.mixed, anchor, &bytes) { return }
            key = key.mixed
        }
        let start = bytes.count
        AuditFormat.append(item, isCut: !hasBudget, anchor, to: &bytes)
        budgets.spend(bytes.count - start + AuditChain.linkBytes, key.origin, item.time)
        if item.isNote || !hasBudget { begin(AuditFold(item), key, anchor, &bytes) }
    }

    /// Ends the folds whose time is over.
    /// - Parameter isLast: Ends all of them.
    mutating func end(_ now: Moment, isLast: Bool, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        budgets.forgetEnded(now)
        while let key = notes.popFirst(isLast ? nil : now, folds) { end(key, anchor, &bytes) }
        while let key = changes.popFirst(isLast ? nil : now, folds) { end(key, anchor, &bytes) }
    }

    /// When the next line is due; nil if there is none.
    var next: Moment? { [notes.next(folds), changes.next(folds)].compactMap(\.self).min() }

    // MARK: Folds

    /// Adds an item to an open fold of its key.
    private mutating func extend(_ item: AuditItem, _ anchor: TimeAnchor, _ bytes: inout [UInt8]) -> Bool {
        guard let open = folds[item.key] else { return false }
        if item.time - open.begun >= (item.isNote ? Self.noteWindow : Self.changeWindow) {
            end(item.key, anchor, &bytes)
            return false
        }
        weight -= open.weight
        folds[item.key]?.add(item)
        weight += folds[item.key]?.weight ?? 0
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
        AuditFormat.append(fold, anchor, to: &bytes)
        budgets.charge(bytes.count - start + AuditChain.linkBytes, key.origin, fold.last.time)
        folded += fold.count - 2
    }
}

/// The order in which folds of one length began.
private struct AuditFoldOrder {
    private let window: Duration
    private var keys: ArraySlice<(key: AuditItem.Key, begun: Moment)> = []

    init(_ window: Duration) { self.window = window }

    mutating func append(_ key: AuditItem.Key, _ begun: Moment) { keys.append((key, begun)) }

    /// Removes and returns the oldest fold.
    /// - Parameter now: Only if its time is over; nil for any.
    mutating func popFirst(_ now: Moment?, _ folds: [AuditItem.Key: AuditFold]) -> AuditItem.Key? {
        while let (key, begun) = keys.first {
            let isOpen = folds[key]?.begun == begun
            if isOpen, let now, now - begun < window { return nil }
            keys.removeFirst()
            if isOpen { return key }
        }
        return nil
    }

    /// When the next line is due. A fold with a single item has had its line.
    func next(_ folds: [AuditItem.Key: AuditFold]) -> Moment? {
        keys.first { key, begun in
            folds[key].map { $0.begun == begun && $0.count > 1 } ?? false
        }?.begun.advanced(by: window)
    }
}

/// Items with equal keys; the first has a line of its own, too.
struct AuditFold {
    let begun: Moment
    private(set) var last: (time: Moment, content: AuditItem.Content)
    private(set) var count: Int
    /// Whether items about different objects are among them.
    private(set) var isMixed: Bool
    /// The revision of the first change, and the value before it.
    let firstRevision: UInt64?
    let firstOld: [UInt8]?
    private(set) var values = AuditedValues()
    /// Whether the client has used several display names meanwhile.
    private(set) var hasSeveralNames = false

    init(_ item: AuditItem) {
        begun = item.time
        last = item.last
        count = item.count
        isMixed = item.key.isMixed
        guard case .change(let commit, let change, _) = item.content else {
            firstRevision = nil
            firstOld = nil
            return
        }
        firstRevision = commit.revision
        firstOld = change.old?.auditJSON(isCut: true)
        change.new.map { values.add($0) }
    }

    mutating func add(_ item: AuditItem) {
        hasSeveralNames = hasSeveralNames || item.content.by != last.content.by
        last = item.last
        count += item.count
        isMixed = isMixed || item.key.isMixed
        if case .change(_, let change, _) = item.content { change.new.map { values.add($0) } }
    }

    /// Its approximate size in memory, in bytes.
    var weight: Int { 512 + last.content.weight + values.weight }
}

/// The values that a tweak had during a fold.
struct AuditedValues {
    /// The maximum number of values that are listed, except for bools and choices.
    private static let limit = 8

    private(set) var lowest: TweakValue?
    private(set) var highest: TweakValue?
    private(set) var listed: [[UInt8]] = []
    /// The hashes of the listed values: long texts are not kept.
    private var hashes: Set<Int> = []
    /// The number of changes to values that are not listed.
    private(set) var others = 0

    var weight: Int { 256 * listed.count }

    mutating func add(_ value: TweakValue) {
        if value.isOrdered {
            if lowest.map({ value.isBelow($0) }) ?? true { lowest = value }
            if highest.map({ $0.isBelow(value) }) ?? true { highest = value }
        }
        let hash = value.hashValue
        if hashes.contains(hash) { return }
        // Bools and choices cannot have more values than their definition names.
        let isNamed = value.kind == .bool || value.kind == .choice
        if !isNamed, listed.count >= Self.limit { return others += 1 }
        hashes.insert(hash)
        listed.append(value.auditJSON(isCut: true))
    }
}

extension TweakValue {
    fileprivate var isOrdered: Bool {
        switch self {
        case .int, .unsigned, .number, .duration: true
        case .bool, .string, .color, .choice, .point, .curve, .list, .notSet: false
        }
    }

    fileprivate func isBelow(_ other: TweakValue) -> Bool {
        if case (.number(let value), .number(let other)) = (self, other) { return value < other }
        // Nil for a duration without an exact text, which no tweak has.
        return (whole ?? 0) < (other.whole ?? 0)
    }
}

/// The budgets of origins.
struct AuditBudgets {
    /// The maximum number of separate budgets; further origins share one.
    private static let maxOrigins = 1_024
    private static let day = Duration.seconds(86_400)

    private struct Budget {
        var bytes = AuditFolds.burst
        var at: Moment
        /// The bytes written since the day began.
        var today = 0
        var dayBegan: Moment

        mutating func refill(_ now: Moment) {
            if now > at {
                bytes = min(AuditFolds.burst, bytes + (now - at) / .seconds(60) * AuditFolds.bytesPerMinute)
            }
            at = max(at, now)
            if now - dayBegan >= AuditBudgets.day { (today, dayBegan) = (0, now) }
        }
    }

    private let bytesPerDay: Int
    private var budgets: [String: Budget] = [:]
    /// When full budgets were last removed.
    private var cleanedAt: Moment?
    /// The origins that have written as much as they may on one day, and until when. Those that must not be refused are
    /// among them.
    private(set) var exhausted: [String: Moment] = [:]

    init(bytesPerDay: Int) { self.bytesPerDay = bytesPerDay }

    /// Whether an origin may write a line of its own.
    mutating func hasBudget(_ origin: String, _ now: Moment) -> Bool {
        let name = budgetName(origin, now)
        budgets[name, default: Budget(at: now, dayBegan: now)].refill(now)
        return budgets[name].map { $0.bytes > 0 } ?? true
    }

    /// Counts a line that ``hasBudget(_:_:)`` was asked for.
    mutating func spend(_ bytes: Int, _ origin: String, _ now: Moment) {
        let name = budgets[origin] == nil ? "" : origin
        guard let budget = budgets[name] else { return }
        // Beyond the budget only folds are written, which are limited by themselves.
        if budget.bytes > 0 { budgets[name]?.bytes -= Double(bytes) }
        charge(bytes, origin, now)
    }

    /// Counts the bytes of the day alone.
    mutating func charge(_ bytes: Int, _ origin: String, _ now: Moment) {
        let name = budgets[origin] == nil ? "" : origin
        guard let budget = budgets[name] else { return }
        budgets[name]?.today += bytes
        if budget.today + bytes > bytesPerDay { exhausted[origin] = budget.dayBegan.advanced(by: Self.day) }
    }

    /// Adds what was written before, whose day goes on.
    mutating func add(earlier: AuditBudgets, _ now: Moment) {
        for (origin, var budget) in earlier.budgets {
            budget.refill(now)
            let name = budgets[origin] != nil || budgets.count < Self.maxOrigins ? origin : ""
            if let own = budgets[name] {
                budget.bytes -= AuditFolds.burst - own.bytes
                budget.today += own.today
            }
            budgets[name] = budget
            if budget.today > bytesPerDay { exhausted[origin] = budget.dayBegan.advanced(by: Self.day) }
        }
        for (origin, end) in earlier.exhausted where end > now { exhausted[origin] = end }
    }

    /// Removes origins whose day is over from the exhausted ones.
    mutating func forgetEnded(_ now: Moment) {
        if exhausted.contains(where: { $0.value <= now }) { exhausted = exhausted.filter { $0.value > now } }
    }

    /// The name of the budget: the origin's own, or the shared one.
    private mutating func budgetName(_ origin: String, _ now: Moment) -> String {
        if budgets[origin] != nil || budgets.count < Self.maxOrigins { return origin }
        if cleanedAt.map({ now - $0 >= .seconds(1) }) ?? true {
            cleanedAt = now
            for name in Array(budgets.keys) { budgets[name]?.refill(now) }
            // One that has spent a burst today is kept for the day's count.
            budgets = budgets.filter { $0.value.bytes < AuditFolds.burst || Double($0.value.today) > AuditFolds.burst }
        }
        return budgets.count < Self.maxOrigins ? origin : ""
    }
}
