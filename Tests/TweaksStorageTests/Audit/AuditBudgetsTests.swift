// Tests that what earlier runs wrote today counts beside what this run has written meanwhile.

import Testing
import Tweaks

@testable import TweaksStorage

struct AuditBudgetsTests {
    private let now = Moment.now

    /// The budgets after one origin has written some bytes.
    private func budgets(_ bytes: Int, before: Duration = .zero, perDay: Int = 100) -> AuditBudgets {
        var budgets = AuditBudgets(bytesPerDay: perDay)
        _ = budgets.hasBudget("a", now - before)
        budgets.spend(bytes, "a", now - before)
        return budgets
    }

    /// (bytes of earlier runs, how long before, the bytes of this run, whether the day is full)
    @Test(
        arguments: [
            (60, .seconds(3_600), 60, true), (60, .seconds(3_600), 30, false), (120, .seconds(3_600), 0, true),
            (60, .seconds(90_000), 60, false), (120, .seconds(90_000), 60, false),
        ] as [(Int, Duration, Int, Bool)])
    func theBytesOfADayAreAdded(_ earlier: Int, _ before: Duration, _ own: Int, _ isFull: Bool) {
        var budgets = budgets(own)
        #expect(budgets.exhausted.isEmpty)
        budgets.add(earlier: self.budgets(earlier, before: before), now)
        #expect(budgets.exhausted == (isFull ? ["a": now - before + .seconds(86_400)] : [:]))
    }

    /// What one may write at once is shared, too, and comes back with time.
    @Test(arguments: [(600_000, 600_000, false), (600_000, 300_000, true), (1_100_000, 0, false)])
    func theBurstIsShared(_ earlier: Int, _ own: Int, _ hasBudget: Bool) {
        var budgets = budgets(own, perDay: .max)
        budgets.add(earlier: self.budgets(earlier, perDay: .max), now)
        let answers = [Duration.zero, .seconds(86_000)].map { budgets.hasBudget("a", now + $0) }
        #expect(answers == [hasBudget, true])
    }

    /// Those of other origins stay as they are.
    @Test func originsAreSeparate() {
        var budgets = budgets(60)
        var other = AuditBudgets(bytesPerDay: 100)
        _ = other.hasBudget("b", now)
        other.spend(120, "b", now)
        budgets.add(earlier: other, now)
        #expect(Array(budgets.exhausted.keys) == ["b"])
    }
}
