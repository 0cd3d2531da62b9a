// Tests tokens: blanks, quotes, escapes, lists, comments, and their errors.

import Testing
import TweaksWire

@Suite struct TokenizerTests {
    /// The tokens of a line; quoted ones in quotation marks.
    private func tokens(_ bytes: [UInt8]) throws(TokenizingError) -> [String] {
        let result = bytes.withUnsafeBufferPointer { line in
            Result<[Token], TokenizingError> { () throws(TokenizingError) in try Tokenizer.tokens(line) }
        }
        return try result.get().map { $0.isQuoted ? "“\($0.text)”" : $0.text }
    }

    private func failure(_ bytes: [UInt8]) -> TokenizingError? {
        do throws(TokenizingError) {
            _ = try tokens(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("", []), (" \t ", []), ("a", ["a"]), ("  a\t\tb  ", ["a", "b"]), ("a=b", ["a=b"]), ("ä€😀 b", ["ä€😀", "b"]),
        ("a\u{A0}b", ["a\u{A0}b"]), (#"a\nb"#, [#"a\nb"#]),
        // Quotes
        (#""""#, ["“”"]), ("''", ["“”"]), (#""a b""#, ["“a b”"]), ("'a b'", ["“a b”"]), (#""it's""#, ["“it's”"]),
        (#"'say "x"'"#, [#"“say "x"”"#]), (#""a" 'b' c"#, ["“a”", "“b”", "c"]), (##""#""##, ["“#”"]),
        ("\"a\tb\"", ["“a\tb”"]),
        // Escapes
        (#""\"\\\/\b\f\n\r\t""#, ["“\"\\/\u{8}\u{C}\n\r\t”"]), (#""\u0041\u00e9\u20AC""#, ["“Aé€”"]),
        (#""\ud83d\ude00""#, ["“😀”"]), (#""\uD83D\uDE00x""#, ["“😀x”"]),
        (#""\u0000\u001b\u2028""#, ["“\0\u{1B}\u{2028}”"]), (#"'\n\u0041\'"#, [#"“\n\u0041\”"#]),
        (#""\u0061\u0301""#, ["“a\u{301}”"]), (#""\uFFFF\uFFFE""#, ["“\u{FFFF}\u{FFFE}”"]),
        (#""\uDBFF\uDFFF\uD800\uDC00""#, ["“\u{10FFFF}\u{10000}”"]),
        // Lists
        ("a = [1, 2,3]", ["a", "=", "[1, 2,3]"]), ("[]", ["[]"]), ("[ ] b", ["[ ]", "b"]),
        (#"[a, "b ] # c"] d"#, [#"[a, "b ] # c"]"#, "d"]), (#"["\"]"]"#, [#"["\"]"]"#]), ("[1,2] # c", ["[1,2]"]),
        ("['a ] b', c] d", ["['a ] b', c]", "d"]),
        // A bracket alone begins a word.
        ("[a b", ["[a", "b"]), ("[a]b c", ["[a]b", "c"]), ("a[1] b", ["a[1]", "b"]),
        // Comments
        ("#", []), ("# a b", []), ("  # \"a", []), ("#a", []), ("#a \"", []), ("a # b", ["a"]), ("a #", ["a"]),
        ("a #b", ["a", "#b"]), ("a = #FF0000 # red", ["a", "=", "#FF0000"]), ("a#b", ["a#b"]), ("a # \"open", ["a"]),
        (#""a" # b"#, ["“a”"]), (##"a "#" b"##, ["a", "“#”", "b"]), ("a ## b", ["a", "##", "b"]),
    ])
    func linesAreSplitIntoTokens(_ line: String, _ expected: [String]) throws {
        // A quote and a combining mark would be one character.
        let found = try tokens(Array(line.utf8))
        #expect(found.map { Array($0.unicodeScalars) } == expected.map { Array($0.unicodeScalars) }, "\(found)")
    }

    @Test(arguments: [
        // Unterminated
        #"""#, #"""a"#, "'", "'a", #"a "b"#, #""a\""#, #""a\"#, #""\"#, #""a'"#, #"'a""#,
        // Misplaced quotes
        #"a"b"#, #"a""#, "a'b", "it's", #""a"b"#, #""a""b""#, "'a'b", #"'a'"b""#, ##""a"#b"##, #"a="b""#,
        // Invalid escapes
        #""\a""#, #""\x41""#, #""\0""#, #""\'""#, #""\ ""#, #""\u""#, #""\u004""#, #""\u004g""#, #""\u+041""#,
        #""\u 041""#, #""\U0041""#,
        // Surrogates alone
        #""\ud83d""#, #""\ude00""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\u0041""#, #""\ud83d\ud83d""#,
        #""\ude00\ud83d""#, #""\ud83d\u""#, #""\ud83d\"#,
    ])
    func quotingErrorsAreFound(_ line: String) { #expect(failure(Array(line.utf8)) == .badQuoting) }

    @Test(arguments: Array(0...8) + Array(11...31) + [127] as [UInt8]) func controlCharactersAreRefused(_ byte: UInt8) {
        for line in [[byte], [97, byte], [34, byte, 34], [39, byte, 39], [35, 32, byte], [byte, 34]] {
            #expect(failure(line) == .badLine, "\(line)")
        }
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC3, 0x28], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xE2, 0x82],
            // C1 controls are valid UTF-8, and some terminals obey them.
            [0xC2, 0x80], [0xC2, 0x9B], [0xC2, 0x9F],
        ] as [[UInt8]])
    func invalidUTF8AndC1ControlsAreRefused(_ bytes: [UInt8]) {
        for line in [bytes, [97, 32] + bytes, [34] + bytes + [34], [35] + bytes] {
            #expect(failure(line) == .badLine, "\(line)")
        }
    }

    @Test func invalidTextIsReportedBeforeQuotingErrors() {
        #expect(failure([34, 1]) == .badLine && failure([34, 0xFF]) == .badLine)
    }

    @Test func charactersNextToControlsAreAdmitted() throws {
        #expect(try tokens([0xC2, 0xA0, 32, 0x7E]) == ["\u{A0}", "~"])
    }

    @Test(
        arguments: [
            ("", [], ""), ("set ", ["set"], ""), ("set Con", ["set"], "Con"), ("\t get  x", ["get"], "x"),
            ("set \"a b", ["set"], "“a b”"), ("set \"a b ", ["set"], "“a b ”"), ("set \"a b\"", ["set"], "“a b”"),
            ("set 'a b' c", ["set", "“a b”"], "c"), ("set 'a\\", ["set"], "“a\\”"),
            ("set \"a \\\"b\" ", ["set", "“a \"b”"], ""), ("set \"a\\", ["set"], "“a”"),
            ("set \"\\u00e4\\n\" \"\\u00e4", ["set", "“ä\n”"], "“ä”"), ("a = #", ["a", "="], "#"),
        ] as [(String, [String], String)])
    func unfinishedLinesHaveALastToken(_ text: String, _ before: [String], _ last: String) throws {
        let line = try #require(Array(text.utf8).withUnsafeBufferPointer { Tokenizer.unfinished($0) })
        #expect(line.before.map { $0.isQuoted ? "“\($0.text)”" : $0.text } == before)
        #expect((line.last.isQuoted ? "“\(line.last.text)”" : line.last.text) == last)
    }

    @Test(
        arguments: ["# a", "a # b", "a\u{1}b", "a\"b", "\"a\"b", "\"\\x"])
    func commentsAndInvalidLinesHaveNoUnfinishedToken(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { Tokenizer.unfinished($0) } == nil)
    }
}
