// Temporary overrides beside what files say: neither takes away what belongs to the other.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct StoredTemporaryTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let store = StubStore()
    private let size: Tweak<Double>
    private let path = "Content/Text/Size"

    init() throws {
        let clock = clock
        // Nobody rings: these tests say themselves when it is time.
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        size = try registry.register("Content", "Text", "Size", 60.0, in: 10...100)
    }

    private func attach(_ entries: StoredEntry...) {
        store.attach(to: registry, overrides: entries, revision: 7)
    }

    private func pass(_ duration: Duration) {
        clock.advance(by: duration)
        registry.expire()
    }

    @Test func whatHasRunOutInTheFileDoesNotCoverWhatTheProgramHasSet() throws {
        try size.set(80, for: .seconds(10))
        attach(
            StoredEntry(
                path: size.path, content: .value(.number(72)), origin: .user(1000), time: clock.now - .seconds(20),
                expires: clock.now - .seconds(10)))
        #expect(size.value == 80)
        #expect(store.taken() == ["\(path) for a while=80 by code over 60"])
    }

    /// The stored override does not fit today; it waits beneath, and stays in the file.
    @Test(arguments: [true, false]) func whatIsKeptAsideOutlivesATemporaryOverride(isForecast: Bool) throws {
        attach(try .override(path, .number(500)))
        if isForecast {
            var batch = TweakBatch()
            batch.set(size, 70, for: .seconds(10))
            let forecast = try registry.overrides(after: batch, origin: .code)
            #expect(forecast.changes.keys.map(\.isTemporary) == [true])
        }
        try size.set(70, for: .seconds(10))
        #expect(size.value == 70 && registry.heldCounts.unfit == 1)
        #expect(store.taken().first?.hasPrefix("\(path) for a while=70") == true)
        pass(.seconds(10))
        #expect(size.value == 60 && registry.heldCounts.unfit == 1)
        #expect(store.taken() == ["\(path) for a while", "\(path)=500 by uid 1000 over nothing"])
        // Whoever keeps or sets something means that.
        try size.set(71, for: .seconds(10))
        try size.keep()
        #expect(registry.heldCounts.unfit == 0)
    }

    @Test func theRemarkAboutWhatLiesBeneathStays() throws {
        attach(try .override(path, .number(72), over: .number(50)))
        let node = size.erased.node
        #expect(registry.changeBeneath(node)?.old == .number(50))
        try size.set(80, for: .seconds(10))
        // In the file, too: the next start would not know it otherwise.
        #expect(store.taken().last == "\(path)=72 by uid 1000 over 50")
        pass(.seconds(10))
        #expect(size.value == 72 && registry.changeBeneath(node)?.old == .number(50))
        try size.set(73)
        #expect(registry.changeBeneath(node) == nil)
    }
}
