// tweakctl token as a process: the file it leaves, and what it says where.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTerminal
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct TokenProgramTests {
    private let surroundings: Surroundings
    private var path: String { surroundings.directory.file("home/tokens") }

    init() throws { surroundings = try Surroundings() }

    private var content: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private var bytes: Data { FileManager.default.contents(atPath: path) ?? Data() }

    private func new(_ name: String, _ arguments: String...) throws -> Surroundings.Result {
        let process = try surroundings.start(["token", "new", name, "--file", path] + arguments)
        process.endInput()
        return try process.result()
    }

    /// The token alone on standard output, and its digest alone in a file that the server takes.
    @Test func makes() throws {
        let result = try new("alice", "--scopes", "read \"write:A/B C\"", "--expires", "30d", "--rate", "10")
        let secret = String(result.output.dropLast())
        #expect(result.code == 0 && TokenSecret.isWellFormed(secret) && result.output.hasSuffix("\n"))
        #expect(result.errors.contains("alice: may read \"write:A/B C\", ends in 30 days, at most 10 commits a second"))
        #expect(!result.errors.contains(secret) && !content.contains(secret))
        let taken = TokenFile(path: path)
        guard case .bytes(let bytes) = taken else {
            Issue.record("not taken: \(taken)")
            return
        }
        let table = TokenText(bytes).table
        #expect(table.entry(for: secret)?.name == "alice" && table["alice"]?.commitsPerSecond == 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: surroundings.directory.file("home")) == ["tokens"])
    }

    /// What root makes for a service is read by that service, and by no other user.
    @Test(.enabled(if: geteuid() == 0, "run as root"), .enabled(if: Tool.setpriv.exists, "install util-linux"))
    func forAService() throws {
        let path = surroundings.directory.file("service/tokens")
        chmod(surroundings.directory.path, 0o755)
        for name in ["alice", "bo"] {
            let result = try surroundings.run(
                "token", "new", name, "--scopes", "read", "write:Label", "--file", path, "--for-user", "daemon")
            #expect(result.code == 0, "\(result.errors)")
        }
        #expect(try surroundings.run("token", "revoke", "bo", "--file", path).code == 0)
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.posixPermissions] as? Int == 0o640 && facts[.ownerAccountID] as? Int == 0)
        func reads(_ user: String) throws -> Bool {
            let output = try Tool.setpriv.run(
                ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "sh", "-c", "cat \(path) 2>&1"], input: "")
            return output.contains("alice")
        }
        #expect(try reads("daemon"))
        #expect(try !reads("nobody") && !reads("bin"))
        let failure = try surroundings.run(
            "token", "new", "x", "--scopes", "read", "--file", path, "--for-user", "no-such-user")
        #expect(failure.code == 2 && failure.errors.contains("there is no such user on this machine"))
    }

    @Test func again() throws {
        _ = try new("alice", "--scopes", "read")
        let before = content
        let result = try new("alice", "--scopes", "admin")
        #expect(result.code == 1 && result.output == "" && result.errors.contains("alice is there already, in line 1"))
        #expect(content == before)
    }

    /// A line of the old kind becomes one whose token is never sent.
    @Test func renews() throws {
        _ = try new("old", "--scopes", "read")
        let line = "old sha256:\(TokenText.hexadecimal(SHA256.digest("x".utf8))) read\n"
        try Data(line.utf8).write(to: URL(fileURLWithPath: path))
        let list = try surroundings.run("token", "list", "--file", path)
        #expect(list.code == 0 && list.errors.contains("old; tweakctl token renew old makes one that is not"))
        let result = try surroundings.run("token", "renew", "old", "--file", path)
        let secret = String(result.output.dropLast())
        #expect(result.code == 0 && TokenSecret.isWellFormed(secret) && result.errors.contains("old: may read"))
        let table = TokenText(Array(content.utf8)).table
        #expect(table.entries == [TokenEntry(name: "old", token: secret, scopes: [.read])])
        #expect(try surroundings.run("token", "list", "--file", path).errors == "")
        #expect(try surroundings.run("token", "renew", "none", "--file", path).code == 1)
        #expect(try surroundings.run("token", "renew", "old", "--rate", "5", "--file", path).code == 2)
    }

    @Test func listsAndRevokes() throws {
        for name in ["alice", "bo"] { _ = try new(name, "--scopes", "read write:Label") }
        let list = try surroundings.run("token", "list", "--file", path)
        let digests = TokenText(Array(content.utf8)).table.entries.map { TokenText.hexadecimal($0.digest.prefix(4)) }
        #expect(
            list.output
                == "alice  read write:Label  never  -  \(digests[0])\nbo     read write:Label  never  -  \(digests[1])\n"
        )
        let json = try surroundings.run("token", "list", "--file", path, "--json")
        #expect(
            json.output.hasPrefix(
                "{\"name\":\"alice\",\"scopes\":[\"read\",\"write:Label\"],\"expires\":null,\"rate\":null,"))
        let less = try surroundings.run("token", "revoke", "alice", "write:Label", "--file", path)
        #expect(less.code == 0 && less.output == "" && less.errors.contains("alice is left with read;"))
        let gone = try surroundings.run("token", "revoke", "bo", "--file", path)
        #expect(gone.code == 0 && gone.errors.contains("bo is revoked;"))
        #expect(
            TokenText(Array(content.utf8)).table.entries.map { $0.name + " " + $0.scopes.description } == [
                "alice [read]"
            ])
        let unknown = try surroundings.run("token", "revoke", "alic", "--file", path)
        #expect(unknown.code == 1 && unknown.errors.contains("there is no token alic; did you mean alice?"))
    }

    @Test func saysWhatIsWrong() throws {
        _ = try new("alice", "--scopes", "read")
        try (content + "oops\n").write(toFile: path, atomically: false, encoding: .utf8)
        let list = try surroundings.run("token", "list", "--file", path)
        #expect(
            list.code == 1 && list.output.hasPrefix("alice") && list.errors.contains("\(path):2: gives nothing: oops:"))
    }

    /// The variable is the process's own.
    @Test func fileOfTheEnvironment() throws {
        let none = try surroundings.run("token", "list")
        #expect(none.code == 2 && none.errors.contains("--file PATH, or set TWEAKS_TOKEN_FILE"))
        surroundings.variables.withLock { $0["TWEAKS_TOKEN_FILE"] = path }
        #expect(try surroundings.run("token", "new", "a", "--scopes", "read").code == 0)
        #expect(try surroundings.run("token", "list").output.hasPrefix("a  read"))
    }

    @Test(arguments: [
        ("umask 077; echo > real; ln -s real tokens", "symbolic link"),
        ("echo > tokens; chmod 644 tokens", "chmod 600"),
        ("mkdir tokens", "regular file"), ("chmod 777 .", "chmod go-w"),
        ("umask 077; ln -s nowhere tokens", "symbolic link"),
    ])
    func refuses(_ script: String, _ reason: String) throws {
        _ = try Tool.sh.run(["-c", "cd '\(surroundings.directory.file("home"))' && \(script)"], input: "")
        let result = try new("alice", "--scopes", "read")
        #expect(result.code == 1 && result.output == "" && result.errors.contains(reason), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: surroundings.directory.file("home/nowhere")))
    }

    /// Comments and everything else stay, and so does the mode.
    @Test func leavesTheRest() throws {
        let before = "\u{FEFF}# ours\r\n\n\toops # mine\n"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(before.utf8), attributes: [.posixPermissions: 0o600])
        _ = try new("alice", "--scopes", "read")
        #expect(bytes.starts(with: before.utf8) && bytes.count > before.utf8.count)
        _ = try surroundings.run("token", "revoke", "alice", "--file", path)
        #expect(bytes == Data(before.utf8))
    }

    @Test func manyAtOnce() throws {
        let running = try (0..<8).map {
            try surroundings.start(["token", "new", "t\($0)", "--scopes", "read", "--file", path])
        }
        for process in running {
            process.endInput()
            #expect(try process.result().code == 0)
        }
        #expect(TokenText(Array(content.utf8)).table.entries.count == 8)
    }

    @Test func talksToNobody() throws {
        let result = try surroundings.run("-H", "127.0.0.1:1", "token", "list", "--file", path)
        #expect(result.code == 2 && result.errors.contains("leave -s and -H out"))
        #expect(try surroundings.run("token").output.split(separator: "\n").count == 4)
    }
}
