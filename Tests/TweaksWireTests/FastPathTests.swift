// Tests that the fast path parses plain lines as the full parser does.

import Testing
import TweaksTestSupport
import TweaksWire

struct FastPathTests {
    /// The request of a line on the fast path; nil where the full parser is needed.
    private func fastRequest(_ text: String) -> Request? {
        Array(text.utf8).withUnsafeBufferPointer { line in
            let text = { (range: Range<Int>) in String(decoding: line[range], as: UTF8.self) }
            switch FastPath(line) {
            case .get(let path): return Request(.get, [text(path)])
            case .set(let path, let value): return Request(.set, [text(path)], change: .assign(text(value)))
            case nil: return nil
            }
        }
    }

    @Test(arguments: [
        "get A/B/C", "set A/B/C 5", "A/B/C = 5", "  set   A/B/C  5", "A/B/C = HTTP/1.1", "get http/x",
    ])
    func plainLinesTakeTheFastPath(_ line: String) { #expect(fastRequest(line) != nil) }

    @Test(arguments: [
        "", "get", "get A B", "set A/B/C toggle", "set A/B/C = 5", "get \"A/B/C\"", "set A/B/C #FF0000",
        "A/B/C += 5", "A = 5", "get A/B/C # why", "set A/B/C 5 for", "GET A/B/C", "get A/B/ü",
    ])
    func otherLinesTakeTheFullParser(_ line: String) { #expect(fastRequest(line) == nil) }

    @Test func bothParsersAgreeOnRandomLines() {
        let words = [
            "get", "set", "=", "+=", "A/B/C", "a", "5", "toggle", "HTTP/1.1", "http/2", "#", "#F00", "\"A/B/C\"", "'x'",
            "ok", " ", "\t", "ü", "\u{1}", "check", "for", "since", "x=1", "",
        ]
        var random = SeededGenerator(seed: 7)
        var parsedCount = 0
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...5, using: &random)
            let line = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            guard let request = fastRequest(line) else { continue }
            parsedCount += 1
            #expect(parsed(line) == .request(request), "\(line)")
        }
        #expect(parsedCount > 100)
    }
}
