// Tests that arguments become a line with the same tokens.

import Testing
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct CommandTextTests {
    @Test(arguments: [
        (["get", "*"], "get *"), (["get", "Content/Text"], "get Content/Text"),
        (["Content/Text/Size", "=", "72"], "Content/Text/Size = 72"),
        (["Content/Text/Size", "+=", "-0.5"], "Content/Text/Size += -0.5"),
        (["set", "A/B/C", "two words"], "set A/B/C \"two words\""),
        (["A/B/Font Name", "=", "Avenir Next"], "\"A/B/Font Name\" = \"Avenir Next\""),
        (["set", "A/B/C", ""], "set A/B/C \"\""), (["set", "A/B/C", "#FF0000"], "set A/B/C #FF0000"),
        (["set", "A/B/C", "#"], "set A/B/C \"#\""), (["set", "A/B/C", "it's"], "set A/B/C \"it's\""),
        (["set", "A/B/C", "say \"hi\""], "set A/B/C \"say \\\"hi\\\"\""),
        (["set", "A/B/C", "a\nb\tc\\d"], "set A/B/C \"a\\nb\\tc\\\\d\""),
        (["set", "A/B/C", "back\\slash"], "set A/B/C back\\slash"),
        (["set", "A/B/C", "\u{202E}evil"], "set A/B/C \"\\u202Eevil\""),
        (["set", "A/B/C", "5", "for", "10m"], "set A/B/C 5 for 10m"),
        (["set", "A/B/C", "toggle"], "set A/B/C toggle"), (["watch", "A", "since", "4"], "watch A since 4"),
        (["get", "HTTP/1.1"], "get \"HTTP/1.1\""), (["get", "http/1.1", "x"], "get http/1.1 x"),
        (["ok"], "\"ok\""), (["#x", "y"], "\"#x\" y"), (["set", "ä/ö/ü", "é"], "set ä/ö/ü é"),
        // A single argument may be a whole line.
        (["get *"], "get *"), (["A/B/C = 72"], "A/B/C = 72"), (["\"A/B/C D\" = 'x y'"], "\"A/B/C D\" = 'x y'"),
        (["A/B/C D"], "get \"A/B/C D\""), (["A/B"], "get A/B"), (["A/"], "get A/"), (["A/B/C"], "get A/B/C"),
        (["**/Size"], "get **/Size"), (["A/B/C=5"], "A/B/C=5"), (["set A/B/C \"open"], "\"set A/B/C \\\"open\""),
    ])
    func argumentsBecomeALine(_ words: [String], _ line: String) {
        #expect(CommandText.line(words) == line && CommandText.isAnswered(line))
    }

    @Test(arguments: 0..<200) func anyArgumentsAreRestoredByTheTokenizer(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let letters: [Character] = [
            "a", "Z", "/", " ", "\"", "'", "\\", "#", "=", "*", "\n", "\t", "\u{1}", "\u{85}", "\u{202E}", "é", "👍",
            "o", "k",
        ]
        let words = (0..<Int.random(in: 2...5, using: &random)).map { _ in
            let count = Int.random(in: 0...6, using: &random)
            return String((0..<count).compactMap { _ in letters.randomElement(using: &random) })
        }
        var line = CommandText.line(words)
        #expect(CommandText.isAnswered(line))
        let tokens = try line.withUTF8 { try Tokenizer.tokens($0) }
        #expect(tokens.map { Array($0.text.utf8) } == words.map { Array($0.utf8) }, "\(words)")
    }

    /// An argument is one value, also where its words mean something in a line.
    @Test(arguments: [
        "toggle", "for", "since", "=", "+=", "#", "true", "ok", "null", "two words", "for 5s", "[a, b]", "[", "", "'",
    ])
    func aValueIsOneArgument(_ word: String) throws {
        for words in [["set", "A/B/C", word], ["A/B/C", "=", word], ["set", "A/B/C", word, "for", "5s"]] {
            var line = CommandText.line(words)
            let parsed = line.withUTF8 { ParsedLine($0) }
            guard case .request(let request) = parsed else {
                Issue.record("\(line): \(parsed)")
                continue
            }
            let isWord = word == "toggle" && words[0] == "set"
            #expect(request.change == (isWord ? .toggleOrWord : .assign(word)), "\(line)")
            #expect(request.lifetime == (words.count == 5 ? "5s" : nil), "\(line)")
        }
    }

    @Test(arguments: ["", "  ", "# x", "ok rev 3", "\t# y"]) func theseLinesAreNotAnswered(_ line: String) {
        #expect(!CommandText.isAnswered(line))
    }
}
