// What tests look at afterwards: lists that any thread may write, and errors by their code.

import Synchronization
import Testing

@testable import Tweaks

/// What happened, in order.
final class Recorder<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])

    func note(_ element: Element) { list.withLock { $0.append(element) } }

    var all: [Element] { list.withLock { $0 } }
}

/// A place that is filled later, or emptied while the test goes on.
final class Box<Content: Sendable>: Sendable {
    private let content: Mutex<Content>

    init(_ content: Content) { self.content = Mutex(content) }

    var value: Content {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// An executor whose observers wait until the test gives them their turns.
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

/// The error that `body` throws; nil when it throws none.
func refusal(_ body: () throws -> Void) -> TweakError? {
    do {
        try body()
        return nil
    } catch {
        return error as? TweakError
    }
}

/// Checks that a text is refused with a code, and that the refusal changes nothing.
func expectRefused(
    _ text: String, by tweak: AnyTweak, _ code: TweakError.Code, at location: SourceLocation = #_sourceLocation
) {
    let (value, revision) = (tweak.value, tweak.registry.revision)
    let error = refusal { try tweak.set(text: text) }
    #expect(error?.code == code, "\(error?.description ?? "was accepted")", sourceLocation: location)
    #expect(error?.path == tweak.path, sourceLocation: location)
    #expect(tweak.value == value && tweak.registry.revision == revision, sourceLocation: location)
}

/// Checks that what is printed for a value reads back as that value, bare and through the tweak.
func expectRoundTrip(_ value: TweakValue, by tweak: AnyTweak, at location: SourceLocation = #_sourceLocation) throws {
    let text = try unquoted(value.text)
    #expect(TweakValue(parsing: text, as: value.kind) == value, "\(value)", sourceLocation: location)
    try tweak.set(text: text)
    #expect(tweak.value == value, "\(value)", sourceLocation: location)
}

extension TweakRegistry {
    /// How many observers and bindings follow a tweak.
    func observerCount<Value>(of tweak: Tweak<Value>) -> Int {
        state.withLock { $0.observers[tweak.node.slot].all.count { !$0.isEnded } }
    }

    /// The same with those that have ended, or whose object is gone, and still take up room.
    func keptObserverCount<Value>(of tweak: Tweak<Value>) -> Int {
        state.withLock { $0.observers[tweak.node.slot].all.count }
    }

    /// How many readers follow the whole registry.
    var followerCount: Int { state.withLock { $0.stream.followerCount } }
}
