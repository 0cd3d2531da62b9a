// Removing a tweak or a whole registry: everything that follows it ends, nothing traps.

import Testing

@testable import Tweaks

struct RemovalTests {
    private let registry = TweakRegistry()

    @Test func aHandleOfARemovedTweakReadsTheDefault() throws {
        let number = Tweak("A", "B", "Number", 5, registry: registry)
        let text = Tweak("A", "B", "Text", "default", registry: registry)
        number.value = 7
        text.value = "other"
        #expect(registry.remove(number.path) && registry.remove(text.path))
        #expect(number.value == 5 && text.value == "default")
        #expect(number.erased.value == .int(5) && !number.isModified)
        #expect(number.erased.layers.map(\.layer) == [.default])
        #expect(registry.count == 0 && registry["A/B/Number"] == nil && registry.categories.isEmpty)
        #expect(!registry.remove(number.path))
    }

    @Test func settingARemovedTweakThrowsAndNothingTraps() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let figure = Tweak("A", "B", "Figure", 5, flags: .readOnly, registry: registry)
        _ = Tweak("A", "B", "D", 5, registry: registry)
        registry.remove(tweak.path)
        registry.remove(figure.path)
        for body: () throws -> Void in [
            { try tweak.set(6) }, { try tweak.erased.set(text: "6") }, { try tweak.erased.reset() },
            { try figure.set(6) },
            { try registry.commit(origin: .code) { $0.set(tweak, 6) } },
            { try registry.commit(origin: .code) { $0.set("A/B/C", .int(6)) } },
        ] {
            #expect(refusal(body)?.code == .unknownTweak)
        }
        tweak.value = 6
        #expect(tweak.value == 5 && tweak.reset() == nil && registry.revision == 0)
    }

    @Test func aTweakOfAnotherRegistryIsUnknownHere() {
        let stranger = Tweak("A", "B", "C", 5, registry: TweakRegistry())
        _ = Tweak("A", "B", "C", 5, registry: registry)
        let error = refusal { try registry.commit(origin: .code) { $0.set(stranger, 6) } }
        #expect(error?.code == .unknownTweak && stranger.value == 5)
    }

    @Test func observersEnd() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let calls = Recorder<Int>()
        let token = tweak.observe { calls.note($0.new) }
        tweak.value = 6
        registry.remove(tweak.path)
        let again = Tweak("A", "B", "C", 5, registry: registry)
        again.value = 7
        #expect(calls.all == [6])
        token.cancel()
    }

    @Test func observingARemovedTweakIsQuiet() async {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        registry.remove(tweak.path)
        let calls = Recorder<Int>()
        let token = tweak.observe { calls.note($0.new) }
        let again = Tweak("A", "B", "C", 5, registry: registry)
        again.value = 6
        #expect(calls.all.isEmpty)
        token.cancel()
        var values: [Int] = []
        for await value in tweak.values { values.append(value) }
        #expect(values == [5])
    }

    @Test func anOldObserverNeverTouchesTheTweakThatTookItsPlace() {
        let old = Tweak("A", "B", "C", 5, registry: registry)
        let oldToken = old.observe { _ in }
        registry.remove(old.path)
        let new = Tweak("A", "B", "D", 5, registry: registry)
        let calls = Recorder<Int>()
        let newToken = new.observe { calls.note($0.new) }
        oldToken.cancel()
        new.value = 6
        #expect(calls.all == [6])
        newToken.cancel()
    }

    @Test func whatComesAfterStartsAnew() throws {
        let old = Tweak("A", "B", "C", 5, registry: registry)
        old.value = 7
        registry.remove(old.path)
        let new = Tweak("A", "B", "C", "text", registry: registry)
        #expect(new.value == "text" && !new.isModified && registry.conflicts.isEmpty)
        new.value = "other"
        #expect(new.value == "other" && old.value == 5)
        #expect(refusal { try old.set(6) }?.code == .unknownTweak)
    }

    // MARK: Call sites

    @Test func aCallSiteRegistersAnew() {
        func read() -> Int { tweakValue("A", "B", "C", 5, in: 0...10, registry: registry) }
        func handle() -> Tweak<Int> { tweakInline("A", "B", "C", 5, in: 0...10, registry: registry) }
        for round in 1...3 {
            #expect(read() == 5)
            handle().value = round
            #expect(read() == round)
            registry.remove(handle().path)
            #expect(registry["A/B/C"] == nil)
        }
        #expect(read() == 5 && registry["A/B/C"] != nil)
        handle().value = 9
        registry.removeAll()
        #expect(read() == 5 && registry.count == 1 && registry.conflicts.isEmpty)
    }

    /// The removal may come between a call's registration and the note of it.
    @Test func aCallSiteThatWasJustRemovedIsNotRemembered() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let source = TweakSource(fileID: "M/File.swift", line: 1)
        let key = try #require(CallSiteKey("A", "B", "C", source, ObjectIdentifier(Int.self)))
        registry.remove(tweak.path)
        registry.remember(key, tweak)
        #expect(registry.callSites.cell(key) == nil)
    }

    // MARK: All of it

    @Test func removeAllEndsEverythingAndTheRegistryGoesOn() async throws {
        let tweaks = (0..<100).map { Tweak("A", "\($0 % 7)", "\($0)", 0, registry: registry) }
        var values = tweaks[0].values.makeAsyncIterator()
        #expect(await values.next() == 0)
        let calls = Recorder<Int>()
        let tokens = tweaks.map { tweak in tweak.observe { calls.note($0.new) } }
        registry.removeAll()
        #expect(await values.next() == nil)
        #expect(registry.count == 0 && tweaks.allSatisfy { refusal { [tweak = $0] in try tweak.set(1) } != nil })
        let again = Tweak("A", "0", "0", 3, registry: registry)
        again.value = 4
        #expect(again.value == 4 && calls.all.isEmpty && registry.count == 1)
        for token in tokens { token.cancel() }
    }

    @Test func manyTweaksComeAndGo() throws {
        for round in 0..<3 {
            for number in 0..<3_000 { _ = try registry.register("A", "\(number % 50)", "\(number)", round) }
            #expect(registry.count == 3_000)
            for number in stride(from: 0, to: 3_000, by: 2) {
                #expect(try registry.remove(TweakPath("A", "\(number % 50)", "\(number)")))
            }
            #expect(
                registry.count == 1_500 && registry["A/0/0"] == nil && registry["A/1/1"]?.value == .int(Int64(round)))
            registry.removeAll()
        }
        #expect(registry.conflicts.isEmpty)
    }
}
