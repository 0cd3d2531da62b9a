// The lines of a token file: what they give, and everything that gives nothing.

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

    // MARK: What counts

    @Test func aWholeLine() throws {
        let line = "alice \(Self.digest()) read \"write:Label/Font Size\" expires 2026-12-21T00:00:00Z rate 10"
        let text = text(line)
        #expect(text.problems.isEmpty)
        let entry = try #require(text.table["alice"])
        #expect(entry.scopes.map(\.description) == ["read", "write:Label/Font Size"])
        #expect(entry.digest == SHA256.digest("1".utf8))
        #expect(entry.expires == TimeText.parse("2026-12-21T00:00:00Z"))
        #expect(entry.commitsPerSecond == 10)
        #expect(TokenText.line(entry) == line)
    }

    /// written, as it is written again
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
    func readsBack(_ written: String, _ canonical: String) throws {
        let entry = try #require(text(written).table["a"])
        #expect(TokenText.line(entry) == canonical)
        #expect(text(TokenText.line(entry)).table.entries == [entry])
    }

    @Test func blanksAndComments() {
        let text = TokenText(Array("\u{FEFF}# tokens\r\n\r\n  \t\n a \(Self.digest()) read # mine\r\n#x\n".utf8))
        #expect(text.table.entries.map(\.name) == ["a"])
        #expect(text.problems.isEmpty)
    }

    /// What SCRAM keeps, as token new writes it.
    @Test func aLineForScram() throws {
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
    func isNoVerifier(_ verifier: String) {
        let text = text("a scram-sha-256:\(verifier) read")
        #expect(text.table.entries.isEmpty && text.problems.map(\.error.code) == [.badValue])
        #expect(text.problems.first?.error.message.contains("tweakctl token new") == true)
    }

    // MARK: plain-auth off

    @Test(arguments: [
        ("plain-auth off", true), ("  plain-auth\toff # since June", true), ("plain-auth offer", false),
        ("plain-auth on", false), ("plain-auth", false), ("plain-auth OFF", false), ("plain-auth off now", false),
        ("\"plain-auth\" off", false), ("Plain-Auth off", false), ("plain-auth \(digest()) read", false),
    ])
    func plainAuth(_ line: String, _ isOff: Bool) {
        let text = text("good \(Self.digest(2)) read", line)
        #expect(text.table.refusesPlain == isOff)
        #expect(text.table["good"] != nil)
        let isToken = line.hasSuffix("read")
        #expect(text.problems.map(\.line) == (isOff || isToken ? [] : [2]))
    }

    /// Half a line that takes something away takes it away.
    @Test func plainAuthWithoutAnEnd() {
        #expect(TokenText(Array("plain-auth off".utf8)).table.refusesPlain)
    }

    // MARK: What gives nothing

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
    func isNone(_ line: String, _ code: TweakError.Code) {
        let text = text("good \(Self.digest(2)) read", line)
        #expect(text.table.entries.map(\.name) == ["good"])
        #expect(text.problems.map(\.line) == [2])
        #expect(text.problems.first?.error.code == code)
        // Who it is may be said; what could be of use to others not.
        let message = text.problems.first?.error.message ?? ""
        #expect(Quoting.isSafe(message) && !message.contains(Self.hex) && !message.contains(Self.digest().suffix(60)))
    }

    @Test func invalidBytes() {
        let bytes = Array("a \(Self.digest()) read".utf8) + [0xFF, 0x0A] + Array("b \(Self.digest(2)) read\n".utf8)
        let text = TokenText(bytes)
        #expect(text.table.entries.map(\.name) == ["b"])
        #expect(text.problems.map(\.description) == ["1: bad-line \(ParsedLine.badLine.message)"])
    }

    /// Somebody may be writing it; the beginning of a line can give more than the whole.
    @Test func anUnendedLine() {
        let whole = Array(
            "b \(Self.digest(2)) read\na \(Self.digest()) write:Label/Text expires 2026-12-21T00:00:00Z rate 1\n".utf8)
        let end = whole.count
        for length in 0..<end {
            let text = TokenText(Array(whole[..<length]))
            #expect(text.table["a"] == nil)
        }
        #expect(TokenText(whole).table.entries.count == 2)
    }

    // MARK: Ambiguous

    @Test func aNameTwice() {
        let text = text("a \(Self.digest(1)) read", "b \(Self.digest(2)) read", "a \(Self.digest(3)) admin")
        #expect(text.table.entries.map(\.name) == ["b"])
        #expect(text.problems.map(\.line) == [1, 3])
        #expect(text.problems[0].error.code == .ambiguous)
        #expect(text.problems[0].error.message.contains("lines 1, 3"))
    }

    /// The one that is wrong may be the one that was meant.
    @Test func aNameTwiceOnceWrong() {
        let text = text("a \(Self.digest(1)) admin", "a \(Self.digest(1)) read expires tomorrow")
        #expect(text.table.entries.isEmpty)
        #expect(text.problems.map(\.error.code) == [.ambiguous, .badValue])
    }

    @Test func aTokenTwice() {
        let text = text("a \(Self.digest(1)) read", "b \(Self.digest(1)) admin", "c \(Self.digest(2)) read")
        #expect(text.table.entries.map(\.name) == ["c"])
        #expect(text.problems.map(\.line) == [1, 2])
    }

    // MARK: Limits

    @Test func asManyAsThereMayBe() {
        let lines = (0...TokenText.countLimit).map { Array("t\($0) \(Self.digest($0)) read\n".utf8) }
        let most = TokenText(Array(lines.dropLast().joined()))
        #expect(most.table.entries.count == TokenText.countLimit && most.problems.isEmpty)
        let more = TokenText(Array(lines.joined()))
        #expect(more.table.entries.isEmpty)
        #expect(more.problems.map(\.error.code) == [.tooMany])
    }

    @Test func asLargeAsItMayBe() {
        let line = Array("a \(Self.digest()) read\n".utf8)
        let rest = TokenText.sizeLimit - line.count
        let comments = (0..<rest).map { $0 % 1_024 == 1_023 || $0 == rest - 1 ? UInt8(ascii: "\n") : UInt8(ascii: "#") }
        #expect(TokenText(comments + line).table.entries.count == 1)
        let more = TokenText([UInt8(ascii: "\n")] + comments + line)
        #expect(more.table.entries.isEmpty && more.problems.map(\.error.code) == [.tooLong])
    }

    /// Bytes of all sorts: no trap, and nothing that was not in a line as it has to be.
    @Test func noise() {
        var generator = SeededGenerator(seed: 11)
        let words = [
            "a", "b", Self.digest(), Self.digest(2), "read", "write:A", "expires", "2030-01-01T00:00:00Z", "rate", "5",
            "#",
            "\"", "'", "\n", "\r\n", "\u{0}", "é", " ", "\\u", "ok",
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

    // MARK: Comments

    @Test(arguments: [
        ("a \(digest()) read # mine", "# mine"), ("a \(digest()) \"read:# x\" #", "#"), ("a \(digest()) read", ""),
        ("a \(digest()) \"read:A # B\"", ""), ("# all", "# all"), ("a \(digest()) 'read:#' # it's mine", "# it's mine"),
    ])
    func comments(_ line: String, _ comment: String) {
        #expect(String(decoding: TokenText.comment(Array(line.utf8)), as: UTF8.self) == comment)
    }
}

extension String {
    fileprivate var uppercasedDigits: String { "sha256:" + dropFirst(7).uppercased() }
}
