// Tests of the arguments of `tweakctl token`, and of its changes to a token file.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksWire

@testable import tweakctl

@Suite struct TokenCommandTests {
    private let now: Int64 = 1_795_253_400_000

    private func command(_ words: [String], _ file: String? = "/tokens") throws -> TokenCommand {
        try TokenCommand(words, file: file, now: now)
    }

    @Test func argumentsAreAnActionAndAPath() throws {
        let words = ["new", "alice", "--scopes", "read \"write:A/B C\"", "--expires", "30d", "--rate", "10"]
        let expires = TimeText.parse("2026-12-21T09:30:00Z")
        #expect(
            try command(words)
                == TokenCommand(
                    action: .new(name: "alice", scopes: [.read, "write:A/B C"], expires: expires, rate: 10),
                    path: "/tokens"))
        // Scopes may be separate words.
        #expect(
            try command(["new", "alice", "--scopes", "read", "write:A", "run:B/C", "--for-user", "www"])
                == TokenCommand(
                    action: .new(name: "alice", scopes: [.read, "write:A", "run:B/C"], expires: nil, rate: nil),
                    path: "/tokens", reader: "www"))
        #expect(try command(["--file", "x", "list"], nil) == TokenCommand(action: .list, path: "x"))
        #expect(try command(["revoke", "a", "--file", "x"]) == TokenCommand(action: .revoke(name: "a", []), path: "x"))
        #expect(
            try command(["revoke", "a", "read"]) == TokenCommand(action: .revoke(name: "a", [.read]), path: "/tokens"))
    }

    @Test(arguments: [
        "", "make", "list all", "new", "new a", "new a b --scopes read", "new a/b --scopes read", "new a --scopes",
        "new a --scopes readable", "new a --scopes read --scopes read", "new a --scopes read --expires soon",
        "new a --scopes read --expires 0d", "new a --scopes read --expires -1d",
        "new a --scopes read --expires 1000000w",
        "new a --scopes read --expires 2020-01-01T00:00:00Z", "new a --scopes read --expires 99999999999999999999d",
        "new a --scopes read --rate 0", "new a --scopes read --rate fast", "new a --scopes read --token x",
        "list --scopes read", "revoke", "revoke a reading", "revoke a --rate 1", "list --file",
    ])
    func otherArgumentsAreAUsageError(_ text: String) {
        let words = text.split(separator: " ").map { String($0) }
        let failure = #expect(throws: Failure.self) { _ = try self.command(words) }
        #expect(failure?.code == .usage)
    }

    @Test func aPathIsRequired() {
        let failure = #expect(throws: Failure.self) { _ = try self.command(["list"], nil) }
        #expect(failure?.description.contains("--file PATH, or set TWEAKS_TOKEN_FILE") == true)
    }

    @Test(arguments: [
        ("30d", 2_592_000), ("2w", 1_209_600), ("12h", 43_200), ("1h30m", 5_400), ("90s", 90),
        ("2026-11-21T09:31:00Z", 60),
    ])
    func anExpiryIsADurationOrATime(_ text: String, _ seconds: Int64) {
        #expect(Expiry.parse(text, now: now) == now + seconds * 1_000)
    }

    @Test(arguments: [
        (2_591_998, "in 30 days"), (90_061, "in 1 day"), (172_800, "in 2 days"), (7_200, "in 2 hours"),
        (3_599, "in 1 hour"), (60, "in 1 minute"), (1, "in 1 second"),
        (0, "expired 0 seconds ago"), (-3_600, "expired 1 hour ago"), (-200_000, "expired 2 days ago"),
    ])
    func anExpiryIsShownAsADuration(_ seconds: Int64, _ text: String) {
        #expect(Expiry.text(now + seconds * 1_000, now: now) == text)
    }

    @Test func tokensAreATable() {
        let digest = SHA256.digest("a".utf8)
        let entries = [
            TokenEntry(
                name: "alice", verifier: .sha256(digest), scopes: [.read, "write:A B"], expires: now + 260_000_000),
            TokenEntry(
                name: "bo", verifier: .sha256(digest), scopes: [.admin], expires: now - 60_000, commitsPerSecond: 5),
        ]
        #expect(
            TokenCommand.table(entries, Style(isHumanReadable: true), now: now) == [
                "NAME   SCOPES            EXPIRES               RATE  DIGEST",
                "alice  read \"write:A B\"  in 3 days             -     ca978112",
                "bo     admin             expired 1 minute ago  5/s   ca978112",
            ])
    }
}

@Suite struct TokenLinesTests {
    private static func line(_ name: String, _ rest: String = "read") -> String {
        "\(name) sha256:\(TokenText.hexadecimal(SHA256.digest(name.utf8))) \(rest)"
    }

    private let file = """
        # who may\r
        \(line("a", "read write:Label run rate 3 # the designer"))\r

        \(line("b"))
        c oops
        \(line("d"))
        \(line("d", "admin"))
        # the end
        """

    private func lines() -> TokenLines { TokenLines(Array((file + "\n").utf8), "F") }

