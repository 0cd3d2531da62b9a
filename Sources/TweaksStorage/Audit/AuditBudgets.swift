// Counts the audit bytes of each origin: what it may write at once, and on one day.

import Tweaks

/// The budgets of origins.
struct AuditBudgets {
    /// The maximum number of separate budgets; further origins share one.
    private static let maxOrigins = 1_024
    private static let day = Duration.seconds(86_400)

    private struct Budget {
        var bytes = AuditFolds.burst
        var at: ContinuousClock.Instant
        /// The bytes written since the day began.
        var today = 0
        var dayBegan: ContinuousClock.Instant

        mutating func refill(_ now: ContinuousClock.Instant) {
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
    private var cleanedAt: ContinuousClock.Instant?
    /// The origins that have written as much as they may on one day, and until when. Those that must not be refused are
    /// among them.
    private(set) var exhausted: [String: ContinuousClock.Instant] = [:]

    init(bytesPerDay: Int) { self.bytesPerDay = bytesPerDay }

    /// Whether an origin may write a line of its own.
    mutating func hasBudget(_ origin: String, _ now: ContinuousClock.Instant) -> Bool {
        let name = budgetName(origin, now)
        budgets[name, default: Budget(at: now, dayBegan: now)].refill(now)
        return budgets[name].map { $0.bytes > 0 } ?? true
    }

    /// Counts a line that ``hasBudget(_:_:)`` was asked for.
    mutating func spend(_ bytes: Int, _ origin: String, _ now: ContinuousClock.Instant) {
        let name = budgets[origin] == nil ? "" : origin
        guard let budget = budgets[name] else { return }
        // Beyond the budget only folds are written, which are limited by themselves.
        if budget.bytes > 0 { budgets[name]?.bytes -= Double(bytes) }
        charge(bytes, origin, now)
    }

    /// Counts the bytes of the day alone.
    mutating func charge(_ bytes: Int, _ origin: String, _ now: ContinuousClock.Instant) {
        let name = budgets[origin] == nil ? "" : origin
        guard let budget = budgets[name] else { return }
        budgets[name]?.today += bytes
        if budget.today + bytes > bytesPerDay { exhausted[origin] = budget.dayBegan.advanced(by: Self.day) }
    }

    /// Adds what was written before, whose day goes on.
    mutating func add(earlier: AuditBudgets, _ now: ContinuousClock.Instant) {
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
    mutating func forgetEnded(_ now: ContinuousClock.Instant) {
        if exhausted.contains(where: { $0.value <= now }) { exhausted = exhausted.filter { $0.value > now } }
    }

    /// The name of the budget: the origin's own, or the shared one.
    private mutating func budgetName(_ origin: String, _ now: ContinuousClock.Instant) -> String {
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
