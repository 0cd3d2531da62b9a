// Tests removing tweaks: handles read the default, observers end, and nothing traps.

import Testing

@testable import Tweaks

struct RemovalTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 5, registry: registry) }

    @Test func aHandleOfARemovedTweakReadsTheDefault() throws {
        let text = Tweak("A", "B", "Text", "default", registry: registry)
        tweak.value = 7
        text.value = "other"
        #expect(registry.remove(tweak.path) && registry.remove(text.path) && !registry.remove(tweak.path))
        #expect(tweak.value == 5 && text.value == "default" && tweak.erased.value == .int(5) && !tweak.isModified)
        #expect(tweak.erased.layers.map(\.layer) == [.default])
        #expect(registry.count == 0 && registry["A/B/C"] == nil && registry.categories.isEmpty)
    }

    @Test func settingARemovedOrForeignTweakThrowsAndNothingTraps() throws {
        let foreign = Tweak("A", "B", "D", 5, registry: TweakRegistry())
        let metric = Tweak("A", "B", "Figure", 5, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "D", 5, registry: registry)
        registry.remove(tweak.path)
        registry.remove(metric.path)
        for body: () throws -> Void in [
            { try tweak.set(6) }, { try tweak.erased.set(text: "6") }, { try tweak.erased.reset() },
            { try metric.set(6) }, { try registry.commit(origin: .code) { $0.set(tweak, 6) } },
            { try registry.commit(origin: .code) { $0.set("A/B/C", .int(6)) } },
            { try registry.commit(origin: .code) { $0.set(foreign, 6) } },
        ] {
            #expect(refusal(body)?.code == .unknownTweak)
        }
        tweak.value = 6
        #expect(tweak.value == 5 && foreign.value == 5 && tweak.reset() == nil && registry.revision == 0)
    }

    @Test func observersOfARemovedTweakEndAndNewOnesReceiveNothing() async {
        let early = ChangeRecorder(tweak) { $0.new }
        tweak.value = 6
        registry.remove(tweak.path)
        let late = ChangeRecorder(tweak) { $0.new }
        let again = Tweak("A", "B", "C", 5, registry: registry)
        again.value = 7
        #expect(early.all == [6] && late.all.isEmpty)
        var values: [Int] = []
        for await value in tweak.values { values.append(value) }
        #expect(values == [5])
    }

    @Test func cancelingAnOldObserverDoesNotAffectTheTweakThatTookTheSlot() {
        let old = ChangeRecorder(tweak) { $0.new }
        registry.remove(tweak.path)
        let new = Tweak("A", "B", "D", 5, registry: registry)
        let calls = ChangeRecorder(new) { $0.new }
        old.cancel()
        new.value = 6
        #expect(calls.all == [6])
    }

    @Test func aTweakDeclaredAtARemovedPathIsIndependent() throws {
        tweak.value = 7
        registry.remove(tweak.path)
        let new = Tweak("A", "B", "C", "text", registry: registry)
        #expect(new.value == "text" && !new.isModified && registry.conflicts.isEmpty)
        new.value = "other"
        #expect(new.value == "other" && tweak.value == 5 && refusal { try tweak.set(6) }?.code == .unknownTweak)
    }

    @Test func aCallSiteRegistersItsTweakAgain() {
        func read() -> Int { tweakValue("A", "B", "Site", 5, in: 0...10, registry: registry) }
        func handle() -> Tweak<Int> { tweakInline("A", "B", "Site", 5, in: 0...10, registry: registry) }
        for round in 1...3 {
            #expect(read() == 5)
            handle().value = round
            #expect(read() == round)
            registry.remove(handle().path)
            #expect(registry["A/B/Site"] == nil)
        }
        #expect(read() == 5 && registry["A/B/Site"] != nil)
        handle().value = 9
        registry.removeAll()
        #expect(read() == 5 && registry.count == 1 && registry.conflicts.isEmpty)
    }

    /// The removal may happen between a call's registration and its entry in the table of call sites.
    @Test func aCallSiteOfATweakThatWasJustRemovedIsNotRemembered() throws {
        let source = TweakSource(fileID: "M/File.swift", line: 1)
        let key = try #require(CallSiteKey("A", "B", "C", source, ObjectIdentifier(Int.self)))
        registry.remove(tweak.path)
        registry.remember(key, tweak)
        #expect(registry.callSites.cell(key) == nil)
    }

    @Test func removeAllEndsAllObserversAndTheRegistryStaysUsable() async throws {
        let tweaks = (0..<100).map { Tweak("A", "\($0 % 7)", "\($0)", 0, registry: registry) }
        var values = tweaks[0].values.makeAsyncIterator()
        #expect(await values.next() == 0)
        let calls = tweaks.map { ChangeRecorder($0) { $0.new } }
        registry.removeAll()
        #expect(await values.next() == nil)
        #expect(registry.count == 0 && tweaks.allSatisfy { refusal { [tweak = $0] in try tweak.set(1) } != nil })
        let again = Tweak("A", "0", "0", 3, registry: registry)
        again.value = 4
        #expect(again.value == 4 && calls.allSatisfy(\.all.isEmpty) && registry.count == 1)
    }

    @Test func thousandsOfTweaksCanBeRegisteredAndRemovedRepeatedly() throws {
        for round in 0..<3 {
            registry.removeAll()
            for number in 0..<3_000 { _ = try registry.register("A", "\(number % 50)", "\(number)", round) }
            #expect(registry.count == 3_000)
            for number in stride(from: 0, to: 3_000, by: 2) {
                #expect(try registry.remove(TweakPath("A", "\(number % 50)", "\(number)")))
            }
            let odd = registry["A/1/1"]?.value
            #expect(registry.count == 1_500 && registry["A/0/0"] == nil && odd == .int(Int64(round)))
        }
        #expect(registry.conflicts.isEmpty)
    }
}
