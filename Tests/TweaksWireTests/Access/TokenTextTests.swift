// Tests the lines of token files: entries, options, and errors.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite struct TokenTextTests {
    private static let hex = String(repeating: "0a", count: 31)
    /// A digest of its own for each number.
    private static func digest(_ number: Int = 1) -> String {
        "sha256:" + TokenText.hexadecimal(SHA256.digest(String(number).utf8))
    }

    private func text(_ lines: String...) -> TokenText { TokenText(Array(lines.map { $0 + "\n" }.joined().utf8)) }

    @Test func aLineHasScopesExpiryAndRate() throws {
        let line = "alice \(Self.digest()) read \"write:Label/Font Size\" expires 2026-12-21T00:00:00Z rate 10"
        let text = text(line)
        #expect(text.problems.isEmpty)
        let entry = try #require(text.table["alice"])
        #expect(entry.scopes.map(\.description) == ["read", "write:Label/Font Size"])
        #expect(entry.digest == SHA256.digest("1".utf8) && entry.commitsPerSecond == 10)
        #expect(entry.expires == TimeText.parse("2026-12-21T00:00:00Z"))
        #expect(TokenText.line(entry) == line)
    }

    @Test func aByteOrderMarkIsSkippedAndUTF16IsNamed() throws {
        let line = Array("alice \(Self.digest()) read\n".utf8)
        #expect(TokenText([0xEF, 0xBB, 0xBF] + line).table["alice"] != nil)
        let wide = TokenText([0xFF, 0xFE] + line.flatMap { [$0, 0] as [UInt8] })
        #expect(wide.table.entries.isEmpty && wide.problems.count == 1)
        #expect(wide.problems.first?.error.message == "it is UTF-16; save it as UTF-8")
    }

    /// A line, and its canonical form.
    @Test(arguments: [
        ("a \(digest()) read", "a \(digest()) read"),
        ("\t a  \(digest().uppercasedDigits)  read\t", "a \(digest()) read"),
        ("a \(digest()) write:* # all of it", "a \(digest()) write"),
        ("'a' \"\(digest())\" 'read'", "a \(digest()) read"),
        ("a \(digest()) \"run:A/#1\"", "a \(digest()) \"run:A/#1\""),
        (
            "a \(digest()) read rate 1 expires 2030-01-01T00:00:00.5Z",
            "a \(digest()) read expires 2030-01-01T00:00:00.500Z rate 1"
        ),
        ("a \(digest()) \"write:expires\" 'read:it\\'", "a \(digest()) write:expires read:it\\"),
    ])
    func linesAreWrittenInCanonicalForm(_ written: String, _ canonical: String) throws {
        let entry = try #require(text(written).table["a"])
        #expect(TokenText.line(entry) == canonical)
        #expect(text(TokenText.line(entry)).table.entries == [entry])
    }

    @Test func blanksAndCommentsAreSkipped() {
        let text = TokenText(Array("\u{FEFF}# tokens\r\n\r\n  \t\n a \(Self.digest()) read # mine\r\n#x\n".utf8))
        #expect(text.table.entries.map(\.name) == ["a"] && text.problems.isEmpty)
    }

    @Test func aLineCanHoldAScramVerifier() throws {
        let entry = TokenEntry(name: "plain-auth", token: "twk_1", scopes: [.read])
        let line = TokenText.line(entry)
        #expect(line == "plain-auth scram-sha-256:\(Self.verifier("twk_1")) read")
        #expect(text(line).table.entries == [entry])
        #expect(text(line).plainOnly.isEmpty)
        #expect(text("a \(Self.digest()) read", line).plainOnly.map(\.name) == ["a"])
    }

    private static func verifier(_ token: String) -> String {
        let keys = ScramVerifier(token: token)
        return "\(keys.id):\(Base64.encode(keys.storedKey)):\(Base64.encode(keys.serverKey))"
    }

    @Test(arguments: [
        "", "x", "::", "\(verifier("a")):", "\(verifier("a").dropLast())", "\(verifier("a").dropFirst())",
        verifier("a").replacing("=", with: ""), verifier("a").replacing(":", with: ": "), "\(verifier("a"))=",
    ])
    func invalidVerifiersAreRefused(_ verifier: String) {
        let text = text("a scram-sha-256:\(verifier) read")
        #expect(text.table.entries.isEmpty && text.problems.map(\.error.code) == [.badValue])
        #expect(text.problems.first?.error.message.contains("tweakctl token new") == true)
    }

    @Test(arguments: [
        ("plain-auth off", true), ("  plain-auth\toff # since June", true), ("plain-auth offer", false),
        ("plain-auth on", false), ("plain-auth", false), ("plain-auth OFF", false), ("plain-auth off now", false),
        ("\"plain-auth\" off", false), ("Plain-Auth off", false), ("plain-auth \(digest()) read", false),
    ])
    func onlyTheBareLineIsTheDirective(_ line: String, _ isDirective: Bool) {
        let text = text("good \(Self.digest(2)) read", line)
        let isToken = line.hasSuffix("read")
        // What it means otherwise is not known, so it is off, too.
        #expect(text.table.refusesPlain == !isToken && text.table["good"] != nil)
        #expect(text.refusesPlainByMistake == (!isDirective && !isToken))
        #expect(text.problems.map(\.line) == (isDirective || isToken ? [] : [2]))
    }

    /// The others apply: a deleted token stays revoked.
    @Test(arguments: [
        "plain-auth of", "plainauth off", "plain_auth off", "plain-auth=off", "plain auth off", "off", "oops",
        "a \(digest()) read expires soon", "good \(digest()) write", "a \(digest(2)) read", "\u{1}", "\"plain-auth off",
        String(repeating: "x", count: 70_000),
    ])
    func aLineThatIsNotUnderstoodTurnsPlainOff(_ line: String) {
        let text = text("good \(Self.digest(2)) read", "other \(Self.digest(3)) read", line)
        #expect(text.table.refusesPlain && text.refusesPlainByMistake && text.table["other"] != nil)
        #expect(!text.problems.isEmpty)
    }

    @Test func aFileThatIsTooLongTurnsPlainOff() {
        let text = TokenText([UInt8](repeating: UInt8(ascii: "\n"), count: TokenText.sizeLimit + 1))
        #expect(text.table == TokenTable(refusesPlain: true) && text.refusesPlainByMistake)
    }

    @Test func anUnfinishedLineTurnsPlainOff() {
        #expect(TokenText(Array("a \(Self.digest()) read".utf8)).table.refusesPlain)
    }

    @Test func plainAuthOffNeedsNoLineBreak() {
        #expect(TokenText(Array("plain-auth off".utf8)).table.refusesPlain)
    }

    @Test(arguments: [
        ("\(digest())", TweakError.Code.badValue), ("a", .badValue), ("a read", .badValue),
        (".a \(digest()) read", .badValue),
        ("a/b \(digest()) read", .badValue), ("\"a b\" \(digest()) read", .badValue), ("é \(digest()) read", .badValue),
        ("\(String(repeating: "a", count: 65)) \(digest()) read", .badValue), ("a sha256: read", .badValue),
        ("a sha256:\(hex) read", .badValue), ("a sha256:\(hex)0g read", .badValue),
        ("a sha256:\(hex)0a0 read", .badValue),
        ("a sha512:\(hex)0a read", .badValue), ("a \(hex)0a read", .badValue), ("a SHA256:\(hex)0a read", .badValue),
        ("a \(digest())", .usage), ("a \(digest()) # read", .usage), ("a \(digest()) READ", .badValue),
        ("a \(digest()) read,write", .badValue), ("a \(digest()) reads", .badValue), ("a \(digest()) read:", .badValue),
        ("a \(digest()) read:a//b", .badValue), ("a \(digest()) expires 2030-01-01T00:00:00Z", .usage),
        ("a \(digest()) read \"expires\" 2030-01-01T00:00:00Z", .badValue), ("a \(digest()) read expires", .badValue),
        ("a \(digest()) read expires never", .badValue), ("a \(digest()) read expires 2030-01-01", .badValue),
        ("a \(digest()) read expires 2030-02-30T00:00:00Z", .badValue), ("a \(digest()) read rate", .badValue),
        ("a \(digest()) read rate 0", .badValue), ("a \(digest()) read rate -1", .badValue),
        ("a \(digest()) read rate 1.5", .badValue), ("a \(digest()) read rate 1000001", .badValue),
        ("a \(digest()) read rate 99999999999999999999", .badValue), ("a \(digest()) read rate 1 rate 2", .usage),
        ("a \(digest()) read rate 1 write", .usage), ("a \(digest()) read \"write", .badQuoting),
        ("a \(digest()) read\"write\"", .badQuoting), ("a \(digest()) \"\\ud800\"", .badQuoting),
        ("a \(digest()) read \u{1B}[2J", .badLine), ("a \(digest()) read \u{9B}", .badLine),
        ("a\0 \(digest()) read", .badLine),
        ("a \(digest()) read:\u{202E}x", .badValue), ("a \(digest()) \"read:\\u0007\"", .badValue),
        ("a \(digest()) " + String(repeating: "read ", count: 13_200), .tooLong),
    ])
    func invalidLinesAreRefused(_ line: String, _ code: TweakError.Code) {
        let text = text("good \(Self.digest(2)) read", line)
        #expect(text.table.entries.map(\.name) == ["good"])
        #expect(text.problems.map(\.line) == [2] && text.problems[0].error.code == code)
        // The message may contain the name, and never the digest.
        let message = text.problems.first?.error.message ?? ""
        #expect(Quoting.isSafe(message) && !message.contains(Self.hex) && !message.contains(Self.digest().suffix(60)))
    }

    @Test func aLineWithInvalidUTF8IsRefused() {
        let bytes = Array("a \(Self.digest()) read".utf8) + [0xFF, 0x0A] + Array("b \(Self.digest(2)) read\n".utf8)
        let text = TokenText(bytes)
        #expect(text.table.entries.map(\.name) == ["b"])
        #expect(text.problems.map(\.description) == ["1: bad-line \(ParsedLine.badLine.message)"])
    }

    /// A part of a line can have more rights than the whole.
    @Test func aLineWithoutALineBreakIsIgnored() {
        let whole = Array(
            "b \(Self.digest(2)) read\na \(Self.digest()) write:Label/Text expires 2026-12-21T00:00:00Z rate 1\n".utf8)
        for length in whole.indices { #expect(TokenText(Array(whole[..<length])).table["a"] == nil) }
        #expect(TokenText(whole).table.entries.count == 2)
    }

    @Test func linesWithTheSameNameAreRefused() {
        let text = text("a \(Self.digest(1)) read", "b \(Self.digest(2)) read", "a \(Self.digest(3)) admin")
        #expect(text.table.entries.map(\.name) == ["b"] && text.problems.map(\.line) == [1, 3])
        #expect(text.problems[0].error.code == .ambiguous && text.problems[0].error.message.contains("lines 1, 3"))
    }

    @Test func aLineWithTheNameOfAnInvalidOneIsRefused() {
        let text = text("a \(Self.digest(1)) admin", "a \(Self.digest(1)) read expires tomorrow")
        #expect(text.table.entries.isEmpty)
        #expect(text.problems.map(\.error.code) == [.ambiguous, .badValue])
    }

    @Test func linesWithTheSameTokenAreRefused() {
        let text = text("a \(Self.digest(1)) read", "b \(Self.digest(1)) admin", "c \(Self.digest(2)) read")
        #expect(text.table.entries.map(\.name) == ["c"])
        #expect(text.problems.map(\.line) == [1, 2])
    }

    @Test func theNumberOfTokensIsLimited() {
        let lines = (0...TokenText.countLimit).map { Array("t\($0) \(Self.digest($0)) read\n".utf8) }
        let most = TokenText(Array(lines.dropLast().joined()))
        #expect(most.table.entries.count == TokenText.countLimit && most.problems.isEmpty)
        let more = TokenText(Array(lines.joined()))
        #expect(more.table.entries.isEmpty && more.problems.map(\.error.code) == [.tooMany])
    }

    @Test func theSizeIsLimited() {
        let line = Array("a \(Self.digest()) read\n".utf8)
        let rest = TokenText.sizeLimit - line.count
        let comments = (0..<rest).map { $0 % 1_024 == 1_023 || $0 == rest - 1 ? UInt8(ascii: "\n") : UInt8(ascii: "#") }
        #expect(TokenText(comments + line).table.entries.count == 1)
        let more = TokenText([UInt8(ascii: "\n")] + comments + line)
        #expect(more.table.entries.isEmpty && more.problems.map(\.error.code) == [.tooLong])
    }

    @Test func randomBytesGiveOnlyValidEntries() {
        var generator = SeededGenerator(seed: 11)
        let words = [
            "a", "b", Self.digest(), Self.digest(2), "read", "write:A", "expires", "2030-01-01T00:00:00Z", "rate", "5",
            "#", "\"", "'", "\n", "\r\n", "\u{0}", "é", " ", "\\u", "ok",
        ]
        for _ in 0..<quantity(5_000) {
            let count = Int.random(in: 0...12, using: &generator)
            var bytes: [UInt8] = []
            for _ in 0..<count { bytes += Array((words.randomElement(using: &generator) ?? "").utf8) + [0x20] }
            if !bytes.isEmpty, Bool.random(using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let text = TokenText(bytes + [0x0A])
            for entry in text.table.entries {
                #expect(PresetName.isName(entry.name) && entry.digest.count == 32 && !entry.scopes.isEmpty)
            }
        }
    }

    @Test(arguments: [
        ("a \(digest()) read # mine", "# mine"), ("a \(digest()) \"read:# x\" #", "#"), ("a \(digest()) read", ""),
        ("a \(digest()) \"read:A # B\"", ""), ("# all", "# all"), ("a \(digest()) 'read:#' # it's mine", "# it's mine"),
    ])
    func commentsOfLinesAreFound(_ line: String, _ comment: String) {
        #expect(String(decoding: TokenText.comment(Array(line.utf8)), as: UTF8.self) == comment)
    }
}

extension String {
    fileprivate var uppercasedDigits: String { "sha256:" + dropFirst(7).uppercased() }
}
