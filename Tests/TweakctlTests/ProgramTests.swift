// The program as a whole: what it prints where, and how it ends.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTerminal
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct ProgramTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    // MARK: Exit codes

    @Test func succeeds() throws {
        let server = try TestServer(hasThread: true)
        let result = try surroundings.run("-s", server.path, "Content/Text/Size", "=", "72")
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output == "Content/Text/Size = 72      # was 60\n")
        let quoted = try surroundings.run("-s", server.path, "set", "Content/Text/Font Name", "Gill \"Sans\"")
        #expect(quoted.code == 0 && server.registry["Content/Text/Font Name"]?.value == .string("Gill \"Sans\""))
    }

    @Test func isRefused() throws {
        let server = try TestServer(hasThread: true)
        let result = try surroundings.run("-s", server.path, "Content/Text/Size", "=", "500")
        #expect(result.code == 1 && result.output == "")
        #expect(result.errors == "tweakctl: out-of-range: Content/Text/Size: 500 is outside 10...100\n")
        #expect(try surroundings.run("-s", server.path, "get", "HTTP/1.1").code == 1)
        #expect(try surroundings.run("-s", server.path, "bogus").errors.hasPrefix("tweakctl: unknown-command: “bogus”"))
    }

    @Test(arguments: [["--bogus"], ["-s"], ["-H", "x"], ["completions"], ["completions", "tcsh"]])
    func isMisused(_ arguments: [String]) throws {
        let process = try surroundings.start(arguments)
        process.endInput()
        let result = try process.result()
        #expect(result.code == 2 && result.output == "" && result.errors.hasPrefix("tweakctl: "))
    }

    @Test func cannotConnect() throws {
        let gone = try surroundings.run("-s", surroundings.directory.file("none"), "ls")
        #expect(gone.code == 3 && gone.errors.contains("/none: No such file or directory; tweakctl alone lists"))
        let nobody = try surroundings.run("bounce", "ls")
        #expect(
            nobody.code == 3 && nobody.errors.contains("“bounce” is not running; no process of yours offers tweaks in"))
        #expect(try surroundings.run("ls").code == 3)
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        #expect(
            try surroundings.run("bonce", "ls").errors == "tweakctl: “bonce” is not running; did you mean bounce?\n")
    }

    @Test func byTCP() throws {
        let server = try TestServer(hasThread: true)
        let result = try surroundings.run(
            "-H", "127.0.0.1:\(try #require(server.server.port))", "get", "Content/Text/Size")
        #expect(result.code == 0 && result.output.hasPrefix("Content/Text/Size = 60 "))
    }

    @Test func hangsUp() throws {
        let path = surroundings.directory.file("fake")
        let server = try FakeServer(path)
        let process = try surroundings.start(["-s", path, "get", "*"])
        let peer = try server.accepted()
        try peer.answer("get *", "A/B/C = \u{1B}[2J5")
        try peer.close()
        let result = try process.result()
        #expect(result.code == 3 && result.errors.contains("has ended the connection without an answer"))
    }

    @Test func filtersWhatStrangersSend() throws {
        let path = surroundings.directory.file("fake")
        let server = try FakeServer(path)
        let process = try surroundings.start(["-s", path, "get", "*"])
        try server.accepted().answer("get *", "A/B/C = \u{1B}[2J\u{202E}5", "error x \u{9B}evil")
        let result = try process.result()
        #expect(result.output == "A/B/C = \u{FFFD}[2J\u{FFFD}5\n" && result.errors == "tweakctl: x: \u{FFFD}evil\n")
    }

    // MARK: Names

    @Test func nameMayBeLeftOut() throws {
        let server = try surroundings.server("bounce")
        #expect(try surroundings.run("get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 60"))
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").code == 0)
        // A process with the name of a command.
        let other = try surroundings.server("hello")
        #expect(try surroundings.run("hello", "get", "Content/Text/Size").code == 0)
        let result = try surroundings.run("get", "*")
        #expect(result.code == 2)
        #expect(result.errors == "tweakctl: several processes offer tweaks; name one of them: bounce, hello\n")
        server.stop()
        other.stop()
    }

    /// Without a name, the one that `TWEAKS_SOCKET` names is meant, wherever it is and whoever else runs.
    @Test func theSocketOfTheEnvironment() throws {
        let path = surroundings.directory.file("elsewhere.sock")
        let elsewhere = TweakServer(
            name: "elsewhere", registry: ExampleTweaks().registry, listeners: [.unix(path: path)])
        try elsewhere.start()
        let servers = [elsewhere, try surroundings.server("bounce"), try surroundings.server("throttled")]
        surroundings.variables.withLock { $0["TWEAKS_SOCKET"] = path }
        #expect(try surroundings.run("hello", "1").output.contains("name: elsewhere"))
        #expect(try surroundings.run("bounce", "hello", "1").output.contains("name: bounce"))
        #expect(try surroundings.run("elsewhere", "ping").code == 0)
        #expect(try surroundings.run().output.contains("elsewhere"))
        surroundings.variables.withLock { $0["TWEAKS_SOCKET"] = "off" }
        #expect(try surroundings.run("hello", "1").code == 2)
        for server in servers { server.stop() }
        surroundings.variables.withLock { $0["TWEAKS_SOCKET"] = path }
        let gone = try surroundings.run("hello", "1")
        #expect(gone.code == 3 && gone.errors.contains(path))
    }

    @Test func secondInstance() throws {
        let server = try surroundings.server("bounce-4711")
        defer { server.stop() }
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").code == 0)
    }

    /// Another user has made the directory that ours has: the daemon starts all the same, and is found.
    @Test(.enabled(if: geteuid() == 0, "run as root")) func theDirectoryIsAnothers() throws {
        let usual = surroundings.directory.file("tweaks-0")
        try FileManager.default.createDirectory(atPath: usual, withIntermediateDirectories: false)
        chown(usual, 65_534, 65_534)
        // One that looks like ours, and is not.
        let trap = surroundings.directory.file("tweaks-0-a")
        try FileManager.default.createDirectory(atPath: trap, withIntermediateDirectories: false)
        chown(trap, 65_534, 65_534)
        surroundings.variables.withLock { $0["XDG_RUNTIME_DIR"] = "" }
        let environment = ["TMPDIR": surroundings.directory.path, "TWEAKS_STATE_DIR": "off"]
        let log = LogLines()
        func started(_ name: String) throws -> TweakDaemon {
            var configuration = TweakDaemon.Configuration.test(ExampleTweaks().registry, environment)
            configuration.onEvent = { for line in $0.lines { log.add(line) } }
            return try TweakDaemon.start(name, configuration)
        }
        let daemons = [try started("bounce"), try started("patient")]
        let directories = Set(
            daemons.map { URL(fileURLWithPath: $0.socketPath ?? "").deletingLastPathComponent().path })
        // The same one each time, or they would become many.
        #expect(
            directories.count == 1 && directories.first?.hasPrefix(usual + "-") == true && directories.first != trap)
        #expect(log.all.contains { $0.contains("\(usual) belongs to uid 65534; the socket is in \(usual)-") })
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 60"))
        for daemon in daemons { daemon.stop() }
    }

    // MARK: Scripts

    @Test func runsScripts() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let script =
            "\n# a comment\nbogus\nContent/Text/Size = 500\r\nok rev 3\nContent/Text/Size = 72\nget Content/Text/Size"
        for arguments in [["bounce"], ["bounce", "-"], ["-"], ["repl"]] {
            let process = try surroundings.start(arguments)
            process.type(script)
            process.endInput()
            let result = try process.result()
            #expect(result.code == 1, "\(arguments)")
            #expect(
                result.output.splitLines().suffix(2).first?.hasPrefix("Content/Text/Size = 72      # number") == true)
            #expect(
                result.errors.splitLines().dropLast() == [
                    "tweakctl: line 3: unknown-command: “bogus” is not a command; type help",
                    "tweakctl: line 4: out-of-range: Content/Text/Size: 500 is outside 10...100",
                ])
        }
    }

    /// It ends where it says so, and what is behind that is not done.
    @Test(arguments: ["quit", " quit\r", "quit "]) func scriptsMayQuit(_ quit: String) throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let script = "Content/Text/Size = 72\n\(quit)\nContent/Text/Size = 73\nbogus\n"
        let result = try surroundings.run("bounce", "-", input: script)
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 72 "))
        let refused = try surroundings.run("bounce", "-", input: "bogus\nquit")
        #expect(refused.code == 1 && refused.errors.hasPrefix("tweakctl: line 1: unknown-command"))
    }

    @Test func exportsReadBack() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let export = try surroundings.run("bounce", "export").output
        let result = try surroundings.run("bounce", input: export)
        #expect(result.code == 0 && result.errors == "" && export.splitLines().count > 5)
    }

    @Test func answersAsLinesCome() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let process = try surroundings.start(["bounce", "-"])
        for size in 61...64 {
            process.type("Content/Text/Size = \(size)\n")
            try process.lines(through: "Content/Text/Size = \(size)")
        }
        process.endInput()
        #expect(try process.result().code == 0)
    }

    @Test func longScript() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        // More than sockets and pipes hold, both ways.
        let path = surroundings.directory.file("script")
        try String(repeating: "get Content\n", count: 20_000).write(toFile: path, atomically: true, encoding: .utf8)
        let output = try Tool.sh.run(
            ["-c", "\(shellEnvironment) \(Surroundings.executable.path) bounce - < \(path) | wc -l"], input: "")
        #expect(output.filter(\.isNumber) == "120000")
    }

    private var shellEnvironment: String {
        surroundings.environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    }

    @Test func readerThatLeaves() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let command =
            "yes 'get *' | \(shellEnvironment) \(Surroundings.executable.path) bounce - | head -1"
        #expect(try Tool.sh.run(["-c", command], input: "").hasPrefix("Content/Text/Size = 60"))
    }

    /// The pipe is full of answers that nobody reads; a script in a file is done all the same.
    @Test func readerThatLeavesAScript() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let path = surroundings.directory.file("script")
        let script = String(repeating: "get *\n", count: 5_000) + "Content/Text/Size = 72\n"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        _ = try shell("\(program) bounce - < \(path) | head -1")
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 72 "))
    }

    private var program: String { "env \(shellEnvironment) \(Surroundings.executable.path)" }

    private func shell(_ command: String) throws -> String { try Tool.sh.run(["-c", command], input: "") }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))) func outputThatCannotBeWritten() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let reason = "tweakctl: standard output: No space left on device; what was to be printed is not complete, "
        #expect(try shell("\(program) bounce export 2>&1 >/dev/full; echo $?").hasPrefix(reason))
        // Said once; what comes behind it is done.
        let said = try shell(
            "printf 'get *\\nContent/Text/Size = 72\\nget *\\n' | \(program) bounce - 2>&1 >/dev/full; echo $?")
        #expect(said.hasPrefix(reason) && said.splitLines().dropFirst() == ["1", ""])
        #expect(try surroundings.run("bounce", "get", "Content/Text/Size").output.hasPrefix("Content/Text/Size = 72 "))
    }

    /// What is printed must not go to the process, in the place of a stream that is closed.
    @Test(arguments: [">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"]) func streamsThatAreClosed(_ streams: String) throws {
        let server = try TestServer(hasThread: true)
        for command in ["export", "get '*'", "watch Content", "bogus"] {
            let code = try shell("\(program) -s \(server.path) \(command) \(streams) >&-; echo $?")
            #expect(code == (command == "bogus" ? "1\n" : "0\n"))
        }
        #expect(server.registry.revision == 0)
    }

    @Test func inputThatCannotBeRead() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let said = try shell("\(program) bounce - 2>&1 </; echo $?")
        #expect(said == "tweakctl: standard input: Is a directory; nothing behind line 0 was sent\n1\n")
    }

    /// Who is not let in at all is told why, whatever was wanted.
    @Test(arguments: [
        ["get", "A/B/C"], ["--json", "get", "A/B/C"], ["watch", "A"], ["--json", "watch", "A"], ["-"],
        ["--json", "-"], ["repl"],
    ])
    func whoIsNotLetIn(_ arguments: [String]) throws {
        let path = surroundings.directory.file("fake")
        let server = try FakeServer(path)
        let process = try surroundings.start(["-s", path] + arguments)
        process.type("get A/B/C\n")
        process.endInput()
        let peer = try server.accepted()
        _ = try peer.line()
        try peer.say("error denied uid 7 is not the user of this process\n")
        try peer.close()
        let result = try process.result()
        #expect(
            result.code == 1 && result.errors.contains("denied: uid 7 is not the user of this process"), "\(result)")
        #expect(result.output == "")
    }

    // MARK: JSON

    @Test func json() throws {
        let server = try surroundings.server("bounce")
        defer { server.stop() }
        let result = try surroundings.run("bounce", "get", "Content/Text/Size", "--json")
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("{\"ok\":true,\"rev\":0,\"tweaks\":[{\"path\":\"Content/Text/Size\""))
        let refused = try surroundings.run("--json", "bounce", "get", "x/y/z")
        #expect(refused.code == 1 && refused.errors == "")
        #expect(refused.output.hasPrefix("{\"ok\":false,\"error\":{\"code\":\"unknown-tweak\""))
        let script = try surroundings.run("bounce", "--json", input: "ping\nbogus\nls\n")
        let objects = try script.output.splitLines().dropLast().map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(script.code == 1 && objects.map { $0?["ok"] as? Bool } == [true, false, true])
    }

    // MARK: Without a process

    @Test func helpNamesEverything() throws {
        let help = try surroundings.run("--help").output
        for command in Command.all { #expect(help.contains("  \(command.synopsis) ")) }
        for option in Invocation.options { #expect(help.contains(option.summary)) }
        #expect(try surroundings.run("--version").output.hasPrefix("tweakctl "))
    }
}
