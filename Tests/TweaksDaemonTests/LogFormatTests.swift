// Tests the formats of the log: fields, quotes and secrets, TWEAKS_LOG, and the priorities for journald.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct LogFormatTests {
    private static let head = "time=2026-11-21T09:30:00.123Z level=info program=bounce pid=\(getpid())"

    /// What a value is in the two formats.
    @Test(arguments: [
        (JSON.string("plain"), #""plain""#, "plain"), (.string(""), #""""#, #""""#),
        (.string("two words"), #""two words""#, #""two words""#), (.string("a=b"), #""a=b""#, #""a=b""#),
        (.string("say \"hi\"\n\u{1B}[2J"), #""say \"hi\"\n\u001B[2J""#, #""say \"hi\"\n\u001B[2J""#),
        (.string("C:\\x"), #""C:\\x""#, #""C:\\x""#), (.string("é"), #""é""#, #""é""#), (.bool(true), "true", "true"),
        (.number(0.5), "0.5", "0.5"), (.count(7), "7", "7"), (.null, "null", "null"),
        (.array([.int(1), .string("a b")]), #"[1,"a b"]"#, #""[1,\"a b\"]""#),
    ])
    func aFactIsAFieldOfItsType(_ value: JSON, _ json: String, _ word: String) throws {
        let entry = LogEntry("changed", "a line", [("fact", value)])
        func line(_ format: TweakLogFormat) -> String {
            format.line(entry, level: "info", program: "bounce", at: 1_795_253_400_123)
        }
        #expect(line(.text) == "bounce: a line")
        #expect(line(.logfmt) == #"\#(Self.head) event=changed message="a line" fact=\#(word)"#)
        #expect(line(.json).hasSuffix(#","event":"changed","message":"a line","fact":\#(json)}"#), "\(line(.json))")
        let fields = try #require(JSON(line(.json)))
        #expect(fields["fact"] == value && fields["pid"] == .int(Int64(getpid())))
        #expect(fields["time"] == .string("2026-11-21T09:30:00.123Z") && fields["program"] == .string("bounce"))
    }

    @Test func eachLineOfARunHasItsTextAndItsFacts() throws {
        let fixture = try DaemonFixture()
        let daemon = try fixture.start(configText: "Content/Text/Size = 64\nContent/Text/Sise = 1\n")
        let client = try fixture.connect(daemon)
        try client.ask("Content/Text/Size = 72")
        try client.ask("Player/Audio/Token = hunter2")
        try client.ask("Content/Text/String = \(String(repeating: "é", count: 30_000))")
        // One character.
        try client.ask("Content/Text/String = e\(String(repeating: "\u{301}", count: 30_000))")
        try fixture.save("Content/Text/Size = 500\n")
        try client.ask("reload")
        fixture.stop(daemon)
        let events = fixture.events.all
        var found: [String: [JSON]] = [:]
        for event in events {
            let lines = TweakLogFormat.json.lines(of: event, program: "bounce")
            let objects = try lines.map { try #require(JSON($0), "\($0)") }
            #expect(objects.map { $0["message"]?.string } == event.lines)
            #expect(objects.allSatisfy { $0["level"]?.string == event.level.rawValue })
            for object in objects { found[object["event"]?.string ?? "", default: []].append(object) }
            let words = TweakLogFormat.logfmt.lines(of: event, program: "bounce")
            #expect(words.count == lines.count)
            #expect(!(lines + words).contains { $0.contains("hunter") || $0.utf8.count > 9_000 })
            #expect(TweakLogFormat.text.lines(of: event, program: "bounce") == event.lines.map { "bounce: \($0)" })
        }
        let by = JSON.string("uid \(geteuid())")
        let changes = try #require(found["changed"])
        #expect(changes.count == 4 && changes.allSatisfy { $0["by"] == by })
        #expect(
            changes[0].fields.dropFirst(6).map { "\($0.0)=\($0.1.text)" } == [
                #"path="Content/Text/Size""#, "old=64", "new=72", "by=\(by.text)", "revision=1",
            ])
        #expect(changes[1]["secret"] == .bool(true) && changes[1]["old"] == nil && changes[1]["new"] == nil)
        #expect(changes[2]["new"]?.string?.contains(" more … é") == true)
        #expect(found["reloaded"]?.first?["new"] == .int(64) || found["reloaded"]?.first?["new"]?.text == "64")
        #expect(found["unknown"]?.count == 1)
        let failure = try #require(found["reloadFailed"])
        #expect(failure.map { $0["code"]?.string } == ["out-of-range", nil] && failure[0]["line"] == .int(1))
        #expect(failure[1]["problems"] == .int(1) && failure.allSatisfy { $0["file"]?.string == fixture.config })
        #expect(found["sessionOpened"]?.first?["session"] == .int(1))
        #expect(found["stopping"]?.count == 1)
    }

    @Test func omittedLinesAreCountedInAField() {
        let entries = Recorder<LogEntry>()
        let limiter = TweakLogLimiter(delay: .seconds(3_600), entries: { entry, _ in entries.note(entry) })
        for _ in 0..<105 { limiter.write(count: 1, of: "uid 7", at: .now) {} }
        limiter.reportOmitted()
        #expect(entries.all.map(\.message) == ["… and 5 more lines about uid 7"])
        let line = entries.all.first.map { TweakLogFormat.logfmt.line($0, level: "info", program: "bounce", at: 0) }
        let end = #"event=omitted message="… and 5 more lines about uid 7" more=5 about="uid 7""#
        #expect(line?.hasSuffix(end) == true)
    }

    // MARK: TWEAKS_LOG

    @Test(arguments: [
        ("", TweakDaemonEvent.Level.info), ("text", .info), ("json", .info), ("logfmt", .info), ("debug", .debug),
        ("warning", .warning), ("json,debug", .debug), ("warning,logfmt", .warning), ("JSON,Info", .info),
    ])
    func aFormatAndALevelAreReadInEitherOrder(_ text: String, _ level: TweakDaemonEvent.Level) throws {
        #expect(try LogSettings(["TWEAKS_LOG": text]).level == level)
    }

    @Test(arguments: ["jsn", "json,", ",json", "json,text", "debug,info", "json debug", "error", "off"])
    func anotherValueEndsTheStart(_ text: String) throws {
        let fixture = try DaemonFixture()
        #expect(
            fixture.startError(["TWEAKS_LOG": text])
                == "TWEAKS_LOG=\(text): write a format (text, json or logfmt), a level (debug, info or warning), or "
                + "both, as in json,debug")
    }
}

/// The log of the example hello, in a file.
@Suite(.blocking, .tags(.process), .enabled(if: BuiltProgram.exists("hello"), "build hello")) struct WrittenLogTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("", to: "log")
    }

    private func environment(_ variables: [String: String]) -> [String: String] {
        BuiltProgram.environment.merging([
            "HOME": directory.path, "TWEAKS_PORT": "off", "TWEAKS_SOCKET": directory.file("hello.sock"),
            "TWEAKS_STATE_DIR": directory.file("state"),
        ]) { $1 }.merging(variables) { $1 }
    }

    /// Runs hello through a change by a client, and returns the lines of its log.
    private func run(_ variables: [String: String], file: String = "log") throws -> [String] {
        let receiver = try BoundSocket(directory.file("notify"), for: .datagrams)
        defer { unlink(directory.file("notify")) }
        let program = try RunningProgram(
            Tool.sh.path, ["-c", "exec \"$0\" 2>> \(directory.file(file))", BuiltProgram.path("hello")],
            environment: environment(variables.merging(["NOTIFY_SOCKET": receiver.address]) { $1 }), output: .dropped)
        #expect(try receiver.next().hasPrefix("READY=1"))
        let client = try TestClient(unix: directory.file("hello.sock"))
        #expect(try client.ask(#"Greeting/Text/Words = "a=\"b\" c""#).last == "ok rev 1")
        program.signal(SIGTERM)
        try #expect(program.waitForEnd() == 0)
        return try #require(directory.read(file)).split(separator: "\n").map { String($0) }
    }

    /// What `JOURNAL_STREAM` is if a file is the journal's stream.
    private func stream(_ file: String) throws -> String {
        var info = stat()
        try #require(stat(directory.file(file), &info) == 0)
        return "\(info.st_dev):\(info.st_ino)"
    }

    @Test func eachLineIsAnObject() throws {
        let lines = try run(["TWEAKS_LOG": "json,debug"])
        let objects = try lines.map { try #require(JSON($0), "\($0)") }
        let events = objects.map { $0["event"]?.string ?? "" }
        for event in ["saving", "listening", "sessionOpened", "changed", "sessionClosed", "stopping"] {
            #expect(events.contains(event), "\(events)")
        }
        let change = try #require(objects.first { $0["event"] == .string("changed") })
        #expect(change["new"] == .string("a=\"b\" c") && change["path"] == .string("Greeting/Text/Words"))
        #expect(change["level"] == .string("info") && change["program"] == .string("hello"))
        // A second reader, which is not of this package.
        guard Tool.python3.exists else { return }
        let count = "import json,sys; print(len([json.loads(line)['message'] for line in sys.stdin]))"
        #expect(try Tool.python3.run(["-c", count], input: lines.joined(separator: "\n")) == "\(lines.count)\n")
    }

    @Test func aLevelLeavesOutWhatIsLessImportant() throws {
        #expect(try run(["TWEAKS_LOG": "warning", "TWEAKS_SOKET": "x"]).count == 1)
    }

    /// A unit's standard error is the journal; a child that has redirected its own still has the variable.
    @Test(arguments: [(true, "<6>", "<4>"), (false, "", "")])
    func linesHavePrioritiesWhereTheyGoToTheJournal(
        _ isJournal: Bool, _ news: String, _ problem: String
    ) throws {
        try directory.write("", to: "other")
        let lines = try run([
            "JOURNAL_STREAM": stream(isJournal ? "log" : "other"), "TWEAKS_SOKET": "x", "TWEAKS_LOG": "text",
        ])
        #expect(lines.first?.hasPrefix("\(problem)hello: TWEAKS_SOKET is not used") == true, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("\(news)hello: Greeting/Text/Words = ") }, "\(lines)")
        #expect(lines.last == "\(news)hello: stopping")
        // What journald leaves is an object.
        try directory.write("", to: "log")
        try FileManager.default.removeItem(atPath: directory.file("state"))
        let objects = try run([
            "JOURNAL_STREAM": stream(isJournal ? "log" : "other"), "TWEAKS_SOKET": "x", "TWEAKS_LOG": "json",
        ])
        #expect(objects.first?.hasPrefix("\(problem){") == true && objects.last?.hasPrefix("\(news){") == true)
        #expect(objects.allSatisfy { JSON(String($0.dropFirst(news.count))) != nil }, "\(objects)")
    }

    @Test(arguments: [("text", "hello: TWEAKS_FROZEN=x: write 1 or 0"), ("json", #","level":"error","#)])
    func aFailedStartIsWrittenInTheFormat(_ format: String, _ expected: String) throws {
        for (isJournal, mark) in [(false, ""), (true, "<3>")] {
            try directory.write("", to: "log")
            let program = try RunningProgram(
                Tool.sh.path, ["-c", "exec \"$0\" 2> \(directory.file("log"))", BuiltProgram.path("hello")],
                environment: environment([
                    "TWEAKS_LOG": format, "TWEAKS_FROZEN": "x", "JOURNAL_STREAM": isJournal ? stream("log") : "8:1",
                ]), output: .dropped)
            try #expect(program.waitForEnd() == 1)
            let lines = try #require(directory.read("log")).split(separator: "\n")
            #expect(lines.count == 1 && lines[0].hasPrefix(mark + (format == "text" ? expected : "{")), "\(lines)")
            let object = JSON(String(lines[0].dropFirst(mark.count)))
            if format == "json" { #expect(object?["event"] == .string("failed")) }
        }
    }
}
