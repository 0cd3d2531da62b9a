// Tests of the caches of saved tokens, and of the masking of tokens in texts.

import Foundation
import Testing
import TweaksSystem
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking) struct TokenCacheTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("state/tweakctl/tokens") }

    init() throws { directory = try TemporaryDirectory() }

    private func token(_ name: String = "alice", expires: Int64? = nil) -> SavedToken {
        SavedToken(secret: TokenSecret.make(), name: name, scopes: ["read", "write:A/B C"], expires: expires)
    }

    @Test func tokensAreSavedReplacedAndForgotten() throws {
        let cache = TokenCache(path: path)
        #expect(cache.servers.isEmpty && cache.token(for: "h:1") == nil)
        #expect(try cache.forget("h:1") == nil)
        let (first, second) = (token(expires: 1_795_253_400_123), token("bo \u{1B}[2J\"\\\n"))
        try cache.save(first, for: "h:1")
        try cache.save(second, for: "/run/a b.sock")
        #expect(cache.servers == ["/run/a b.sock", "h:1"])
        #expect(cache.token(for: "h:1") == first && cache.token(for: "/run/a b.sock") == second)
        // A rejection of an earlier token does not delete a later one.
        let third = token()
        try cache.save(third, for: "h:1")
        #expect(try cache.forget("h:1", ifItIs: first.secret) == nil)
        #expect(cache.token(for: "h:1") == third)
        #expect(try cache.forget("h:1", ifItIs: third.secret) == third)
        #expect(try cache.forget("/run/a b.sock") == second)
        #expect(cache.servers.isEmpty)
    }

    @Test func theFileIsPrivate() throws {
        try TokenCache(path: path).save(token(), for: "h:1")
        let modes = try Tool.sh.run(
            ["-c", "cd '\(directory.path)'; ls -ld state state/tweakctl state/tweakctl/tokens"], input: "")
        #expect(modes.split(separator: "\n").map { $0.prefix(10) } == ["drwx------", "drwx------", "-rw-------"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("state/tweakctl")) == ["tokens"])
    }

    @Test(arguments: [
        ("chmod 644 tokens", "chmod 600"), ("mv tokens real; ln -s real tokens", "symbolic link"),
        ("chmod 777 .", "chmod go-w"), ("rm tokens; mkdir tokens", "regular file"),
        ("rm tokens; mkfifo -m 600 tokens", "regular file"), ("rm tokens; ln -s nowhere tokens", "symbolic link"),
        ("head -c 1048577 /dev/zero > tokens", "at most 1048576 bytes"),
    ])
    func aFileThatIsNotPrivateIsNeitherReadNorWritten(_ script: String, _ reason: String) throws {
        let cache = TokenCache(path: path)
        try cache.save(token(), for: "h:1")
        _ = try Tool.sh.run(["-c", "cd '\(directory.file("state/tweakctl"))' && \(script)"], input: "")
        #expect(cache.token(for: "h:1") == nil)
        let failure = #expect(throws: Failure.self) { try cache.save(self.token(), for: "h:2") }
        #expect(failure?.description.contains(reason) == true)
        #expect(!FileManager.default.fileExists(atPath: directory.file("state/tweakctl/nowhere")))
    }

    @Test(arguments: [
        "", "garbage", "\"h:1\" \"twk_x\"", "h:1 twk_x alice", "\"h:1\" \"twk_x\" \"a\" expires soon",
        "\"h:1\" \"twk_x\" \"a\" expires", "\"h:1\" \"twk_x\" \"a\" \"", "\u{0}",
    ])
    func invalidLinesAreIgnored(_ line: String) throws {
        let cache = TokenCache(path: path)
        try cache.save(token(), for: "h:2")
        let lines = try String(contentsOfFile: path, encoding: .utf8) + line + "\n"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
        #expect(cache.servers == ["h:2"])
    }

    @Test func concurrentSavesAreAllKept() throws {
        let tokens = (0..<40).map { token("t\($0)") }
        let path = path
        DispatchQueue.concurrentPerform(iterations: tokens.count) { number in
            try? TokenCache(path: path).save(tokens[number], for: "h:\(number)")
        }
        let cache = TokenCache(path: path)
        for number in tokens.indices { #expect(cache.token(for: "h:\(number)") == tokens[number]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("state/tweakctl")) == ["tokens"])
    }

    @Test func aServerIsIdentifiedByItsNormalizedAddress() throws {
        #expect(try Address(hostAndPort: "LocalHost:7777").cacheKey == "localhost:7777")
        #expect(try Address(hostAndPort: "[::1]:7777").cacheKey == "[::1]:7777")
        #expect(Address.unix(path: "/run/x").cacheKey == "/run/x")
        #expect(Address.unix(path: "./x").cacheKey == Address.unix(path: "x").cacheKey)
        #expect(Address.unix(path: "x").cacheKey.hasPrefix("/"))
    }

    @Test(arguments: [
        ("auth twk_x", true), ("  auth twk_x", true), ("AUTH x", true), ("auth", true), ("auth\"x\"", true),
        ("\tauth x", true), ("author x", false), ("get auth", false), ("find \"auth x\"", false), ("", false),
    ])
    func authRequestsAreRecognized(_ line: String, _ isOne: Bool) { #expect(Secrets.isAuthentication(line) == isOne) }

    private static let secret = TokenSecret.make()

    /// The replacement may contain the secret itself.
    @Test(
        arguments: [
            ("a \(secret) b \(secret)", nil, "a (token) b (token)"), ("looks like twk_…", nil, "looks like twk_…"),
            (String(secret.dropLast(7)), nil, "(token)"), ("hunter2 and hunter2", "hunter2", "(token) and (token)"),
            ("takes no tokens", "token", "takes no (token)s"), ("t x t", "t", "(token) x (token)"), ("a", "", "a"),
        ] as [(String, String?, String)])
    func tokensAndSecretsAreMasked(_ text: String, _ secret: String?, _ masked: String) {
        #expect(Secrets.masked(text, secret) == masked)
    }

    @Test func tokensInALineAreFound() {
        #expect(Secrets.containsToken("set A/B/C \(Self.secret)") && !Secrets.containsToken("get A/B/C"))
    }
}
