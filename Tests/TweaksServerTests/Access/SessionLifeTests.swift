// The state machine of a session, the bucket of its commits, and what wrong tokens cost; without a server.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

struct SessionLifeTests {
    private static let states: [TweakSession.State] = [
        .created, .opening, .open, .closed(.quit), .failed(.denied),
    ]
    private static let steps: [SessionLife.Step] = [.look, .open, .end(.kicked)]

    private func life(in state: TweakSession.State) -> SessionLife {
        var life = SessionLife()
        let steps: [SessionLife.Step] =
            switch state {
            case .created: []
            case .opening: [.look]
            case .open: [.look, .open]
            case .closed(let reason): [.look, .open, .end(reason)]
            case .failed(let reason): [.look, .end(reason)]
            }
        for step in steps { _ = life.take(step) }
        #expect(life.state == state)
        return life
    }

    /// Every step from every state; all others do nothing.
    @Test(arguments: states, steps) func everyStep(_ state: TweakSession.State, _ step: SessionLife.Step) {
        let expected: TweakSession.State? =
            switch (state, step) {
            case (.created, .look): .opening
            case (.opening, .open): .open
            case (.created, .end), (.opening, .end): .failed(.kicked)
            case (.open, .end): .closed(.kicked)
            default: nil
            }
        var life = life(in: state)
        let isTaken = life.take(step)
        #expect(isTaken == (expected != nil))
        #expect(life.state == expected ?? state)
    }

    /// Whatever happens: it opens at most once, and nothing follows the end.
    @Test(arguments: 1...20) func anySteps(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var life = SessionLife()
        var (opened, ended) = (0, 0)
        for _ in 0..<200 {
            let isOver = life.state.reason != nil
            let step = Self.steps.randomElement(using: &generator) ?? .look
            let isTaken = life.take(step)
            #expect(!(isOver && isTaken))
            if isTaken, step == .open { opened += 1 }
            if isTaken, step == .end(.kicked) { ended += 1 }
        }
        #expect(opened <= 1 && ended == 1)
    }
}

struct CommitBudgetTests {
    private let start = Moment.now

    /// How many of several commits it lets pass.
    private func passed(_ count: Int, _ budget: inout CommitBudget, at time: Moment) -> Int {
        var passed = 0
        for _ in 0..<count where budget.take(time) { passed += 1 }
        return passed
    }

    @Test func aSecondsWorthAtOnceAndThenByTheRate() {
        var budget = CommitBudget(perSecond: 10)
        #expect(passed(12, &budget, at: start) == 10)
        #expect(passed(1, &budget, at: start + .milliseconds(99)) == 0)
        #expect(passed(1, &budget, at: start + .milliseconds(100)) == 1)
        #expect(passed(1, &budget, at: start + .milliseconds(150)) == 0)
        #expect(passed(20, &budget, at: start + .seconds(60)) == 10)
    }

    /// Neither a clock that stands nor another rate fills it.
    @Test func nothingFillsItButTime() {
        var budget = CommitBudget(perSecond: 4)
        #expect(passed(4, &budget, at: start) == 4)
        #expect(passed(1, &budget, at: start - .seconds(5)) == 0)
        budget.change(perSecond: 1_000)
        #expect(passed(1, &budget, at: start) == 0)
        budget.change(perSecond: 2)
        #expect(passed(10, &budget, at: start + .seconds(9)) == 2)
    }
}

struct FailureLedgerTests {
    private let start = Moment.now
    private let delays: ClosedRange<Duration> = .milliseconds(250) ... .seconds(4)

    /// What a failure costs, and what it costs after some time.
    private func cost(_ ledger: inout FailureLedger, _ peer: String, after time: Duration = .zero) -> Duration {
        ledger.note(peer, start + time)
    }

    @Test func doublesUpToTheMostForEachPeer() {
        var ledger = FailureLedger(delays: delays)
        var costs: [Duration] = []
        for _ in 0..<7 { costs.append(cost(&ledger, "uid 1")) }
        #expect(costs == [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000].map { .milliseconds($0) })
        #expect(cost(&ledger, "uid 2") == .milliseconds(250))
    }

    @Test func isForgottenInTime() {
        var ledger = FailureLedger(delays: delays)
        for _ in 0..<3 { _ = ledger.note("uid 1", start) }
        #expect(cost(&ledger, "uid 1", after: .seconds(20)) == .milliseconds(500))
        #expect(cost(&ledger, "uid 1", after: .seconds(3_600)) == .milliseconds(250))
    }

    /// Names that are made up push out each other, and what is forgotten first is what does not matter.
    @Test func doesNotGrowWithoutEnd() {
        var ledger = FailureLedger(delays: delays)
        for number in 0..<1_500 { _ = ledger.note("uid \(number)", start + .milliseconds(number)) }
        #expect(cost(&ledger, "uid 1499", after: .seconds(5)) == .milliseconds(500))
        #expect(cost(&ledger, "uid 0", after: .seconds(5)) == .milliseconds(250))
    }
}
