// The short way for plain lines, held against the ordinary one: it may only recognise what both read alike.

import Testing
import TweaksTestSupport
import TweaksWire

struct HotLineTests {
    /// The request that the short way takes a line for; nil when it leaves it to the ordinary one.
    private func hot(_ bytes: [UInt8]) -> Request? {
        bytes.withUnsafeBufferPointer { line in
            let text = { (range: Range<Int>) in String(decoding: line[range], as: UTF8.self) }
            switch HotLine(line) {
            case .get(let path): return Request(.get, [text(path)])
            case .set(let path, let value): return Request(.set, [text(path)], change: .assign(text(value)))
            case nil: return nil
            }
        }
    }

    private func ordinary(_ bytes: [UInt8]) -> ParsedLine { bytes.withUnsafeBufferPointer { ParsedLine($0) } }

    @Test(arguments: ["get A/B/C", "set A/B/C 5", "A/B/C = 5", "  set   A/B/C  5"])
    func takesPlainLines(_ line: String) { #expect(hot(Array(line.utf8)) != nil) }

    @Test(arguments: [
        "", "get", "get A B", "set A/B/C toggle", "set A/B/C = 5", "A/B/C = HTTP/1.1", "get http/x", "get \"A/B/C\"",
        "set A/B/C #FF0000", "A/B/C += 5", "A = 5", "get A/B/C # why", "set A/B/C 5 for", "GET A/B/C", "get A/B/ü",
    ])
    func leavesTheRest(_ line: String) { #expect(hot(Array(line.utf8)) == nil) }

    @Test func neverReadsALineInAnotherWay() {
        let words = [
            "get", "set", "=", "+=", "A/B/C", "a", "5", "toggle", "HTTP/1.1", "http/2", "#", "#F00", "\"A/B/C\"", "'x'",
            "ok",
            " ", "\t", "ü", "\u{1}", "check", "for", "since", "x=1", "",
        ]
        var random = SeededGenerator(seed: 7)
        var taken = 0
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...5, using: &random)
            let line = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            guard let request = hot(Array(line.utf8)) else { continue }
            taken += 1
            #expect(ordinary(Array(line.utf8)) == .request(request), "\(line)")
        }
        #expect(taken > 100)
    }
}
