// Merges repeated audit items into shared lines within a budget per origin, so that a busy client cannot fill the disk.

import Tweaks

/// Formats items as lines. Each origin has a budget of bytes. The first of several equal session events is written at
/// once, and the rest of its minute becomes one line; changes of a tweak are merged only when their origin has spent
/// its budget.
struct AuditCoalescer {
    /// The bytes that an origin may write at once …
    static let burst = 1_048_576.0
    /// … and per minute after that: 170 MiB in a month.
    static let bytesPerMinute = 4_096.0
    /// The maximum number of separate budgets; further origins share one.
    private static let maxOrigins = 1_024
    /// The maximum memory of pending items, in bytes.
    private static let maxWeight = 4_194_304
    private static let window = Duration.seconds(60)

    /// Items that share a pending line; none if the first was written at once.
    private struct Fold {
        var begun: ContinuousClock.Instant
        var first: AuditItem?
        var last: AuditItem?
        var count = 0

        var weight: Int { 512 + (first?.weight ?? 0) + (last?.weight ?? 0) }

        mutating func add(_ item: AuditItem) {
            if first == nil { first = item }
            (last, count) = (item, count + 1)
        }
    }

    private struct Budget {
        var bytes = AuditCoalescer.burst
        var at: ContinuousClock.Instant

        mutating func refill(_ now: ContinuousClock.Instant) {
            if now > at { bytes = min(burst, bytes + (now - at) / .seconds(60) * bytesPerMinute) }
            at = max(at, now)
        }
    }

    private var folds: [AuditItem.Key: Fold] = [:]
    private var budgets: [String: Budget] = [:]
    private var weight = 0
    /// When full budgets were last removed.
    private var cleanedAt: ContinuousClock.Instant?
    /// The number of items merged into other lines.
    private(set) var folded = 0
    /// The number of items dropped since the last call.
    private var leftOut = 0

    /// Appends the line of an item, or keeps it for a shared line.
    mutating func add(_ item: AuditItem, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        if item.isReload { return AuditLineEncoder.append(item, anchor, to: &bytes) }
        let key = item.key
        if let open = folds[key] {
            if open.count > 0 || item.time - open.begun < Self.window { return fold(item, into: key) }
            setFold(nil, at: key)
        }
        guard hasBudget(key.origin, item.time) else { return fold(item, into: key) }
        let start = bytes.count
        AuditLineEncoder.append(item, anchor, to: &bytes)
        spend(bytes.count - start, key.origin)
        // Equal notes within a minute are merged; changes of a tweak only above the budget.
        if item.isNote, weight < Self.maxWeight { setFold(Fold(begun: item.time), at: key) }
    }

    /// Appends the shared lines whose minute has ended.
    /// - Parameter isLast: Appends all of them.
    mutating func flush(_ now: ContinuousClock.Instant, isLast: Bool, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        forgetEnded(now)
        let due = folds.filter { isLast || now - $0.value.begun >= Self.window }
            .sorted { $0.value.begun < $1.value.begun }
        for (key, fold) in due {
            guard let last = fold.last else { continue }
            if !isLast, !hasBudget(key.origin, now) {
                folds[key]?.begun = now
                continue
            }
            let start = bytes.count
            AuditLineEncoder.append(last, since: fold.first, count: fold.count, anchor, to: &bytes)
            spend(bytes.count - start, key.origin)
            folded += fold.count - 1
            setFold(nil, at: key)
        }
    }

    /// Removes windows that ended with a single item, whose line is written.
    mutating func forgetEnded(_ now: ContinuousClock.Instant) {
        for (key, fold) in folds where fold.count == 0 && now - fold.begun >= Self.window { setFold(nil, at: key) }
    }

    /// When a shared line is due; nil if there is none.
    var next: ContinuousClock.Instant? {
        folds.values.filter { $0.count > 0 }.map { $0.begun.advanced(by: Self.window) }.min()
    }

    /// Returns and clears the number of dropped items.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }

    private mutating func fold(_ item: AuditItem, into key: AuditItem.Key) {
        var fold = folds[key] ?? Fold(begun: item.time)
        // An existing fold only replaces its last item, which needs little more memory.
        guard weight < Self.maxWeight || fold.count > 1 && item.weight <= 1_024 else { return leftOut += 1 }
        fold.add(item)
        setFold(fold, at: key)
    }

    private mutating func setFold(_ fold: Fold?, at key: AuditItem.Key) {
        weight += (fold?.weight ?? 0) - (folds[key]?.weight ?? 0)
        folds[key] = fold
    }

    // MARK: Budgets

    private mutating func hasBudget(_ origin: String, _ now: ContinuousClock.Instant) -> Bool {
        let name = budgetName(origin, now)
        budgets[name, default: Budget(at: now)].refill(now)
        return budgets[name].map { $0.bytes > 0 } ?? true
    }

    private mutating func spend(_ bytes: Int, _ origin: String) {
        budgets[budgets[origin] == nil ? "" : origin]?.bytes -= Double(bytes)
    }

    /// The name of the budget: the origin's own, or the shared one.
    private mutating func budgetName(_ origin: String, _ now: ContinuousClock.Instant) -> String {
        if budgets[origin] != nil || budgets.count < Self.maxOrigins { return origin }
        if cleanedAt.map({ now - $0 >= .seconds(1) }) ?? true {
            cleanedAt = now
            for name in Array(budgets.keys) { budgets[name]?.refill(now) }
            budgets = budgets.filter { $0.value.bytes < Self.burst }
        }
        return budgets.count < Self.maxOrigins ? origin : ""
    }
}
