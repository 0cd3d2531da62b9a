// Tests that adding or removing an observer costs the same however many there are, and that ended ones take no room.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

private final class Meter: Sendable {
    private let state = Atomic(0)
    var level: Int {
        get { state.load(ordering: .relaxed) }
        set { state.store(newValue, ordering: .relaxed) }
    }
}

struct ObserverCostTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 0, registry: registry) }

    /// If each searched the others, a hundred thousand would take minutes.
    @Test(arguments: [false, true])
    func manyObserversAreAddedAndRemovedQuickly(isReversed: Bool) {
        let tokens = (0..<quantity(100_000, few: 20_000)).map { _ in tweak.observe { _ in } }
        #expect(registry.keptObserverCount(of: tweak) == tokens.count)
        for token in isReversed ? tokens.reversed() : tokens { token.cancel() }
        #expect(registry.keptObserverCount(of: tweak) == 0)
    }

    @Test func removingObserversKeepsTheOrderOfTheOthers() {
        let seen = Recorder<Int>()
        let tokens = (0..<100).map { number in tweak.observe { _ in seen.note(number) } }
        for (number, token) in tokens.enumerated() where !number.isMultiple(of: 7) { token.cancel() }
        #expect(registry.keptObserverCount(of: tweak) <= 2 * 15)
        tweak.value = 1
        #expect(seen.all == Array(stride(from: 0, to: 100, by: 7)))
        for token in tokens { token.cancel() }
    }

    // MARK: Bindings of released objects

    @Test func bindingsOfReleasedObjectsEndWithTheNextChange() {
        bindReleasedObjects()
        tweak.value = 1
        #expect(registry.keptObserverCount(of: tweak) == 0)
    }

    @Test func bindingsOfReleasedObjectsEndWithTheNextBinding() {
        bindReleasedObjects()
        let meter = Meter()
        tweak.bind(to: meter, \.level)
        #expect(registry.keptObserverCount(of: tweak) <= 16)
        tweak.value = 1
        #expect(meter.level == 1)
    }

    @Test func atMostTwoEndedBindingsAndAFewAreKeptForEachLiveOne() {
        let living = (0..<100).map { _ in Meter() }
        for meter in living { tweak.bind(to: meter, \.level) }
        var most = 0
        for _ in 0..<10_000 {
            tweak.bind(to: Meter(), \.level)
            most = max(most, registry.keptObserverCount(of: tweak))
        }
        #expect(most - living.count <= 2 * living.count + 16)
        tweak.value = 7
        #expect(living.allSatisfy { $0.level == 7 })
    }

    private func bindReleasedObjects() {
        let meters = (0..<quantity(100_000, few: 20_000)).map { _ in Meter() }
        for meter in meters { tweak.bind(to: meter, \.level, when: .onChange) }
        #expect(registry.keptObserverCount(of: tweak) == meters.count)
    }

    // MARK: Folding

    /// Values that folding drops are never released under a lock.
    @Test func aFoldedValueMayReadTheRegistryInItsDeinitializer() throws {
        let reading = Tweak("A", "B", "Reader", Reading(number: 0), registry: registry)
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let token = reading.observe { _ in }
        Reading.registry.value = registry
        for number in 1...3 as ClosedRange<Int64> {
            try registry.commit(reading.node, .set(.int(number)), origin: .user(1), delivery: .executor)
        }
        executor.runAll()
        Reading.registry.value = nil
        token.cancel()
        #expect(reading.value.number == 3)
    }
}

/// A value that reads a registry when it is released.
private struct Reading: TweakConvertible {
    typealias TweakStorage = TweakLockedCell<Reading>
    final class Reader: Sendable {
        deinit { _ = Reading.registry.value?.revision }
    }

    static let registry = Box<TweakRegistry?>(nil)
    let number: Int64
    private let reader = Reader()

    init(number: Int64) { self.number = number }
    init?(_ value: TweakValue) {
        guard case .int(let number) = value else { return nil }
        self.number = number
    }
    var erased: TweakValue { .int(number) }
    static func == (one: Reading, other: Reading) -> Bool { one.number == other.number }
}
