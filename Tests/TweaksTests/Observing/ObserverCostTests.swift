// Many observers: adding and removing one costs the same, and what is gone leaves no heap behind.

import Synchronization
import Testing

@testable import Tweaks

/// Something that is bound.
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

    /// If each looked through the others, this would take minutes.
    @Test(arguments: [false, true])
    func aHundredThousandComeAndGo(isReversed: Bool) {
        let tokens = (0..<100_000).map { _ in tweak.observe { _ in } }
        #expect(registry.keptObserverCount(of: tweak) == tokens.count)
        for token in isReversed ? tokens.reversed() : tokens { token.cancel() }
        #expect(registry.keptObserverCount(of: tweak) == 0)
    }

    @Test func theOthersKeepTheirOrder() {
        let seen = Recorder<Int>()
        let tokens = (0..<100).map { number in tweak.observe { _ in seen.note(number) } }
        for (number, token) in tokens.enumerated() where !number.isMultiple(of: 7) { token.cancel() }
        #expect(registry.keptObserverCount(of: tweak) <= 2 * 15)
        tweak.value = 1
        #expect(seen.all == Array(stride(from: 0, to: 100, by: 7)))
        for token in tokens { token.cancel() }
    }

    // MARK: Bindings whose objects are gone

    @Test func theyEndTogetherWithTheNextChange() {
        bindManyAndLetGo()
        #expect(registry.keptObserverCount(of: tweak) == 100_000)
        tweak.value = 1
        #expect(registry.keptObserverCount(of: tweak) == 0)
    }

    @Test func theyEndWithTheNextBinding() {
        bindManyAndLetGo()
        let meter = Meter()
        tweak.bind(to: meter, \.level)
        #expect(registry.keptObserverCount(of: tweak) <= 16)
        tweak.value = 1
        #expect(meter.level == 1)
    }

    /// At most two of them, and a few, for each that lives.
    @Test func theyAreNeverMany() {
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

    private func bindManyAndLetGo() {
        let meters = (0..<100_000).map { _ in Meter() }
        for meter in meters { tweak.bind(to: meter, \.level, when: .onChange) }
        #expect(registry.keptObserverCount(of: tweak) == meters.count)
    }

    // MARK: Folding

    /// What is folded away is let go of, but never under a lock: it may be anything.
    @Test func aFoldedValueMayReadTheRegistryWhenItGoes() throws {
        let node = Tweak("A", "B", "Reader", Reading(number: 0), registry: registry)
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let token = node.observe { _ in }
        for number in 1...3 {
            Reading.registry.value = registry
            try registry.commit(node.node, .set(.int(Int64(number))), origin: .user(1), delivery: .carrier)
        }
        executor.runAll()
        Reading.registry.value = nil
        token.cancel()
        #expect(node.value.number == 3)
    }
}

/// A value that looks at a registry when it goes.
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
