// Tests the override values before and after, of parts of commits and of parts merged from two.

import Testing

@testable import Tweaks

struct CommitPartTests {
    private let node: TweakNode = Tweak("A", "B", "C", 0, registry: TweakRegistry()).node
    private let temporary = OverrideValues.Temporary(.int(9), time: .now, expires: .now + .seconds(60))

    private enum Step: CaseIterable { case first, replaced, temporary, reset }

    private func part(_ step: Step, _ old: Int64, _ new: Int64) -> CommitPart {
        switch step {
        case .first, .replaced:
            CommitPart(
                .node(node), .set(wasSet: step == .replaced), old: .int(old), new: .int(new), layer: .override,
                isReported: true)
        case .temporary:
            CommitPart(
                .node(node),
                .changed(
                    before: OverrideValues(override: .int(old)),
                    after: OverrideValues(override: .int(old), temporary: temporary)),
                old: .int(old), new: .int(9))
        case .reset:
            CommitPart(
                .node(node), .changed(before: OverrideValues(override: .int(old)), after: OverrideValues()),
                old: .int(old), new: .int(0))
        }
    }

    @Test func aPartHasTheOverridesBeforeAndAfter() {
        let first = part(.first, 0, 1)
        #expect(first.before.override == nil && first.after.override == .int(1))
        let replaced = part(.replaced, 1, 2)
        #expect(replaced.before.override == .int(1) && replaced.after.override == .int(2))
    }

    @Test func aMergedPartBeginsAsTheFirstAndEndsAsTheLast() {
        for (one, other) in Step.allCases.flatMap({ one in Step.allCases.map { (one, $0) } }) {
            let (first, later) = (part(one, 1, 2), part(other, 2, 3))
            var both = first
            #expect(both.extend(to: later) == 0)
            let (before, after) = (both.before, both.after)
            #expect(both.old == first.old && both.new == later.new, "\(one) then \(other)")
            #expect(before.override == first.before.override && after.override == later.after.override)
            #expect(before.temporary === first.before.temporary && after.temporary === later.after.temporary)
        }
    }

    @Test func aRedactedPartStaysRedacted() {
        var part = self.part(.first, 1, 2).redacted
        part.extend(to: .int(3))
        #expect(part.old == nil && part.new == nil && part.after.override == nil)
    }
}
