// login, and what all other commands make of it: against a server that a test answers for.

import Foundation
import Testing
import Tweaks
import TweaksTerminal
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct LoginTests {
    private let surroundings: Surroundings
    private let server: FakeServer
    private let path: String
    private let secret = TokenSecret.make()
    private let cache: FileTokenCache

    private static let whoami =
        #"{"ok":true,"session":1,"identity":"token alice","scopes":["read","write:Label"],"tokens":[{"name":"alice","expires":"2999-01-01T00:00:00Z"}]}"#

    init() throws {
        surroundings = try Surroundings()
        path = surroundings.socket("fake")
        server = try FakeServer(path)
        cache = FileTokenCache(path: surroundings.directory.file("home/.local/state/tweakctl/tokens"))
    }

    private func kept(_ expires: Int64? = nil) throws {
        try cache.keep(KeptToken(secret: secret, name: "alice", scopes: ["read"], expires: expires), for: path)
    }

    private func take(_ peer: FakePeer) throws {
        try peer.takeToken(secret, "token alice may read write:Label")
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", Self.whoami)
    }

    private func expectNothing(of result: Surroundings.Result) {
        #expect(!result.output.contains(secret) && !result.errors.contains(secret))
    }

    // MARK: login

    @Test(arguments: ["", "\n", "\r\n", "  \nand more\n"]) func fromStandardInput(_ end: String) throws {
        let process = try surroundings.start(["login", "-s", path].reversedOptions)
        process.type(secret + end)
        process.endInput()
        try take(try server.accepted())
        let result = try process.result()
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("logged in to \(path) as alice, which may read write:Label; it ends in "))
        expectNothing(of: result)
        let token = try #require(cache.token(for: path))
        #expect(token.secret == secret && token.name == "alice" && token.scopes == ["read", "write:Label"])
        #expect(token.expires == TimeText.parse("2999-01-01T00:00:00Z"))
    }

    @Test func fromADescriptor() throws {
        let file = surroundings.directory.file("secret")
        try secret.write(toFile: file, atomically: false, encoding: .utf8)
        let settings = surroundings.environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Tool.sh.path)
        process.arguments = [
            "-c", "exec env \(settings) '\(Surroundings.executable.path)' -s '\(path)' login --fd 7 7< '\(file)'",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        try take(try server.accepted())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && cache.token(for: path)?.secret == secret)
    }

    @Test func refused() throws {
        let process = try surroundings.start(["-s", path, "login"])
        process.type(secret + "\n")
        try server.accepted().takeToken(secret, "error denied no such token \(secret)")
        let result = try process.result()
        #expect(
            result.code == 1
                && result.errors.contains("the token is not taken: it is wrong, was revoked, or has expired"))
        expectNothing(of: result)
        #expect(cache.servers.isEmpty)
    }

    /// A server that repeats what it was told, and says other things with it.
    @Test func hostileAnswers() throws {
        let process = try surroundings.start(["-s", path, "login"])
        process.type("hunter2\n")
        try server.accepted().takeToken("hunter2", "error busy hunter2 \u{1B}[2J hunter2")
        let result = try process.result()
        #expect(result.code == 1 && result.errors == "tweakctl: \(path): busy: (token) \u{FFFD}[2J (token)\n")
    }

    @Test(arguments: ["", "\n", "two words\n", "\u{1B}[A\n", String(repeating: "x", count: 5_000)])
    func noToken(_ input: String) throws {
        let result = try surroundings.run("-s", path, "login", input: input)
        #expect(result.code == 2 && result.errors.contains("login: "))
        #expect(cache.servers.isEmpty)
    }

    /// What everybody can see is no place for a token; nor is the message that says so.
    @Test(arguments: [
        ["-s", "PATH", "login", "hunter2"], ["login", "fake", "hunter2"],
        ["-s", "PATH", "login", "--token", "hunter2"],
        ["-s", "PATH", "login", "--token=hunter2"], ["login", "hunter2"], ["-s", "PATH", "login", "--fd", "hunter2"],
        ["-s", "PATH", "auth", "hunter2"], ["auth", "hunter2"], ["fake", "auth", "hunter2"], ["auth hunter2"],
        ["-s", "PATH", " AUTH 'hunter2'"], ["-s", "PATH", "logout", "hunter2"], ["auth", "hunter2", "--json"],
    ])
    func neverAnArgument(_ arguments: [String]) throws {
        let process = try surroundings.start(arguments.map { $0 == "PATH" ? path : $0 })
        process.endInput()
        let result = try process.result()
        #expect(result.code == 2 || result.code == 3)
        #expect(result.errors.contains("tweakctl: ") && !result.errors.contains("hunter2") && result.output == "")
    }

    /// Not even where nobody has thought of it.
    @Test(arguments: [["SECRET"], ["--SECRET"], ["-H", "SECRET"], ["token", "new", "SECRET"], ["nobody", "SECRET"]])
    func neverRepeated(_ arguments: [String]) throws {
        let process = try surroundings.start(arguments.map { $0.replacingOccurrences(of: "SECRET", with: secret) })
        process.endInput()
        expectNothing(of: try process.result())
    }

    // MARK: Later calls

    @Test func oneCommand() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "get", "A"])
        let peer = try server.accepted()
        try peer.takeToken(secret)
        try peer.answer("get A", "A/B/C = 5", "ok")
        let result = try process.result()
        #expect(result.code == 0 && result.output == "A/B/C = 5\n" && result.errors == "")
    }

    @Test func json() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "--json", "get", "A"])
        let peer = try server.accepted()
        try peer.takeToken(secret)
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("get A", "{\"ok\":true,\"tweaks\":[]}")
        #expect(try process.result().output == "{\"ok\":true,\"tweaks\":[]}\n")
    }

    @Test func script() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "-"])
        process.type("get A\n")
        process.endInput()
        let peer = try server.accepted()
        try peer.takeToken(secret)
        try peer.answer("ping", "ok")
        try peer.answer("get A", "A/B/C = 5", "ok")
        #expect(try process.result().output == "A/B/C = 5\n")
    }

    /// At each beginning anew.
    @Test func watch() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "watch", "A"])
        for value in 1...2 {
            let peer = try server.accepted()
            try peer.takeToken(secret)
            try peer.answer("hello 1", "  instance: \(value)", "ok")
            try peer.answer("watch A", "A/B/C = \(value)", "ok rev 4 watching 1")
            try process.lines(through: "A/B/C = \(value)")
            try peer.close()
        }
        process.signal(SIGINT)
        expectNothing(of: try process.result())
    }

    /// Trying again would not bring the token back.
    @Test func watchEndsWithItsToken() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "watch", "A"])
        let first = try server.accepted()
        try first.takeToken(secret)
        try first.answer("hello 1", "  instance: 1", "ok")
        try first.answer("watch A", "A/B/C = 1", "ok rev 4 watching 1")
        try process.lines(through: "A/B/C = 1")
        try first.close()
        let second = try server.accepted()
        try second.takeToken(secret, "error denied it is unknown")
        try second.answer("hello 1", "  instance: 2", "ok")
        try second.answer("watch A", "error auth-required show a token")
        let result = try process.result()
        #expect(result.code == 1)
        #expect(result.errors.contains("auth-required: show a token"))
    }

    @Test func others() throws {
        try cache.keep(KeptToken(secret: secret, name: "alice", scopes: []), for: path + "x")
        let process = try surroundings.start(["-s", path, "ping"])
        try server.accepted().answer("ping", "ok")
        #expect(try process.result().code == 0)
    }

    /// Before the challenge it is not this token that is refused: it may be good still, and is not to be had again.
    @Test(arguments: ["ask Ada for a login", "that is no token of this process, or it has ended"])
    func aTokenThatIsNotToBlameIsKept(_ reason: String) throws {
        try kept()
        let process = try surroundings.start(["-s", path, "ping"])
        let peer = try server.accepted()
        _ = try peer.message()
        try peer.say("error denied \(reason)\n")
        try peer.answer("ping", "ok")
        let result = try process.result()
        #expect(result.code == 0 && result.errors.contains("the token alice could not be shown (denied)"))
        #expect(cache.token(for: path) != nil)
    }

    /// Once the proof is there it is the token, whatever the server calls that.
    @Test(arguments: ["no", "this process takes no tokens", "uid 1 is not the user of this process"])
    func aProofThatIsRefused(_ reason: String) throws {
        let login = try surroundings.start(["-s", path, "login"])
        login.type(secret + "\n")
        try server.accepted().takeToken(secret, "error denied \(reason)")
        #expect(try login.result().errors.contains("the token is not taken: it is wrong, was revoked, or has expired"))
        try kept()
        let process = try surroundings.start(["-s", path, "ping"])
        let peer = try server.accepted()
        try peer.takeToken(secret, "error denied \(reason)")
        try peer.answer("ping", "ok")
        #expect(try process.result().errors.contains("the token alice is not taken: it was revoked or has expired"))
    }

    /// What has sent a challenge knows SCRAM, whatever it calls the answer to that.
    @Test(arguments: ["usage", "unknown-command"]) func aProofIsNoReasonToShowItInPlain(_ code: String) throws {
        try kept()
        let process = try surroundings.start(["-s", path, "ping"])
        let peer = try server.accepted()
        try peer.takeToken(secret, "error \(code) what is that?")
        try peer.answer("ping", "ok")
        let errors = try process.result().errors
        #expect(errors.contains("could not be shown (\(code))") && !errors.contains("--plain"))
    }

    @Test func revoked() throws {
        try kept()
        let process = try surroundings.start(["-s", path, "get", "A"])
        let peer = try server.accepted()
        try peer.takeToken(secret, "error denied it is unknown")
        try peer.answer("get A", "error auth-required show a token")
        let result = try process.result()
        #expect(result.code == 1)
        #expect(
            result.errors == """
                tweakctl: \(path): the token alice is not taken: it was revoked or has expired, or another program \
                listens there; log in again: tweakctl login -s \(path)
                tweakctl: auth-required: show a token

                """)
        // The program there has not shown that it knows the token, so it cannot have it forgotten, either.
        #expect(cache.token(for: path) != nil)
    }

    @Test func expired() throws {
        try kept(TimeText.parse("2026-01-01T00:00:00Z"))
        let process = try surroundings.start(["-s", path, "ping"])
        try server.accepted().answer("ping", "ok")
        let result = try process.result()
        #expect(
            result.code == 0
                && result.errors.contains("the token alice has expired (2026-01-01T00:00:00Z), and is forgotten"))
        #expect(cache.servers.isEmpty)
    }

    /// Any other trouble is no reason to forget it.
    @Test(arguments: ["error busy wait", "error too-many wait", "error nonsense \u{1B}[2J"])
    func otherTrouble(_ answer: String) throws {
        try kept()
        let process = try surroundings.start(["-s", path, "ping"])
        let peer = try server.accepted()
        _ = try peer.message()
        try peer.say("\(answer)\n")
        try peer.answer("ping", "ok")
        let result = try process.result()
        #expect(result.code == 0 && !result.errors.contains("\u{1B}"))
        #expect(cache.token(for: path) != nil)
    }

    /// For the shell nobody reads what is said; so nothing is, and nothing is lost.
    @Test func completion() throws {
        try kept()
        let process = try surroundings.start(["__complete", "-s", path, "get", "A"])
        process.endInput()
        let peer = try server.accepted()
        try peer.takeToken(secret, "error denied it is unknown")
        #expect(try peer.line().hasPrefix("complete "))
        try peer.say("  A/B/C\n  \"A/B/\\u001b[2J\"\n  A/\u{9B}\nok\n")
        let result = try process.result()
        #expect(result.output == "A/B/C\nA/\u{FFFD}\n" && result.errors == "")
        #expect(cache.token(for: path) != nil)
        #expect(try surroundings.run("__complete", "auth", "twk").output == "")
        #expect(try surroundings.run("__complete", "token", "").output == "new\nlist\nrenew\nrevoke\n")
    }

    // MARK: logout

    @Test func logout() throws {
        try kept()
        let keep = try surroundings.run("-s", path, "logout", "--keep")
        #expect(keep.code == 0 && cache.token(for: path) != nil)
        let result = try surroundings.run("logout", "fake")
        #expect(result.code == 0 && result.errors.contains("the token alice is forgotten"))
        #expect(cache.servers.isEmpty)
        let again = try surroundings.run("logout", "fake")
        #expect(again.code == 1 && again.errors.contains("no token is kept for "))
    }

    @Test func logoutOfWhat() throws {
        #expect(try surroundings.run("logout").errors == "tweakctl: logout: no token is kept\n")
        try kept()
        try cache.keep(KeptToken(secret: secret, name: "bo", scopes: []), for: "h:1")
        let result = try surroundings.run("logout")
        #expect(result.code == 2 && result.errors.contains("of which process? Tokens are kept for \(path), h:1"))
        #expect(try surroundings.run("-H", "h:1", "logout").code == 0)
        #expect(try surroundings.run("logout").code == 0 && cache.servers.isEmpty)
    }
}

extension [String] {
    /// Options stand before the words.
    fileprivate var reversedOptions: [String] { Array(self[1...]) + [self[0]] }
}
