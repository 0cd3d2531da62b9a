// Provides what tests of observers share: recorders, sets from outside, a group of two numbers.

import Observation
import Testing
import TweaksTestSupport

@testable import Tweaks

/// Observes a tweak as long as it lives and records what a closure makes of each change.
final class ChangeRecorder<Element: Sendable>: Sendable {
    private let recorder: Recorder<Element>
    private let observation: TweakObservation

    init<Value>(_ tweak: Tweak<Value>, _ element: @escaping @Sendable (TweakChange<Value>) -> Element) {
        let recorder = Recorder<Element>()
        self.recorder = recorder
        observation = tweak.observe { recorder.note(element($0)) }
    }

    var all: [Element] { recorder.all }

    func cancel() { observation.cancel() }
}

/// A group of two numbers, which tests always set to the same value.
struct NumberPair: TweakTemplate {
    var a = 0
    var b = 0
    static let parts: [TweakPart<NumberPair>] = [TweakPart("a", \.a), TweakPart("b", \.b)]
}

extension Tweak {
    /// Reads the value as a view does; the closure runs when it has changed.
    @discardableResult
    func tracked(_ onChange: @escaping @Sendable () -> Void) -> Value {
        withObservationTracking({ observed }, onChange: onChange)
    }
}

extension Tweak<Int> {
    /// Sets the tweak as a session does: the registry's executor runs the observers.
    func setFromOutside(_ value: Int) throws {
        try registry.commit(node, .set(.int(Int64(value))), origin: .user(1000), delivery: .executor)
    }
}

extension Box<Int> {
    /// Runs the body; fails if it is called from within another such body.
    func unnested(_ body: () -> Void) {
        value += 1
        #expect(value == 1)
        body()
        value -= 1
    }
}
