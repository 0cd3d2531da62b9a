// Runs inputs of the grammar that a seed determines, so that every test run tries some.

import Testing
import TweaksTestSupport
import tweaks_fuzz

extension CorpusTests {
    @Test(.tags(.quantity), arguments: 0..<12)
    func noInputOfTheGrammarEndsTheProcessOrBreaksARule(_ way: UInt8) {
        var random = SeededGenerator(seed: 32 + UInt64(way))
        for _ in 0..<quantity(100, few: 20) {
            let count = Int.random(in: 1..<300, using: &random)
            let bytes = [way] + (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(throws: Never.self, "\(bytes)") { try FuzzTarget.grammar.run(bytes) }
        }
    }
}
