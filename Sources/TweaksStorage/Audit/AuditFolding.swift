// Folds items of the audit into shared lines, so that a tireless client cannot fill a disk: what is alike within a minute,
// and whatever comes from an origin that has written more than its share.

import Tweaks

/// Makes lines of items. Each origin has a budget of bytes; of what sessions did beside committing, the first is written
/// at once, and what is alike within its minute is one line; so are changes of a tweak by an origin that has spent its
/// budget.
struct AuditFolding {
    /// So many bytes an origin may write at once …
    static let burst = 1_048_576.0
    /// … and so many each minute from then on: 170 MiB in a month.
    static let bytesPerMinute = 4_096.0
    /// So many origins have a budget of their own; more share one.
    private static let mostOrigins = 1_024
    /// What waits to be written takes no more memory than this.
    private static let mostWeight = 4_194_304
    private static let window = Duration.seconds(60)

    /// Items that share a line to come; none yet where the first was written at once.
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
        var bytes = AuditFolding.burst
        var at: ContinuousClock.Instant

        mutating func refill(_ now: ContinuousClock.Instant) {
            if now > at { bytes = min(burst, bytes + (now - at) / .seconds(60) * bytesPerMinute) }
            at = max(at, now)
        }
    }

    private var folds: [AuditItem.Key: Fold] = [:]
    private var budgets: [String: Budget] = [:]
    private var weight = 0
    /// When budgets were last forgotten that are full again.
    private var cleanedAt: ContinuousClock.Instant?
    /// Items that have shared the line of another one.
    private(set) var folded = 0
    /// Those for which there was no room, since the last call.
    private var leftOut = 0

    /// Appends the line of an item, or keeps it for a line that it shares.
    mutating func add(_ item: AuditItem, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        if item.isReload { return AuditLine.append(item, anchor, to: &bytes) }
        let key = item.key
        if let open = folds[key] {
            if open.count > 0 || item.time - open.begun < Self.window { return fold(item, into: key) }
            put(nil, at: key)
        }
        guard hasBudget(key.origin, item.time) else { return fold(item, into: key) }
        let start = bytes.count
        AuditLine.append(item, anchor, to: &bytes)
        spend(bytes.count - start, key.origin)
        // What is alike within the minute is folded; a change of a tweak only when there is too much of it.
        if item.isNote, weight < Self.mostWeight { put(Fold(begun: item.time), at: key) }
    }

    /// Appends the lines of which the minute has ended.
    /// - Parameter isLast: All of them, since there is no later.
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
            AuditLine.append(last, since: fold.first, count: fold.count, anchor, to: &bytes)
            spend(bytes.count - start, key.origin)
            folded += fold.count - 1
            put(nil, at: key)
        }
    }

    /// Forgets minutes that have ended and had one item alone, whose line is written.
    mutating func forgetEnded(_ now: ContinuousClock.Instant) {
        for (key, fold) in folds where fold.count == 0 && now - fold.begun >= Self.window { put(nil, at: key) }
    }

    /// When there is a line to be written; nil while there is none.
    var next: ContinuousClock.Instant? {
        folds.values.filter { $0.count > 0 }.map { $0.begun.advanced(by: Self.window) }.min()
    }

    /// How many items there was no room for since the last time.
    mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }

    private mutating func fold(_ item: AuditItem, into key: AuditItem.Key) {
        var fold = folds[key] ?? Fold(begun: item.time)
        // What goes on replaces what was there.
        guard weight < Self.mostWeight || fold.count > 1 && item.weight <= 1_024 else { return leftOut += 1 }
        fold.add(item)
        put(fold, at: key)
    }

    private mutating func put(_ fold: Fold?, at key: AuditItem.Key) {
        weight += (fold?.weight ?? 0) - (folds[key]?.weight ?? 0)
        folds[key] = fold
    }

    // MARK: Budgets

    private mutating func hasBudget(_ origin: String, _ now: ContinuousClock.Instant) -> Bool {
        let name = account(origin, now)
        budgets[name, default: Budget(at: now)].refill(now)
        return budgets[name].map { $0.bytes > 0 } ?? true
    }

    private mutating func spend(_ bytes: Int, _ origin: String) {
        budgets[budgets[origin] == nil ? "" : origin]?.bytes -= Double(bytes)
    }

    /// The name of a budget: an origin's own, or that of the one which all others share.
    private mutating func account(_ origin: String, _ now: ContinuousClock.Instant) -> String {
        if budgets[origin] != nil || budgets.count < Self.mostOrigins { return origin }
        if cleanedAt.map({ now - $0 >= .seconds(1) }) ?? true {
            cleanedAt = now
            for name in Array(budgets.keys) { budgets[name]?.refill(now) }
            budgets = budgets.filter { $0.value.bytes < Self.burst }
        }
        return budgets.count < Self.mostOrigins ? origin : ""
    }
}