    /// The file after a token or some of its scopes are revoked, and the remaining scopes.
    private func revoked(_ name: String, _ scopes: [TweakScope] = []) throws -> (String, [TweakScope]) {
        var lines = lines()
        let left = try lines.revoke(name, scopes)
        return (String(decoding: lines.bytes, as: UTF8.self), left)
    }

    /// Of two lines with the same name neither is valid, and both are removed.
    @Test func revokingATokenRemovesItsLines() throws {
        #expect(try revoked("b").0 == file.replacingOccurrences(of: Self.line("b") + "\n", with: "") + "\n")
        #expect(try revoked("c").0 == file.replacingOccurrences(of: "c oops\n", with: "") + "\n")
        let text = try revoked("d").0
        #expect(!text.contains("\nd ") && text.contains("\nb ") && text.hasSuffix("c oops\n# the end\n"))
    }

    @Test func revokingScopesKeepsTheOthers() throws {
        let (text, left) = try revoked("a", ["write:Label"])
        #expect(left == [.read, .run])
        #expect(text == file.replacingOccurrences(of: " write:Label", with: "") + "\n")
        let (all, none) = try revoked("a", [.read, .run, "write:Label"])
        #expect(none.isEmpty && all.hasPrefix("# who may\r\n\n"))
    }

    @Test func renewingKeepsTheNameTheScopesAndTheComment() throws {
        var lines = lines()
        let entry = try lines.renew("a", "twk_new", nil)
        #expect(
            entry == TokenEntry(name: "a", token: "twk_new", scopes: [.read, "write:Label", .run], commitsPerSecond: 3))
        let old = Self.line("a", "read write:Label run rate 3")
        let text = String(decoding: lines.bytes, as: UTF8.self)
        #expect(text == file.replacingOccurrences(of: old, with: TokenText.line(entry)) + "\n")
        #expect(text.contains(" # the designer\r\n"))
    }

    @Test(arguments: [("e", "there is no token e"), ("c", "its line is invalid"), ("d", "its line is invalid")])
    func anInvalidLineIsNotRenewed(_ name: String, _ reason: String) throws {
        var lines = lines()
        let failure = #expect(throws: Failure.self) { _ = try lines.renew(name, "twk_new", nil) }
        #expect(failure?.description.contains(reason) == true && lines.bytes == Array((file + "\n").utf8))
    }

    @Test func renewingAnExpiredTokenNeedsAnExpiry() throws {
        let line = Self.line("x", "read expires 2020-01-01T00:00:00Z") + "\n"
        var lines = TokenLines(Array(line.utf8), "F")
        let failure = #expect(throws: Failure.self) { _ = try lines.renew("x", "twk_new", nil) }
        #expect(failure?.description == "F: x has expired; add --expires, as in --expires 30d")
        let later = Expiry.now + 60_000
        #expect(try lines.renew("x", "twk_new", later).expires == later)
    }

    @Test(arguments: [
        ("e", "", "F: there is no token e"),
        ("a", "write", "F: a does not have write, but read write:Label run; name one of these"),
        ("c", "read", "F: c: its line is invalid and has no effect; revoke the token without naming scopes"),
        ("d", "read", "F: d: its line is invalid and has no effect; revoke the token without naming scopes"),
    ])
    func anImpossibleRevocationIsRefused(_ name: String, _ scope: String, _ reason: String) throws {
        let scopes = scope.isEmpty ? [] : [try TweakScope(scope)]
        let failure = #expect(throws: Failure.self) { _ = try self.revoked(name, scopes) }
        #expect(failure?.code == .refused && failure?.description.hasPrefix(reason) == true)
    }

    private func entry(_ name: String) -> TokenEntry {
        TokenEntry(name: name, token: "new \(name)", scopes: [.read])
    }

    @Test func aNewTokenIsAppended() throws {
        let new = try lines().adding(entry("e"))
        #expect(String(decoding: new, as: UTF8.self) == "\(file)\n\(TokenText.line(entry("e")))\n")
        #expect(try TokenLines([], "F").adding(entry("e")) == Array((TokenText.line(entry("e")) + "\n").utf8))
        #expect(try TokenLines(Array("# x".utf8), "F").adding(entry("e")).starts(with: "# x\ne ".utf8))
    }

    @Test(arguments: ["a", "b", "c", "d"]) func anExistingNameIsNotAdded(_ name: String) {
        let failure = #expect(throws: Failure.self) { _ = try self.lines().adding(self.entry(name)) }
        #expect(failure?.description.contains("\(name) exists already, in line") == true)
    }

    /// The last line may be half written, and a line break would make it valid.
    @Test func noTokenIsAddedAfterALineWithoutALineBreak() {
        let lines = TokenLines(Array(Self.line("b").utf8), "F")
        let failure = #expect(throws: Failure.self) { _ = try lines.adding(self.entry("e")) }
        #expect(failure?.description == "F: its last line does not end with a line break; add one, or delete the line")
    }

    @Test func noTokenIsAddedToAFullFile() {
        let many = (0..<TokenText.countLimit).map { Array((Self.line("t\($0)") + "\n").utf8) }.joined()
        let lines = TokenLines(Array(many), "F")
        let failure = #expect(throws: Failure.self) { _ = try lines.adding(self.entry("e")) }
        #expect(failure?.description.contains("is full") == true)
    }
}
