// Tests of login and logout, and of the commands that use a saved token.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct LoginTests {
    private let fixture: LoginFixture
    private var path: String { fixture.address }
    private var secret: String { fixture.secret }

    private static let whoami =
        #"{"ok":true,"session":1,"identity":"token alice","scopes":["read","write:Label"],"tokens":[{"name":"alice","expires":"2999-01-01T00:00:00Z"}]}"#

    init() throws { fixture = try LoginFixture() }

    /// Answers a login of the token.
    private func acceptLogin() throws {
        let peer = try fixture.accept("token alice may read write:Label")
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", Self.whoami)
    }

    private func expectNoSecret(
        in result: TweakctlFixture.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(!(result.output + result.errors).contains(secret), sourceLocation: sourceLocation)
    }

    @Test(arguments: ["", "\n", "\r\n", "  \nand more\n"])
    func loginSavesTheTokenFromStandardInput(_ end: String) throws {
        let process = try fixture.start("login", input: secret + end)
        try acceptLogin()
        let result = try process.result()
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("logged in to \(path) as alice, which may read write:Label; it ends in "))
        expectNoSecret(in: result)
        #expect(
            fixture.saved
                == SavedToken(
                    secret: secret, name: "alice", scopes: ["read", "write:Label"],
                    expires: TimeText.parse("2999-01-01T00:00:00Z")))
    }

    @Test func loginReadsTheTokenFromADescriptor() throws {
        let file = fixture.tweakctl.directory.file("secret")
        try secret.write(toFile: file, atomically: false, encoding: .utf8)
        let process = try RunningProgram(
            Tool.sh.path, ["-c", "exec \(fixture.tweakctl.command()) -s '\(path)' login --fd 7 7< '\(file)'"])
        try acceptLogin()
        #expect(try process.waitForEnd() == 0 && fixture.saved?.secret == secret)
    }

    @Test(arguments: [
        "no such token SECRET", "no", "this process accepts no tokens", "uid 1 is not the user of this process",
    ])
    func aRefusedTokenIsNotSaved(_ reason: String) throws {
        let process = try fixture.start("login", input: secret + "\n")
        _ = try fixture.accept("error denied \(reason.replacing("SECRET", with: secret))")
        let result = try process.result()
        #expect(result.hasError("the token was rejected: it is wrong, was revoked, or has expired", code: 1))
        expectNoSecret(in: result)
        #expect(fixture.cache.servers.isEmpty)
    }

    @Test func aTokenAndControlCharactersInARefusalAreReplaced() throws {
        let process = try fixture.start("login", input: "hunter2\n")
        try fixture.server.accept().authenticate("hunter2", "error busy hunter2 \u{1B}[2J hunter2")
        let errors = "tweakctl: \(path): busy: (token) \u{FFFD}[2J (token)\n"
        #expect(try process.result() == .init(code: 1, errors: errors))
    }

    @Test(arguments: ["", "\n", "two words\n", "\u{1B}[A\n", String(repeating: "x", count: 5_000)])
    func anInputThatIsNoTokenIsAUsageError(_ input: String) throws {
        let result = try fixture.run("login", input: input)
        #expect(result.hasError("login: ", code: 2) && fixture.cache.servers.isEmpty)
    }

    /// Other users can read arguments, and error messages end up in logs.
    @Test(arguments: [
        ["-s", "PATH", "login", "hunter2"], ["login", "fake", "hunter2"],
        ["-s", "PATH", "login", "--token", "hunter2"],
        ["-s", "PATH", "login", "--token=hunter2"], ["login", "hunter2"], ["-s", "PATH", "login", "--fd", "hunter2"],
        ["-s", "PATH", "auth", "hunter2"], ["auth", "hunter2"], ["fake", "auth", "hunter2"], ["auth hunter2"],
        ["-s", "PATH", " AUTH 'hunter2'"], ["-s", "PATH", "logout", "hunter2"], ["auth", "hunter2", "--json"],
    ])
    func aTokenAsAnArgumentIsRefusedAndNotRepeated(_ arguments: [String]) throws {
        let result = try fixture.tweakctl.run(arguments.map { $0 == "PATH" ? path : $0 })
        #expect(result.code == 2 || result.code == 3)
        #expect(result.errors.contains("tweakctl: ") && !result.errors.contains("hunter2"))
        #expect(arguments.contains("--json") ? !result.output.contains("hunter2") : result.output == "")
    }

    @Test(arguments: [["SECRET"], ["--SECRET"], ["-H", "SECRET"], ["token", "new", "SECRET"], ["nobody", "SECRET"]])
    func noErrorRepeatsASecret(_ arguments: [String]) throws {
        expectNoSecret(in: try fixture.tweakctl.run(arguments.map { $0.replacing("SECRET", with: secret) }))
    }

    @Test(arguments: [
        (["get", "A"], [("get A", "A/B/C = 5\nok")], "A/B/C = 5\n"),
        (
            ["--json", "get", "A"], [("json on", "{\"ok\":true}"), ("get A", "{\"ok\":true,\"tweaks\":[]}")],
            "{\"ok\":true,\"tweaks\":[]}\n"
        ), (["-"], [("ping", "ok"), ("get A", "A/B/C = 5\nok")], "A/B/C = 5\n"),
    ])
    func aCommandAuthenticatesFirst(_ arguments: [String], _ exchange: [(String, String)], _ output: String) throws {
        try fixture.save()
        let process = try fixture.tweakctl.start(["-s", path] + arguments, input: arguments == ["-"] ? "get A\n" : nil)
        let peer = try fixture.accept()
        for (request, reply) in exchange { try peer.answer(request, reply) }
        #expect(try process.result() == .init(output: output))
    }

    @Test func aWatchAuthenticatesOnEveryConnection() throws {
        let process = try fixture.startLoggedIn("watch", "A")
        for value in 1...2 { try fixture.serveWatch(process, value: value) }
        process.signal(SIGINT)
        expectNoSecret(in: try process.result())
    }

    @Test func aWatchEndsWhenItsTokenIsRevoked() throws {
        let process = try fixture.startLoggedIn("watch", "A")
        try fixture.serveWatch(process)
        let peer = try fixture.accept("error denied it is unknown")
        try peer.answer("hello 1", "  instance: 2", "ok")
        try peer.answer("watch A", "error auth-required show a token")
        #expect(try process.result().hasError("auth-required: show a token", code: 1))
    }

    @Test func aTokenIsSentToItsServerOnly() throws {
        try fixture.cache.save(SavedToken(secret: secret, name: "alice", scopes: []), for: path + "x")
        let process = try fixture.start("ping")
        try fixture.server.accept().answer("ping", "ok")
        #expect(try process.result().code == 0)
    }

    /// A server that has sent no challenge has not checked the token, which may still be valid.
    @Test(arguments: [
        ("denied ask Ada for a login", "denied"), ("denied the token is wrong, expired or revoked", "denied"),
        ("busy wait", "busy"), ("too-many wait", "too-many"), ("nonsense \u{1B}[2J", "no reason given"),
    ])
    func aRefusalBeforeTheChallengeKeepsTheToken(_ refusal: String, _ reason: String) throws {
        let process = try fixture.startLoggedIn("ping")
        let peer = try fixture.server.accept()
        _ = try peer.scramMessage()
        try peer.send("error \(refusal)\n")
        try peer.answer("ping", "ok")
        let result = try process.result()
        #expect(result.code == 0 && !result.errors.contains("\u{1B}") && fixture.saved != nil)
        #expect(result.errors.contains("the token alice could not be used (\(reason))"), "\(result.errors)")
    }

    /// A process at a port has no place while others open connections all the time.
    @Test(arguments: [false, true]) func aCrowdedPortIsTriedAgain(_ isLogin: Bool) throws {
        let server = try FakeServer()
        try fixture.cache.save(SavedToken(secret: secret, name: "alice", scopes: []), for: server.address)
        let arguments = ["-H", server.address] + (isLogin ? ["login"] : ["ping"])
        let process = try fixture.tweakctl.start(arguments, input: isLogin ? secret + "\n" : nil)
        for answersFirst in [false, true, false] {
            let peer = try server.accept()
            let first = try peer.scramMessage()
            if answersFirst {
                try peer.send("ok \(try Scram.Server(first).challenge)\n")
                _ = try peer.scramMessage()
            }
            try peer.send("error too-many others are waiting, and this session has not signed in\n")
            try peer.close()
        }
        let peer = try server.accept()
        try peer.authenticate(secret)
        if isLogin {
            try peer.answer("json on", "{\"ok\":true}")
            try peer.answer("whoami", Self.whoami)
        } else {
            try peer.answer("ping", "ok pong")
        }
        let result = try process.result()
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
    }

    /// It may not even have a place to say so: it closes or resets the connection before any answer. A connection that
    /// ends after the first byte is none of these.
    @Test func aPortThatHangsUpIsTriedAgain() throws {
        let server = try FakeServer()
        try fixture.cache.save(SavedToken(secret: secret, name: "alice", scopes: []), for: server.address)
        let process = try fixture.tweakctl.start(["-H", server.address, "ping"])
        for reads in [true, false, true] {
            let peer = try server.accept()
            if reads { _ = try peer.scramMessage() }
            try peer.close()
        }
        let peer = try server.accept()
        try peer.authenticate(secret)
        try peer.answer("ping", "ok pong")
        let result = try process.result()
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
        let other = try fixture.tweakctl.start(["-H", server.address, "ping"])
        let half = try server.accept()
        _ = try half.scramMessage()
        try half.send("o")
        try half.close()
        #expect(try other.result().errors.contains("has ended the connection without an answer"))
    }

    @Test func attemptsAreBounded() {
        var (retry, elapsed, pauses) = (AdmissionRetry(), Duration.zero, [Duration]())
        while let pause = retry.next(elapsed: elapsed, random: 1) {
            pauses.append(pause)
            elapsed += pause
        }
        #expect(pauses.first == .milliseconds(50) && pauses.max() == .seconds(2) && pauses.count < 20)
        #expect(elapsed < AdmissionRetry.limit && pauses == pauses.sorted())
        var soon = AdmissionRetry()
        #expect(soon.next(elapsed: .zero, random: 0) == .milliseconds(25))
        #expect(soon.next(elapsed: AdmissionRetry.limit, random: 0) == nil)
    }

    /// It names the reason, and does not advise to give up a token that may be valid.
    @Test func aPortThatStaysCrowdedIsNoReasonToLogOut() throws {
        let target = Target(.tcp(host: "127.0.0.1", port: "7"), timeout: .standard)
        let answer = Answer(body: [], status: "error too-many others are waiting", isRefusal: true)
        let failure = #expect(throws: Failure.self) { try target.checkAdmitted(.refused(answer)) }
        let text = failure?.description ?? ""
        #expect(text.contains("too-many: others are waiting") && text.contains("try again"))
        #expect(!text.contains("logout"))
        try target.checkAdmitted(.refused(Answer(body: [], status: "error denied no", isRefusal: true)))
    }

    /// A server that has sent a challenge supports SCRAM, and only `denied` is about the token.
    @Test(arguments: [
        ("denied no", "was rejected: it was revoked or has expired"),
        ("denied this process accepts no tokens", "was rejected: it was revoked or has expired"),
        ("denied uid 1 is not the user of this process", "was rejected: it was revoked or has expired"),
        ("usage what is that?", "could not be used (usage)"),
        ("unknown-command what is that?", "could not be used (unknown-command)"),
    ])
    func aRefusalAfterTheChallengeDoesNotSuggestPlainText(_ refusal: String, _ reason: String) throws {
        let process = try fixture.startLoggedIn("ping")
        try fixture.accept("error \(refusal)").answer("ping", "ok")
        let errors = try process.result().errors
        #expect(errors.contains("the token alice \(reason)") && !errors.contains("--plain"), "\(errors)")
    }

    /// The program there has not proved that it knows the token, so it cannot have it deleted.
    @Test func aRejectedTokenIsReportedAndKept() throws {
        let process = try fixture.startLoggedIn("get", "A")
        try fixture.accept("error denied it is unknown").answer("get A", "error auth-required show a token")
        let errors = """
            tweakctl: \(path): the token alice was rejected: it was revoked or has expired, or another program \
            listens there; log in again: tweakctl login -s \(path)
            tweakctl: auth-required: show a token

            """
        #expect(try process.result() == .init(code: 1, errors: errors))
        #expect(fixture.saved != nil)
    }

    @Test func anExpiredTokenIsDeletedAndNotSent() throws {
        try fixture.save(expires: TimeText.parse("2026-01-01T00:00:00Z"))
        let process = try fixture.start("ping")
        try fixture.server.accept().answer("ping", "ok")
        let result = try process.result()
        #expect(result.code == 0 && fixture.cache.servers.isEmpty)
        #expect(result.errors.contains("the token alice has expired (2026-01-01T00:00:00Z), and is deleted"))
    }

    @Test func completionAuthenticatesWithoutMessages() throws {
        try fixture.save()
        let process = try fixture.tweakctl.start(["__complete", "-s", path, "--timeout", "5m", "get", "A"], input: "")
        let peer = try fixture.accept("error denied it is unknown")
        #expect(try peer.line().hasPrefix("complete "))
        try peer.send("  A/B/C\n  \"A/B/\\u001b[2J\"\n  A/\u{9B}\nok\n")
        let result = try process.result()
        #expect(result.output == "A/B/C\nA/\u{FFFD}\n" && result.errors == "" && fixture.saved != nil)
        #expect(try fixture.tweakctl.run("__complete", "auth", "twk").output == "")
        #expect(try fixture.tweakctl.run("__complete", "token", "").output == "new\nlist\nrenew\nrevoke\n")
    }

    @Test func logoutDeletesTheTokenUnlessItIsKept() throws {
        try fixture.save()
        #expect(try fixture.run("logout", "--keep").code == 0 && fixture.saved != nil)
        #expect(try fixture.tweakctl.run("logout", "fake").hasError("the saved token alice is deleted", code: 0))
        #expect(fixture.cache.servers.isEmpty)
        #expect(try fixture.tweakctl.run("logout", "fake").hasError("no token is saved for ", code: 1))
    }

    /// A name is also that of its only other instance.
    @Test func logoutFindsTheTokenOfAnInstance() throws {
        let token = SavedToken(secret: fixture.secret, name: "alice", scopes: ["read"])
        for number in [1, 2] { try fixture.cache.save(token, for: fixture.tweakctl.socket("other-\(number)")) }
        #expect(try fixture.tweakctl.run("logout", "other").hasError("name the process; tokens are saved for", code: 2))
        try fixture.cache.forget(fixture.tweakctl.socket("other-1"))
        #expect(try fixture.tweakctl.run("logout", "other").hasError("the saved token alice is deleted", code: 0))
        #expect(fixture.cache.servers.isEmpty)
    }

    @Test func logoutNeedsAnAddressIfSeveralTokensAreSaved() throws {
        let tweakctl = fixture.tweakctl
        #expect(try tweakctl.run("logout").errors == "tweakctl: logout: no token is saved\n")
        try fixture.save()
        try fixture.cache.save(SavedToken(secret: secret, name: "bo", scopes: []), for: "h:1")
        #expect(try tweakctl.run("logout").hasError("name the process; tokens are saved for \(path), h:1", code: 2))
        #expect(try tweakctl.run("-H", "h:1", "logout").code == 0)
        #expect(try tweakctl.run("logout").code == 0 && fixture.cache.servers.isEmpty)
    }
}
