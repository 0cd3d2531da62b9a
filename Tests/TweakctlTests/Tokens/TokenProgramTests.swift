// Tests of `tweakctl token` as a process: the token file, the output and the errors.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct TokenProgramTests {
    private let fixture: TweakctlFixture
    private var path: String { fixture.directory.file("home/tokens") }

    init() throws { fixture = try TweakctlFixture() }

    private var bytes: Data { FileManager.default.contents(atPath: path) ?? Data() }
    private var content: String { String(decoding: bytes, as: UTF8.self) }
    private var entries: [TokenEntry] { TokenText(Array(bytes)).table.entries }

    private func token(_ arguments: String...) throws -> TweakctlFixture.Result {
        try fixture.run(["token"] + arguments + ["--file", path])
    }

    @Test func newPrintsTheTokenAndSavesItsDigest() throws {
        let result = try token("new", "alice", "--scopes", "read \"write:A/B C\"", "--expires", "30d", "--rate", "10")
        let secret = String(result.output.dropLast())
        #expect(result.code == 0 && TokenSecret.isWellFormed(secret) && result.output.hasSuffix("\n"))
        #expect(result.errors.contains("alice: may read \"write:A/B C\", ends in 30 days, at most 10 commits a second"))
        #expect(!result.errors.contains(secret) && !content.contains(secret))
        // The server accepts the file.
        let file = TokenFile(path: path)
        guard case .bytes(let bytes) = file else {
            Issue.record("not accepted: \(file)")
            return
        }
        let table = TokenText(bytes).table
        #expect(table.entry(for: secret)?.name == "alice" && table["alice"]?.commitsPerSecond == 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.file("home")) == ["tokens"])
    }

    @Test(.enabled(if: geteuid() == 0, "run as root"), .enabled(if: Tool.setpriv.exists, "install util-linux"))
    func aFileForAServiceIsReadableByItsUserOnly() throws {
        let path = fixture.directory.file("service/tokens")
        chmod(fixture.directory.path, 0o755)
        for name in ["alice", "bo"] {
            let result = try fixture.run(
                "token", "new", name, "--scopes", "read", "write:Label", "--file", path, "--for-user", "daemon")
            #expect(result.code == 0, "\(result.errors)")
        }
        #expect(try fixture.run("token", "revoke", "bo", "--file", path).code == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o640 && attributes[.ownerAccountID] as? Int == 0)
        func reads(_ user: String) throws -> Bool {
            let output = try Tool.setpriv.run(
                ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "sh", "-c", "cat \(path) 2>&1"], input: "")
            return output.contains("alice")
        }
        #expect(try reads("daemon") && !reads("nobody") && !reads("bin"))
        let failure = try fixture.run(
            "token", "new", "x", "--scopes", "read", "--file", path, "--for-user", "no-such-user")
        #expect(failure.hasError("there is no such user on this machine", code: 2))
    }

    @Test func anExistingNameIsRefused() throws {
        _ = try token("new", "alice", "--scopes", "read")
        let before = content
        let result = try token("new", "alice", "--scopes", "admin")
        #expect(result.code == 1 && result.output == "" && result.errors.contains("alice exists already, in line 1"))
        #expect(content == before)
    }

    @Test func renewReplacesAnOldLineByOneForSCRAM() throws {
        _ = try token("new", "old", "--scopes", "read")
        let line = "old sha256:\(TokenText.hexadecimal(SHA256.digest("x".utf8))) read\n"
        try Data(line.utf8).write(to: URL(fileURLWithPath: path))
        let list = try token("list")
        #expect(list.hasError("old; tweakctl token renew old makes one that need not be sent", code: 0))
        let result = try token("renew", "old")
        let secret = String(result.output.dropLast())
        #expect(result.code == 0 && TokenSecret.isWellFormed(secret) && result.errors.contains("old: may read"))
        #expect(entries == [TokenEntry(name: "old", token: secret, scopes: [.read])])
        #expect(try token("list").errors == "")
        #expect(try token("renew", "none").code == 1)
        #expect(try token("renew", "old", "--rate", "5").code == 2)
    }

    @Test func tokensAreListedAndRevoked() throws {
        for name in ["alice", "bo"] { _ = try token("new", name, "--scopes", "read write:Label") }
        let digests = entries.map { TokenText.hexadecimal($0.digest.prefix(4)) }
        let rows = zip(["alice", "bo   "], digests).map { "\($0)  read write:Label  never  -  \($1)\n" }
        #expect(try token("list").output == rows.joined())
        #expect(
            try token("list", "--json").output.hasPrefix(
                "{\"name\":\"alice\",\"scopes\":[\"read\",\"write:Label\"],\"expires\":null,\"rate\":null,"))
        let less = try token("revoke", "alice", "write:Label")
        #expect(less.code == 0 && less.output == "" && less.errors.contains("alice keeps read;"))
        #expect(try token("revoke", "bo").hasError("bo is revoked;", code: 0))
        #expect(entries.map { $0.name + " " + $0.scopes.description } == ["alice [read]"])
        #expect(try token("revoke", "alic").hasError("there is no token alic; did you mean alice?", code: 1))
    }

    @Test func anInvalidLineIsReportedWithItsNumber() throws {
        _ = try token("new", "alice", "--scopes", "read")
        try (content + "oops\n").write(toFile: path, atomically: false, encoding: .utf8)
        let list = try token("list")
        #expect(list.code == 1 && list.output.hasPrefix("alice"))
        #expect(list.errors.contains("\(path):2: line ignored: oops:"))
    }

    @Test func theEnvironmentNamesTheDefaultFile() throws {
        #expect(try fixture.run("token", "list").hasError("--file PATH, or set TWEAKS_TOKEN_FILE", code: 2))
        fixture.variables.withLock { $0["TWEAKS_TOKEN_FILE"] = path }
        #expect(try fixture.run("token", "new", "a", "--scopes", "read").code == 0)
        #expect(try fixture.run("token", "list").output.hasPrefix("a  read"))
    }

    @Test(arguments: [
        ("umask 077; echo > real; ln -s real tokens", "symbolic link"),
        ("echo > tokens; chmod 644 tokens", "chmod 600"), ("mkdir tokens", "regular file"),
        ("chmod 777 .", "chmod go-w"), ("umask 077; ln -s nowhere tokens", "symbolic link"),
    ])
    func aFileThatIsNotPrivateIsRefused(_ script: String, _ reason: String) throws {
        _ = try fixture.shell("cd '\(fixture.directory.file("home"))' && \(script)")
        let result = try token("new", "alice", "--scopes", "read")
        #expect(result.code == 1 && result.output == "" && result.errors.contains(reason), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.file("home/nowhere")))
    }

    @Test func otherLinesAreKept() throws {
        let before = Data("\u{FEFF}# ours\r\n\n\toops # mine\n".utf8)
        _ = FileManager.default.createFile(atPath: path, contents: before, attributes: [.posixPermissions: 0o600])
        _ = try token("new", "alice", "--scopes", "read")
        #expect(bytes.starts(with: before) && bytes.count > before.count)
        _ = try token("revoke", "alice")
        #expect(bytes == before)
    }

    @Test func concurrentCallsAreAllSaved() throws {
        let processes = try (0..<8).map {
            try fixture.start(["token", "new", "t\($0)", "--scopes", "read", "--file", path], input: "")
        }
        for process in processes { #expect(try process.result().code == 0) }
        #expect(entries.count == 8)
    }

    @Test func anAddressIsAUsageError() throws {
        let result = try fixture.run("-H", "127.0.0.1:1", "token", "list", "--file", path)
        #expect(result.hasError("leave -s and -H out", code: 2))
        #expect(try fixture.run("token").output.split(separator: "\n").count == 4)
    }
}
