// Parts of commits that go on from one another: what they say was set before and after.

import Testing

@testable import Tweaks

struct CommitPartTests {
    private let node: TweakNode = Tweak("A", "B", "C", 0, registry: TweakRegistry()).node
    private let temporary = SetValues.Temporary(.int(9), time: .now, expires: .now + .seconds(60))

    private enum Step: CaseIterable { case first, replaced, temporary, reset }

    private func part(_ step: Step, _ old: Int64, _ new: Int64) -> CommitPart {
        switch step {
        case .first, .replaced:
            CommitPart(
                overridden: node, wasSet: step == .replaced, old: .int(old), new: .int(new), isNews: true,
                isTemporary: false)
        case .temporary:
            CommitPart(
                .node(node), before: SetValues(override: .int(old)),
                after: SetValues(override: .int(old), temporary: temporary), old: .int(old), new: .int(9))
        case .reset:
            CommitPart(
                .node(node), before: SetValues(override: .int(old)), after: SetValues(), old: .int(old), new: .int(0))
        }
    }

    @Test func anOverrideTellsWhatWasSet() {
        let first = part(.first, 0, 1)
        #expect(first.before.override == nil && first.after.override == .int(1))
        let replaced = part(.replaced, 1, 2)
        #expect(replaced.before.override == .int(1) && replaced.after.override == .int(2))
    }

    @Test func aPartThatGoesOnBeginsAsTheFirstAndEndsAsTheLast() {
        for (one, other) in Step.allCases.flatMap({ one in Step.allCases.map { (one, $0) } }) {
            let (first, later) = (part(one, 1, 2), part(other, 2, 3))
            var both = first
            #expect(both.extend(to: later) == 0)
            #expect(both.old == first.old && both.new == later.new, "\(one) then \(other)")
            #expect(both.before.override == first.before.override, "\(one) then \(other)")
            #expect(both.before.temporary === first.before.temporary, "\(one) then \(other)")
            #expect(both.after.override == later.after.override, "\(one) then \(other)")
            #expect(both.after.temporary === later.after.temporary, "\(one) then \(other)")
        }
    }

    @Test func aRedactedPartStaysSo() {
        var part = self.part(.first, 1, 2).redacted
        part.extend(to: .int(3))
        #expect(part.old == nil && part.new == nil && part.after.override == nil)
    }
}
