// Programmer's errors in static declarations: they stop the program, and say why and where.

import Testing

@testable import Tweaks

@Suite("Registration traps")
struct RegistrationTrapTests {
    @Test func anotherType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = Tweak("A", "B", "C", 5, registry: registry, fileID: "M/First.swift", line: 1)
            _ = Tweak("A", "B", "C", 5.0, registry: registry, fileID: "M/Second.swift", line: 2)
        }
        expect(result, says: "conflict A/B/C is declared at M/Second.swift:2 as Double, but at M/First.swift:1")
    }

    @Test func anotherTypeAtACallSite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = tweakValue("A", "B", "C", 5, registry: registry)
            _ = tweakValue("A", "B", "C", "5", registry: registry)
        }
        expect(result, says: "as String, but at TweaksTests/RegistrationTrapTests.swift:")
    }

    @Test func aValueWhereAnActionIs() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            tweakAction("A", "B", "C", registry: registry) { _ in "" }
            _ = Tweak("A", "B", "C", 5, registry: registry)
        }
        expect(result, says: "(kind action); give one of them another name")
    }

    @Test func anActionWhereAValueIs() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let registry = TweakRegistry()
            _ = Tweak("A", "B", "C", 5, registry: registry)
            tweakAction("A", "B", "C", registry: registry) { _ in "" }
        }
        expect(result, says: "as an action, but at")
    }

    @Test func aDefaultOutsideItsRange() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Tweak("A", "B", "C", 500, in: 0...100, registry: TweakRegistry(), fileID: "M/File.swift", line: 7)
        }
        expect(result, says: "Tweaks: M/File.swift:7: out-of-range the default of A/B/C: 500 is outside 0...100")
    }

    @Test func aPathThatIsNone() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Tweak("A", "B/C", "D", 1, registry: TweakRegistry())
        }
        expect(result, says: "the collection “B/C” is not allowed")
    }

    private func expect(
        _ result: ExitTest.Result?, says text: String, at location: SourceLocation = #_sourceLocation
    ) {
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains(text), "\(said.prefix(500))", sourceLocation: location)
    }
}
