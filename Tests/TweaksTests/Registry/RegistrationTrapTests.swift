// Tests programming errors in static declarations: they end the program with the reason and the place.

import Testing
import TweaksTestSupport

@testable import Tweaks

// A child that ended and is not waited for yet makes the thread of Swift Testing that waits for all children spin.
@Suite(.prompt) struct RegistrationTrapTests {
    @Test func anotherTypeAtTheSamePathTraps() async {
        let constants = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = Tweak("A", "B", "C", 5, registry: registry, fileID: "M/First.swift", line: 1)
            _ = Tweak("A", "B", "C", 5.0, registry: registry, fileID: "M/Second.swift", line: 2)
        }
        expect(constants, prints: "conflict A/B/C is declared at M/Second.swift:2 as Double, but at M/First.swift:1")
        let callSites = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = tweakValue("A", "B", "C", 5, registry: registry)
            _ = tweakValue("A", "B", "C", "5", registry: registry)
        }
        expect(callSites, prints: "as String, but at TweaksTests/RegistrationTrapTests.swift:")
    }

    @Test func aValueAndAnActionAtTheSamePathTrap() async {
        let value = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            tweakAction("A", "B", "C", registry: registry) { _ in "" }
            _ = Tweak("A", "B", "C", 5, registry: registry)
        }
        expect(value, prints: "(kind action); give one of them another name")
        let action = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = Tweak("A", "B", "C", 5, registry: registry)
            tweakAction("A", "B", "C", registry: registry) { _ in "" }
        }
        expect(action, prints: "as an action, but at")
    }

    @Test func aDefaultOutsideItsRangeAndAnInvalidPathTrap() async {
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Tweak("A", "B", "C", 500, in: 0...100, registry: TweakRegistry(), fileID: "M/File.swift", line: 7)
        }
        expect(range, prints: "Tweaks: M/File.swift:7: out-of-range the default of A/B/C: 500 is outside 0...100")
        let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Tweak("A", "B/C", "D", 1, registry: TweakRegistry())
        }
        expect(path, prints: "the collection “B/C” is not allowed")
    }

    private func expect(_ result: ExitTest.Result?, prints text: String, at location: SourceLocation = #_sourceLocation)
    {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text), "\(output.prefix(500))", sourceLocation: location)
    }
}
