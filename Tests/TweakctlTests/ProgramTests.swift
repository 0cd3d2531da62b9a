// Tests of tweakctl as a process: its output and its exit codes.

import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct ProgramTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    /// Starts tweakctl with the socket of a server that the test answers for, and accepts its connection.
    private func fake(_ arguments: String..., input: String? = nil) throws -> (TweakctlProcess, FakePeer) {
        let server = try FakeServer(fixture.directory.file("fake"))
        let process = try fixture.start(["-s", server.address] + arguments, input: input)
        return (process, try server.accept())
    }

    /// A value of the process `bounce`.
    private func size() throws -> Substring? {
        let words = try fixture.run("bounce", "get", "Content/Text/Size").output.split(separator: " ")
        return words.starts(with: ["Content/Text/Size", "="]) ? words[2] : nil
    }

    @Test func aChangeIsPrintedWithExitCode0() throws {
        let server = try TestServer(hasThread: true)
        #expect(
            try fixture.run("-s", server.path, "Content/Text/Size", "=", "72")
                == .init(output: "Content/Text/Size = 72      # was 60\n"))
        #expect(try fixture.run("-s", server.path, "set", "Content/Text/Font Name", "Gill \"Sans\"").code == 0)
        #expect(server.registry["Content/Text/Font Name"]?.value == .string("Gill \"Sans\""))
        let port = try #require(server.server.port)
        let overTCP = try fixture.run("-H", "127.0.0.1:\(port)", "get", "Content/Text/Size")
        #expect(overTCP.code == 0 && overTCP.output.hasPrefix("Content/Text/Size = 72 "))
    }

    @Test func aRefusalIsPrintedWithExitCode1() throws {
        let server = try TestServer(hasThread: true)
        #expect(
            try fixture.run("-s", server.path, "Content/Text/Size", "=", "500")
                == .init(code: 1, errors: "tweakctl: out-of-range: Content/Text/Size: 500 is outside 10...100\n"))
        #expect(try fixture.run("-s", server.path, "get", "HTTP/1.1").code == 1)
        #expect(try fixture.run("-s", server.path, "bogus").errors.hasPrefix("tweakctl: unknown-command: “bogus”"))
    }

    @Test(arguments: [["--bogus"], ["-s"], ["-H", "x"], ["completions"], ["completions", "tcsh"]])
    func aUsageErrorIsExitCode2(_ arguments: [String]) throws {
        let result = try fixture.run(arguments)
        #expect(result.code == 2 && result.output == "" && result.errors.hasPrefix("tweakctl: "))
    }

    @Test func aMissingProcessIsExitCode3() throws {
        let gone = try fixture.run("-s", fixture.directory.file("none"), "ls")
        #expect(gone.hasError("/none: No such file or directory; tweakctl without arguments", code: 3))
        let missing = try fixture.run("bounce", "ls")
        #expect(missing.hasError("“bounce” is not running; no process of yours offers tweaks in", code: 3))
        #expect(try fixture.run("ls").code == 3)
        try fixture.server("bounce")
        #expect(try fixture.run("bonce", "ls").errors == "tweakctl: “bonce” is not running; did you mean bounce?\n")
    }

    @Test func aConnectionThatEndsEarlyIsExitCode3() throws {
        let (process, peer) = try fake("get", "*")
        try peer.answer("get *", "A/B/C = \u{1B}[2J5")
        try peer.close()
        #expect(try process.result().hasError("has ended the connection without an answer; try again", code: 3))
    }

    @Test func aChangeWithoutAnAnswerMayHaveTakenEffect() throws {
        let (process, peer) = try fake("set", "A/B/C", "5")
        _ = try peer.line()
        try peer.close()
        let text = "without an answer; the command may have taken effect: look before you repeat it"
        #expect(try process.result().hasError(text, code: 3))
    }

    @Test func controlCharactersOfAServerAreReplaced() throws {
        let (process, peer) = try fake("get", "*")
        try peer.answer("get *", "A/B/C = \u{1B}[2J\u{202E}5", "error x \u{9B}evil")
        let result = try process.result()
        #expect(result.output == "A/B/C = \u{FFFD}[2J\u{FFFD}5\n" && result.errors == "tweakctl: x: \u{FFFD}evil\n")
    }

    /// Whether the first request is a command, a greeting or a choice of JSON.
    @Test(arguments: [
        ["get", "A/B/C"], ["--json", "get", "A/B/C"], ["watch", "A"], ["--json", "watch", "A"], ["-"],
        ["--json", "-"], ["repl"],
    ])
    func aDeniedConnectionIsReported(_ arguments: [String]) throws {
        let server = try FakeServer(fixture.directory.file("fake"))
        let process = try fixture.start(["-s", server.address] + arguments, input: "get A/B/C\n")
        let peer = try server.accept()
        _ = try peer.line()
        try peer.send("error denied uid 7 is not the user of this process\n")
        try peer.close()
        let result = try process.result()
        let isJSON = arguments.contains("--json")
        #expect(isJSON ? result.output.hasPrefix(#"{"ok":false,"error":{"#) : result.output == "", "\(result)")
        #expect(result.code == 1)
        #expect(result.errors.contains("denied: uid 7 is not the user of this process"), "\(result)")
    }

    @Test func theNameOfTheOnlyProcessIsOptional() throws {
        let get = ["get", "Content/Text/Size"]
        try fixture.server("bounce")
        #expect(try fixture.run(get).output.hasPrefix("Content/Text/Size = 60"))
        #expect(try fixture.run(["bounce"] + get).code == 0)
        // A process with the name of a command.
        try fixture.server("hello")
        #expect(try fixture.run(["hello"] + get).code == 0)
        #expect(
            try fixture.run("get", "*")
                == .init(
                    code: 2, errors: "tweakctl: several processes offer tweaks; name one of them: bounce, hello\n"))
    }

    @Test func theSocketOfTheEnvironmentIsTheDefault() throws {
        let path = fixture.directory.file("elsewhere.sock")
        let servers = [
            try fixture.server("elsewhere", path: path), try fixture.server("bounce"), try fixture.server("throttled"),
        ]
        fixture.variables.withLock { $0["TWEAKS_SOCKET"] = path }
        #expect(try fixture.run("hello", "1").output.contains("name: elsewhere"))
        #expect(try fixture.run("bounce", "hello", "1").output.contains("name: bounce"))
        #expect(try fixture.run("elsewhere", "ping").code == 0)
        #expect(try fixture.run().output.contains("elsewhere"))
        fixture.variables.withLock { $0["TWEAKS_SOCKET"] = "off" }
        #expect(try fixture.run("hello", "1").code == 2)
        for server in servers { server.stop() }
        fixture.variables.withLock { $0["TWEAKS_SOCKET"] = path }
        let gone = try fixture.run("hello", "1")
        #expect(gone.code == 3 && gone.errors.contains(path))
    }

    @Test func aSecondInstanceIsFoundByTheName() throws {
        try fixture.server("bounce-4711")
        #expect(try size() == "60")
    }

    /// A process takes precedence over a command of the same name, whether its first instance runs or not.
    @Test(arguments: ["hello", "get", "set", "ping", "watch", "repl", "import"])
    func aSecondInstanceMayHaveTheNameOfACommand(_ name: String) throws {
        let get = ["get", "Content/Text/Size"]
        try fixture.server("bounce")
        // Its socket remains after a crash.
        let stale = try FakeServer(fixture.socket("\(name)-1"), isListening: false)
        let server = try fixture.server("\(name)-4711")
        #expect(try fixture.run([name, "hello", "1"]).output.contains("name: \(name)-4711\n"))
        #expect(try fixture.run([name] + get).output.hasPrefix("Content/Text/Size = 60"))
        #expect(!FileManager.default.fileExists(atPath: stale.address))
        try fixture.server("\(name)-4712")
        let several = try fixture.run([name] + get)
        #expect(
            several.hasError("\(name) runs several times; name one of them: \(name)-4711, \(name)-4712", code: 2))
        server.stop()
        #expect(try fixture.run([name] + get).code == 0)
    }

    @Test func tweakctlsOwnCommandsTakePrecedenceOverAProcess() throws {
        try fixture.server("man")
        try fixture.server("token-4711")
        #expect(try fixture.run("man").output.hasPrefix(".\\\""))
        #expect(try fixture.run("token").output.hasPrefix("tweakctl token new"))
        #expect(try fixture.run("-s", fixture.socket("man"), "get", "Content/Text/Size").code == 0)
    }

    /// Their working directories differ.
    @Test func daemonAndClientIgnoreARelativeDirectory() throws {
        let name = "relative-\(UInt32.random(in: 0 ... .max))-x"
        let relative = ["TMPDIR": "tmp", "XDG_RUNTIME_DIR": "run"]
        let daemon = try fixture.daemon(name, environment: relative.merging(["TWEAKS_STATE_DIR": "off"]) { $1 })
        #expect(daemon.socketPath?.hasPrefix("/tmp/tweaks-\(geteuid())") == true)
        fixture.variables.withLock { $0.merge(relative.merging(["TWEAKS_TMPDIR": ""]) { $1 }) { $1 } }
        #expect(try fixture.run(name, "get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 60"))
    }

    /// If another user has created the usual directory, the daemon uses another one, which tweakctl finds.
    @Test(.enabled(if: geteuid() == 0, "run as root")) func aRunDirectoryOfAnotherUserIsNotUsed() throws {
        // The second one looks like the daemon's, but belongs to the other user, too.
        let (usual, trap) = (fixture.directory.file("tweaks-0"), fixture.directory.file("tweaks-0-a"))
        for path in [usual, trap] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            chown(path, 65_534, 65_534)
        }
        fixture.variables.withLock { $0["XDG_RUNTIME_DIR"] = "" }
        let environment = ["TMPDIR": fixture.directory.path, "TWEAKS_STATE_DIR": "off"]
        let log = LogLines()
        let paths = try ["bounce", "patient"].map { name in
            let daemon = try fixture.daemon(name, environment: environment) {
                $0.onEvent = { for line in $0.lines { log.note(line) } }
            }
            return URL(fileURLWithPath: daemon.socketPath ?? "").deletingLastPathComponent().path
        }
        // Both daemons use the same one: directories must not accumulate.
        #expect(paths[0] == paths[1] && paths[0].hasPrefix(usual + "-") && paths[0] != trap)
        #expect(log.all.contains { $0.contains("\(usual) belongs to uid 65534; the socket is in \(usual)-") })
        #expect(try size() == "60")
    }

    /// The path of a socket has at most about a hundred bytes.
    @Test func aDaemonThatCouldNotUseItsRuntimeDirectoryIsFound() throws {
        let long = fixture.directory.file(String(repeating: "x", count: 120))
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: false)
        fixture.variables.withLock { ($0["XDG_RUNTIME_DIR"], $0["TMPDIR"]) = (long, fixture.directory.path) }
        let environment = ["XDG_RUNTIME_DIR": long, "TMPDIR": fixture.directory.path, "TWEAKS_STATE_DIR": "off"]
        let daemon = try fixture.daemon("bounce", environment: environment)
        #expect(daemon.socketPath == fixture.directory.file("tweaks-\(geteuid())/bounce.sock"))
        #expect(try size() == "60")
        #expect(try fixture.run("bounce", "get", "Content/Text/Size").code == 0)
    }

    /// Where the output is no terminal, what was done is told on standard error: standard output has values alone.
    @Test func aChangeSaysWhatItDid() throws {
        let config = fixture.directory.file("bounce.conf")
        try "Content/Text/Fade = 1s\n".write(toFile: config, atomically: true, encoding: .utf8)
        let state = fixture.directory.file("state")
        let environment = [
            "XDG_RUNTIME_DIR": fixture.directory.file("run"), "HOME": "/nonexistent", "LANG": "C",
            "TWEAKS_CONFIG": config, "TWEAKS_STATE_DIR": state,
        ]
        _ = try fixture.daemon("bounce", environment: environment)
        let cases = [
            ("Content/Text/Size = 72", ""), ("Content/Text/Size = 72", "unchanged: it has that value already"),
            ("reset Content/Text/Color", "unchanged: there is no override to remove"),
            ("reload", "unchanged: the config file sets the same values"),
            ("reload dry", "a reload would change nothing"),
            ("save warm", "saved warm, 1 tweak"), ("Content/Text/Fade = 2s", ""),
            ("swap warm", "swapped to warm; swap warm goes back"), ("swap warm", "back from warm"),
            ("undo", "undid "), ("delete warm", "deleted warm"), ("get Content", ""),
            ("history", ""),
        ]
        for (line, remark) in cases {
            let result = try fixture.run(["bounce"] + line.split(separator: " ").map { String($0) })
            let isTold = remark.isEmpty ? result.errors == "" : result.errors.hasPrefix("tweakctl: \(remark)")
            #expect(result.code == 0 && isTold, "\(line): \(result.errors)")
        }
    }

    /// A preview ends with its connection.
    @Test func aPreviewOfOneCommandIsRefusedUnlessItIsDry() throws {
        try fixture.server("bounce")
        for words in [["preview", "Content"], ["preview"], ["preview", "off"]] {
            let refused = try fixture.run(["bounce"] + words)
            #expect(refused.hasError("preview: it would end with this command; type it in tweakctl NAME repl", code: 2))
        }
        _ = try fixture.run("bounce", "Content/Text/Size = 72")
        let dry = try fixture.run("bounce", "preview", "dry", "Content")
        #expect(dry.code == 0 && dry.output.hasPrefix("Content/Text/Size = 60"), "\(dry)")
        #expect(dry.errors == "tweakctl: nothing has changed\n", "\(dry)")
    }

    /// A path, or the beginning of one, is shown.
    @Test(arguments: ["Content/Text/Size", "Content/Text/", "**/Size"]) func aPathAloneIsAGet(_ path: String) throws {
        try fixture.server("bounce")
        let got = try fixture.run("bounce", "get", path)
        #expect(try got.code == 0 && fixture.run("bounce", path) == got && fixture.run(path) == got)
    }

    private static let script =
        "\n# a comment\nbogus\nContent/Text/Size = 500\r\nok rev 3\nContent/Text/Size = 72\nget Content/Text/Size"

    @Test(arguments: [["bounce"], ["bounce", "-"], ["-"], ["repl"]])
    func aScriptEndsAtTheFirstError(_ arguments: [String]) throws {
        try fixture.server("bounce")
        let result = try fixture.run(arguments, input: "Content/Text/Size = 61\n" + Self.script)
        #expect(result.code == 1)
        #expect(
            result.errors.splitLines().dropLast() == [
                "tweakctl: line 4: unknown-command: “bogus” is not a command; type help",
                "tweakctl: stopped at line 4; no later line was sent; --keep-going sends them all",
            ])
        #expect(try size() == "61")
    }

    @Test func aScriptThatEndsWithAnErrorIsNotStopped() throws {
        try fixture.server("bounce")
        let result = try fixture.run("-", input: "bogus")
        #expect(result.code == 1 && result.errors.splitLines().count == 2, "\(result)")
    }

    @Test(arguments: [["bounce", "--keep-going"], ["bounce", "-", "--keep-going"], ["--keep-going", "repl"]])
    func aScriptThatKeepsGoingRunsToItsEnd(_ arguments: [String]) throws {
        try fixture.server("bounce")
        let result = try fixture.run(arguments, input: Self.script)
        #expect(result.code == 1)
        #expect(result.output.splitLines().suffix(2).first?.hasPrefix("Content/Text/Size = 72      # number") == true)
        #expect(
            result.errors.splitLines().dropLast() == [
                "tweakctl: line 3: unknown-command: “bogus” is not a command; type help",
                "tweakctl: line 4: out-of-range: Content/Text/Size: 500 is outside 10...100",
            ])
    }

    @Test func onlyAScriptKeepsGoing() throws {
        try fixture.server("bounce")
        #expect(try fixture.run("bounce", "--keep-going", "get", "*").hasError("--keep-going is for a script", code: 2))
    }

    @Test(arguments: ["quit", " quit\r", "quit "]) func quitEndsAScript(_ quit: String) throws {
        try fixture.server("bounce")
        let script = "Content/Text/Size = 72\n\(quit)\nContent/Text/Size = 73\nbogus\n"
        let result = try fixture.run("bounce", "-", input: script)
        #expect(try result.code == 0 && result.errors == "" && size() == "72", "\(result)")
        let refused = try fixture.run("bounce", "-", input: "bogus\nquit")
        #expect(refused.code == 1 && refused.errors.hasPrefix("tweakctl: line 1: unknown-command"))
    }

    @Test func anExportIsAScript() throws {
        try fixture.server("bounce")
        let export = try fixture.run("bounce", "export").output
        let result = try fixture.run("bounce", input: export)
        #expect(result.code == 0 && result.errors == "" && export.splitLines().count > 5)
    }

    @Test func eachLineOfAScriptIsAnsweredAsItArrives() throws {
        try fixture.server("bounce")
        let process = try fixture.start(["bounce", "-"])
        for size in 61...64 {
            process.type("Content/Text/Size = \(size)\n")
            try process.lines(through: "Content/Text/Size = \(size)")
        }
        process.endInput()
        #expect(try process.result().code == 0)
    }

    /// Sockets and pipes hold less than this, in both directions.
    @Test(.tags(.quantity)) func aLongScriptIsAnsweredCompletely() throws {
        try fixture.server("bounce")
        let path = fixture.directory.file("script")
        let (rounds, line) = (quantity(20_000), "get Content # \(String(repeating: "x", count: 200))\n")
        try String(repeating: line, count: rounds).write(toFile: path, atomically: true, encoding: .utf8)
        let count = try fixture.shell("\(fixture.command()) bounce - --keep-going < \(path) | wc -l")
        #expect(count.filter(\.isNumber) == "\(6 * rounds)")
    }

    /// A script in a file is executed to its end all the same.
    @Test func anEndlessScriptEndsWithTheReaderOfTheOutput() throws {
        try fixture.server("bounce")
        let output = try fixture.shell("yes 'get *' | \(fixture.command()) bounce - | head -1")
        #expect(output.hasPrefix("Content/Text/Size = 60"))
        let path = fixture.directory.file("script")
        let script = String(repeating: "get *\n", count: 1_000) + "Content/Text/Size = 72\n"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        _ = try fixture.shell("\(fixture.command()) bounce - --keep-going < \(path) | head -1")
        #expect(try size() == "72")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))) func aFullOutputIsReportedOnce() throws {
        try fixture.server("bounce")
        let reason = "tweakctl: standard output: No space left on device; the output is incomplete; "
        #expect(try fixture.shell("\(fixture.command()) bounce export 2>&1 >/dev/full; echo $?").hasPrefix(reason))
        let input = "printf 'get *\\nContent/Text/Size = 72\\nget *\\n'"
        let errors = try fixture.shell("\(input) | \(fixture.command()) bounce - 2>&1 >/dev/full; echo $?")
        #expect(errors.hasPrefix(reason) && errors.splitLines().dropFirst() == ["1", ""])
        #expect(try size() == "72")
    }

    @Test func anUnreadableInputIsReported() throws {
        try fixture.server("bounce")
        #expect(
            try fixture.shell("\(fixture.command()) bounce - 2>&1 </; echo $?")
                == "tweakctl: standard input: Is a directory; no line after line 0 was sent\n1\n")
    }

    /// The socket must not take the descriptor of a closed stream: the output would go to the server.
    @Test(arguments: [">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"]) func streamsMayBeClosed(_ streams: String) throws {
        let server = try TestServer(hasThread: true)
        for command in ["export", "get '*'", "watch Content", "bogus"] {
            let code = try fixture.shell("\(fixture.command()) -s \(server.path) \(command) \(streams) >&-; echo $?")
            #expect(code == (command == "bogus" ? "1\n" : "0\n"))
        }
        #expect(server.registry.revision == 0)
    }

    @Test func repliesAndRefusalsArePrintedAsJSON() throws {
        try fixture.server("bounce")
        let result = try fixture.run("bounce", "get", "Content/Text/Size", "--json")
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("{\"ok\":true,\"rev\":0,\"tweaks\":[{\"path\":\"Content/Text/Size\""))
        let refused = try fixture.run("--json", "bounce", "get", "x/y/z")
        #expect(refused.code == 1 && refused.errors == "")
        #expect(refused.output.hasPrefix("{\"ok\":false,\"error\":{\"code\":\"unknown-tweak\""))
        let script = try fixture.run("bounce", "--json", "--keep-going", input: "ping\nbogus\nls\n")
        let objects = try script.output.splitLines().dropLast().map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(script.code == 1 && objects.map { $0?["ok"] as? Bool } == [true, false, true])
    }

    @Test func helpNamesEveryCommandAndOption() throws {
        let help = try fixture.run("--help").output
        for command in Command.all { #expect(help.contains("  \(command.synopsis) ")) }
        for option in Invocation.options { #expect(help.contains(option.summary)) }
        #expect(try fixture.run("--version").output.hasPrefix("tweakctl "))
    }
}
