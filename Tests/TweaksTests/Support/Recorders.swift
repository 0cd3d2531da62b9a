// Provides an executor that runs on request, and checks of values and errors.

import Synchronization
import Testing

@testable import Tweaks

/// An executor whose observers wait until the test runs them.
final class HandExecutor: ObserverExecutor {
    private let observers = Mutex<[Subscriber]>([])

    func schedule(_ observer: Subscriber) {
        observers.withLock { list in if !list.contains(where: { $0 === observer }) { list.append(observer) } }
    }

    var waiting: Int { observers.withLock { $0.count } }

    func runAll() {
        while let next = observers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next.turn(on: self) }
    }
}

/// The error that `body` throws, or nil.
func refusal(_ body: () throws -> Void) -> TweakError? {
    do {
        try body()
        return nil
    } catch {
        return error as? TweakError
    }
}

/// Checks that a text is refused with a code and that nothing changes.
func expectRefused(
    _ text: String, by tweak: AnyTweak, _ code: TweakError.Code, at location: SourceLocation = #_sourceLocation
) {
    let (value, revision) = (tweak.value, tweak.registry.revision)
    let error = refusal { try tweak.set(text: text) }
    #expect(error?.code == code, "\(error?.description ?? "was accepted")", sourceLocation: location)
    #expect(error?.path == tweak.path, sourceLocation: location)
    #expect(tweak.value == value && tweak.registry.revision == revision, sourceLocation: location)
}

/// Checks that a value is refused with a code.
func expectRefused(
    _ value: TweakValue, by tweak: AnyTweak, _ code: TweakError.Code, at location: SourceLocation = #_sourceLocation
) {
    #expect(refusal { try tweak.set(value) }?.code == code, sourceLocation: location)
}

/// Checks that the printed text of a value is parsed as that value, directly and through the tweak.
func expectRoundTrip(_ value: TweakValue, by tweak: AnyTweak, at location: SourceLocation = #_sourceLocation) throws {
    let text = try unquoted(value.text)
    #expect(TweakValue(parsing: text, as: value.kind) == value, "\(value)", sourceLocation: location)
    try tweak.set(text: text)
    #expect(tweak.value == value, "\(value)", sourceLocation: location)
}

extension TweakRegistry {
    /// The number of observers and bindings of a tweak.
    func observerCount<Value>(of tweak: Tweak<Value>) -> Int {
        state.withLock { $0.observers[tweak.node.slot].all.count { !$0.isEnded } }
    }

    /// The same, with those that have ended or whose object is gone but that still use memory.
    func keptObserverCount<Value>(of tweak: Tweak<Value>) -> Int {
        state.withLock { $0.observers[tweak.node.slot].all.count }
    }

    /// The number of followers of the whole registry.
    var followerCount: Int { state.withLock { $0.stream.followerCount } }
}
