// Tests the state machine of a session without a server.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

struct SessionLifecycleTests {
    private static let states: [TweakSession.State] = [
        .created, .opening, .open, .closed(.quit), .failed(.denied),
    ]
    private static let transitions: [SessionLifecycle.Transition] = [.identify, .open, .end(.kicked)]

    private func lifecycle(in state: TweakSession.State) -> SessionLifecycle {
        var lifecycle = SessionLifecycle()
        let transitions: [SessionLifecycle.Transition] =
            switch state {
            case .created: []
            case .opening: [.identify]
            case .open: [.identify, .open]
            case .closed(let reason): [.identify, .open, .end(reason)]
            case .failed(let reason): [.identify, .end(reason)]
            }
        for transition in transitions { _ = lifecycle.apply(transition) }
        #expect(lifecycle.state == state)
        return lifecycle
    }

    @Test(arguments: states, transitions)
    func onlyValidTransitionsApply(_ state: TweakSession.State, _ transition: SessionLifecycle.Transition) {
        let expected: TweakSession.State? =
            switch (state, transition) {
            case (.created, .identify): .opening
            case (.opening, .open): .open
            case (.created, .end), (.opening, .end): .failed(.kicked)
            case (.open, .end): .closed(.kicked)
            default: nil
            }
        var lifecycle = lifecycle(in: state)
        let isApplied = lifecycle.apply(transition)
        #expect(isApplied == (expected != nil))
        #expect(lifecycle.state == expected ?? state)
    }

    @Test(arguments: 1...20) func aSessionOpensAtMostOnceAndNothingFollowsItsEnd(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var lifecycle = SessionLifecycle()
        var (opened, ended) = (0, 0)
        for _ in 0..<200 {
            let isOver = lifecycle.state.reason != nil
            let transition = Self.transitions.randomElement(using: &generator) ?? .identify
            let isApplied = lifecycle.apply(transition)
            #expect(!(isOver && isApplied))
            if isApplied, transition == .open { opened += 1 }
            if isApplied, transition == .end(.kicked) { ended += 1 }
        }
        #expect(opened <= 1 && ended == 1)
    }
}
