// Tests temporary overrides together with stored ones: neither removes the other.

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
        // No alarm: the tests call expire() themselves.
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        size = try registry.register("Content", "Text", "Size", 60.0, in: 10...100)
    }

    private func attach(_ entries: StoredEntry...) { store.attach(to: registry, overrides: entries, revision: 7) }

    private func advance(by duration: Duration) {
        clock.advance(by: duration)
        registry.expire()
    }

    @Test func aStoredTemporaryOverrideThatHasExpiredDoesNotReplaceTheProgramsOne() throws {
        try size.set(80, for: .seconds(10))
        attach(
            StoredEntry(
                path: size.path, content: .value(.number(72)), origin: .user(1000), time: clock.now - .seconds(20),
                expires: clock.now - .seconds(10)))
        #expect(size.value == 80 && store.taken() == ["\(path) temporarily=80 by code over 60"])
    }

    @Test(arguments: [true, false])
    func aQuarantinedOverrideStaysStoredUntilAnOverrideIsSetOrKept(isForecast: Bool) throws {
        attach(try .override(path, .number(500)))
        if isForecast {
            var batch = TweakBatch()
            batch.set(size, 70, for: .seconds(10))
            let forecast = try registry.overrides(after: batch, origin: .code)
            #expect(forecast.changes.keys.map(\.isTemporary) == [true])
        }
        try size.set(70, for: .seconds(10))
        #expect(size.value == 70 && registry.pendingCounts.invalid == 1)
        #expect(store.taken().first?.hasPrefix("\(path) temporarily=70") == true)
        advance(by: .seconds(10))
        #expect(size.value == 60 && registry.pendingCounts.invalid == 1)
        #expect(store.taken() == ["\(path) temporarily", "\(path)=500 by uid 1000 over nothing"])
        try size.set(71, for: .seconds(10))
        try size.keep()
        #expect(registry.pendingCounts.invalid == 0)
    }

    @Test func theChangeBelowAnOverrideIsKnownWhileATemporaryOneIsAboveIt() throws {
        attach(try .override(path, .number(72), over: .number(50)))
        let node = size.erased.node
        #expect(registry.underlyingValueChange(node)?.old == .number(50))
        try size.set(80, for: .seconds(10))
        // It is stored, too, for the next start.
        #expect(store.taken().last == "\(path)=72 by uid 1000 over 50")
        advance(by: .seconds(10))
        #expect(size.value == 72 && registry.underlyingValueChange(node)?.old == .number(50))
        try size.set(73)
        #expect(registry.underlyingValueChange(node) == nil)
    }
}
