// Tests that tweakctl does not wait forever for a process that is stopped, and says so with its own exit code.

import Testing
import Tweaks
import TweaksServer
import TweaksSystem
import TweaksTestSupport

@testable import tweakctl

/// A listener that never accepts is what the kernel shows of a stopped process.
@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct TimeoutTests {
    private let fixture: TweakctlFixture
    private let stopped: FakeServer

    init() throws {
        fixture = try TweakctlFixture()
        stopped = try FakeServer(fixture.socket("bounce"))
    }

    private var path: String { stopped.address }

    private static let commands: [[String]] = [
        ["get", "*"], ["--json", "get", "*"], ["A/B/C", "=", "5"], ["run", "A/B/C"], ["panel"], ["watch", "A"],

        ["--json", "watch", "A"], ["-"], ["--json", "-"], ["-", "--keep-going"], ["repl"], ["import", "-", "--yes"],
        ["import", "-", "--dry-run"],
    ]

    @Test(arguments: commands) func aStoppedProcessIsExitCode4(_ command: [String]) throws {
        let result = try fixture.run(["--timeout", "50ms", "bounce"] + command, input: "A/B/C = 5\n")
        #expect(result.hasError("has not answered within 50ms", code: 4), "\(result)")
        #expect(result.errors.contains("wait longer with --timeout"))
        let isJSON = command.contains("--json")
        #expect(isJSON ? result.output.hasPrefix(#"{"ok":false,"error":{"code":"timeout","#) : result.output == "")
    }

    @Test func aLoginAtAStoppedProcessIsExitCode4() throws {
        let result = try fixture.run("--timeout", "50ms", "login", "bounce", input: "twk_secret\n")
        #expect(result.hasError("bounce did not answer whether it accepts the token; try again", code: 4), "\(result)")
    }

    @Test func aSavedTokenDoesNotExtendTheTimeout() throws {
        let login = try LoginFixture()
        try login.save()
        #expect(try login.run("--timeout", "50ms", "get", "*").hasError("not answered within 50ms", code: 4))
    }

    @Test func onlyAChangeMayStillTakeEffect() throws {
        let remark = "the command may still take effect"
        #expect(try fixture.run("--timeout", "50ms", "bounce", "A/B/C", "=", "5").errors.contains(remark))
        #expect(try !fixture.run("--timeout", "50ms", "bounce", "get", "*").errors.contains(remark))
    }

    /// A connection to a Unix socket blocks once the queue of its listener is full.
    @Test func aFullQueueOfConnectionsIsExitCode4() throws {
        let address = Address.unix(path: path)
        var waiting: [Connection] = []
        while let connection = try? Connection(address, within: 0), waiting.count < 1_000 { waiting.append(connection) }
        for words in [["bounce"], ["-s", path]] {
            let result = try fixture.run(["--timeout", "50ms"] + words + ["get", "*"])
            #expect(result.hasError("it does not accept connections", code: 4), "\(result)")
        }
        #expect(try fixture.run().output == "bounce  -  -  -  does not answer\n")
        #expect(!waiting.isEmpty)
    }

    @Test func aPeerThatDoesNotReadDoesNotBlock() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try stopped.accept()
        #expect(connection.ask(String(repeating: "x", count: 1 << 24), within: 10) == nil)
        #expect(connection.hasTimedOut && connection.hasEnded)
        try peer.close()
    }

    @Test func anAnswerMayBeExtendedWhileTheProcessAnswersOthers() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try stopped.accept()
        var asked = 0
        let answer = connection.ask(
            "run A/B/C", within: 1,
            isExtended: {
                asked += 1
                if asked == 3 { try? peer.send("ok\n") }
                return true
            })
        #expect(answer?.status == "ok" && asked >= 3 && !connection.hasTimedOut)
        #expect(connection.ask("run A/B/C", within: 1, isExtended: { false }) == nil && connection.hasTimedOut)
    }

    @Test func aProcessIsAliveIfItAnswersAnotherConnection() throws {
        let server = try fixture.server("live")
        #expect(Target(.unix(path: fixture.socket("live")), timeout: .standard).isAlive)
        server.stop()
        #expect(!Target(.unix(path: fixture.socket("live")), timeout: .standard).isAlive)
        #expect(!Target(.unix(path: path), timeout: .milliseconds(10)).isAlive)
    }

    @Test func onlyAnActionExtendsTheDefault() {
        for line in ["run A/B/C", " run A/B/C x", "\trun A/B/C"] {
            #expect(Timeout.standard.mayBeExtended(for: line.utf8), "\(line)")
        }
        for line in ["get A", "runner", "\"run\" = 5", ""] {
            #expect(!Timeout.standard.mayBeExtended(for: line.utf8), "\(line)")
        }
        #expect(!Timeout.milliseconds(10_000).mayBeExtended(for: "run A/B/C".utf8))
    }

    @Test(
        arguments: [
            ("10s", .milliseconds(10_000)), ("500ms", .milliseconds(500)), ("1m30s", .milliseconds(90_000)),
            ("off", .off),
        ] as [(String, Timeout)])
    func aTimeoutIsADuration(_ text: String, _ timeout: Timeout) throws {
        #expect(try Invocation(["--timeout", text, "get", "*"]).timeout == timeout)
        #expect(try Invocation(["get", "*", "--timeout", text]).timeout == timeout)
    }

    @Test(arguments: ["10", "0s", "-1s", "1us", "ever", "", "100000h", "9999999999999999h"])
    func anotherTextIsAUsageError(_ text: String) {
        let failure = #expect(throws: Failure.self) { try Invocation(["--timeout", text, "get", "*"]) }
        #expect(failure?.code == .usage && failure?.description.hasPrefix("--timeout") == true)
    }
}
