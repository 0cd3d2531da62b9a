// Where tokens are kept: the same of both kinds, and what the file does beyond that.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksTerminal
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking) struct TokenCacheTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("state/tweakctl/tokens") }

    init() throws { directory = try TemporaryDirectory() }

    private func token(_ name: String = "alice", expires: Int64? = nil) -> KeptToken {
        KeptToken(secret: TokenSecret.make(), name: name, scopes: ["read", "write:A/B C"], expires: expires)
    }

    @Test(arguments: [false, true]) func keeps(_ isFile: Bool) throws {
        let cache: any TokenCache = isFile ? FileTokenCache(path: path) : MemoryTokenCache()
        #expect(cache.servers.isEmpty && cache.token(for: "h:1") == nil)
        #expect(try cache.forget("h:1") == nil)
        let (first, second) = (token(expires: 1_795_253_400_123), token("bo \u{1B}[2J\"\\\n"))
        try cache.keep(first, for: "h:1")
        try cache.keep(second, for: "/run/a b.sock")
        #expect(cache.servers == ["/run/a b.sock", "h:1"])
        #expect(cache.token(for: "h:1") == first && cache.token(for: "/run/a b.sock") == second)
        // A later login counts, and is not undone by what was found out about an earlier one.
        let third = token()
        try cache.keep(third, for: "h:1")
        #expect(try cache.forget("h:1", ifItIs: first.secret) == nil)
        #expect(cache.token(for: "h:1") == third)
        #expect(try cache.forget("h:1", ifItIs: third.secret) == third)
        #expect(try cache.forget("/run/a b.sock") == second)
        #expect(cache.servers.isEmpty)
    }

    @Test func isOurs() throws {
        try FileTokenCache(path: path).keep(token(), for: "h:1")
        let modes = try Tool.sh.run(
            ["-c", "cd '\(directory.path)'; ls -ld state state/tweakctl state/tweakctl/tokens"], input: "")
        #expect(modes.split(separator: "\n").map { $0.prefix(10) } == ["drwx------", "drwx------", "-rw-------"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("state/tweakctl")) == ["tokens"])
    }

    /// What is not ours alone gives nothing, and is never written through.
    @Test(arguments: [
        ("chmod 644 tokens", "chmod 600"), ("mv tokens real; ln -s real tokens", "symbolic link"),
        ("chmod 777 .", "chmod go-w"), ("rm tokens; mkdir tokens", "regular file"),
        ("rm tokens; mkfifo -m 600 tokens", "regular file"), ("rm tokens; ln -s nowhere tokens", "symbolic link"),
        ("head -c 1048577 /dev/zero > tokens", "larger"),
    ])
    func isNot(_ script: String, _ reason: String) throws {
        let cache = FileTokenCache(path: path)
        try cache.keep(token(), for: "h:1")
        _ = try Tool.sh.run(["-c", "cd '\(directory.file("state/tweakctl"))' && \(script)"], input: "")
        #expect(cache.token(for: "h:1") == nil)
        let failure = #expect(throws: Failure.self) { try cache.keep(self.token(), for: "h:2") }
        #expect(failure?.description.contains(reason) == true)
        #expect(!FileManager.default.fileExists(atPath: directory.file("state/tweakctl/nowhere")))
    }

    @Test(arguments: [
        "", "garbage", "\"h:1\" \"twk_x\"", "h:1 twk_x alice", "\"h:1\" \"twk_x\" \"a\" expires soon",
        "\"h:1\" \"twk_x\" \"a\" expires", "\"h:1\" \"twk_x\" \"a\" \"", "\u{0}",
    ])
    func oddLines(_ line: String) throws {
        let cache = FileTokenCache(path: path)
        try cache.keep(token(), for: "h:2")
        let lines = try String(contentsOfFile: path, encoding: .utf8) + line + "\n"
        try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
        #expect(cache.servers == ["h:2"])
    }

    /// Many calls at once: none is lost.
    @Test func atOnce() throws {
        let tokens = (0..<40).map { token("t\($0)") }
        let path = path
        DispatchQueue.concurrentPerform(iterations: tokens.count) { number in
            try? FileTokenCache(path: path).keep(tokens[number], for: "h:\(number)")
        }
        let cache = FileTokenCache(path: path)
        for number in tokens.indices { #expect(cache.token(for: "h:\(number)") == tokens[number]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("state/tweakctl")) == ["tokens"])
    }

    @Test func keys() throws {
        #expect(try Address(hostAndPort: "LocalHost:7777").cacheKey == "localhost:7777")
        #expect(try Address(hostAndPort: "[::1]:7777").cacheKey == "[::1]:7777")
        #expect(Address.unix(path: "/run/x").cacheKey == "/run/x")
        #expect(Address.unix(path: "./x").cacheKey == Address.unix(path: "x").cacheKey)
        #expect(Address.unix(path: "x").cacheKey.hasPrefix("/"))
    }

    // MARK: What is kept out of sight

    @Test(arguments: [
        ("auth twk_x", true), ("  auth twk_x", true), ("AUTH x", true), ("auth", true), ("auth\"x\"", true),
        ("\tauth x", true), ("author x", false), ("get auth", false), ("find \"auth x\"", false), ("", false),
    ])
    func authentication(_ line: String, _ isOne: Bool) { #expect(Secrets.isAuthentication(line) == isOne) }

    @Test func masked() {
        let token = TokenSecret.make()
        #expect(Secrets.masked("a \(token) b \(token)") == "a (token) b (token)")
        #expect(Secrets.masked("looks like twk_…") == "looks like twk_…")
        #expect(Secrets.masked("hunter2 and hunter2", "hunter2") == "(token) and (token)")
        // What stands in its place may hold it.
        #expect(Secrets.masked("takes no tokens", "token") == "takes no (token)s")
        #expect(Secrets.masked("t x t", "t") == "(token) x (token)" && Secrets.masked("a", "") == "a")
        #expect(Secrets.masked(String(token.dropLast(7))) == "(token)")
        #expect(Secrets.areIn("set A/B/C \(token)") && !Secrets.areIn("get A/B/C"))
    }
}
