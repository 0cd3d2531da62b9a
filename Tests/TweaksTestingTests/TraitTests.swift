// Tests traits that set tweaks of the shared registry for a test or a suite.

import Testing
import TweaksTesting

private enum Look {
    static let size = Tweak("Testing", "Text", "Size", 60.0, in: 10...100)
    static let title = Tweak("Testing", "Text", "Title", "Tweaks")
    static let retry = TweakGroup("Testing", "Retry", TweakRetryPolicy(attempts: 5))
}

@Suite(.tweak(Look.size, 30)) struct ParallelTraitTests {
    @Test(arguments: 0..<20) func aSuiteDoesNotSeeTheValuesOfAParallelOne(_ number: Int) async {
        for _ in 0..<20 {
            #expect(Look.size.value == 30 && Look.title.value == "Tweaks")
            await Task.yield()
        }
    }
}

@Suite(.tweak(Look.size, 80)) struct TraitTests {
    @Test func theValueOfASuiteAppliesToItsTests() { #expect(Look.size.value == 80) }

    @Test(.tweak(Look.size, 90), .tweak(Look.title, "other")) func theValuesOfATestReplaceThoseOfItsSuite() {
        #expect(Look.size.value == 90 && Look.title.value == "other")
    }

    @Test(.tweak(Look.retry, TweakRetryPolicy(attempts: 2))) func aTraitSetsAGroup() {
        #expect(Look.retry.value.attempts == 2 && Look.size.value == 80)
    }

    @Test(.tweaks { $0.reset(matching: "Testing") }) func aTraitResetsTweaks() { #expect(Look.size.value == 60) }

    @Test(.tweak(Look.title, "other"), arguments: 0..<20) func eachCaseHasItsOwnValues(_ number: Int) async throws {
        #expect(Look.size.value == 80 && Look.title.value == "other")
        Look.size.value = Double(10 + number)
        await Task.yield()
        #expect(Look.size.value == Double(10 + number))
        try await withTweak(Look.size, 50) { #expect(Look.size.value == 50) }
        #expect(Look.size.value == Double(10 + number))
    }

    @Suite struct Inner {
        @Test func theValueOfASuiteAppliesToNestedSuites() { #expect(Look.size.value == 80) }
    }
}
