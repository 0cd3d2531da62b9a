// Tests that the tokens in effect follow the token file.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport
import TweaksWire

/// A token file, its monitor, and the events and tables of the monitor.
private final class TokenFileFixture: Sendable {
    let directory: TemporaryDirectory
    let monitor: TokenFileMonitor
    private let tables = Recorder<TokenTable>()
    private let recordedEvents = Recorder<TokenEvent>()

    init(after script: String = "true", by mode: DetectionMode = DetectionMode.available[0]) throws {
        directory = try TemporaryDirectory()
        try Shell.run("umask 077; \(script)", in: directory.path)
        var times = FileWatcher.Options()
        (times.poll, times.backend) = (mode.interval, mode.backend)
        monitor = TokenFileMonitor(
            path: directory.file("tokens"), watching: times,
            onChange: { [tables] in tables.note($0) }, onEvent: { [recordedEvents] in recordedEvents.note($0) })
    }

    deinit { monitor.stop() }

    var path: String { directory.file("tokens") }
    var names: [String] { monitor.table.entries.map(\.name) }
    var events: [TokenEvent] { recordedEvents.all }
    /// The names of the tokens, for each notification.
    var notified: [[String]] { tables.all.map { $0.entries.map(\.name) } }

    func run(_ script: String) throws { try Shell.run("umask 077; \(script)", in: directory.path) }

    /// Waits until these are the tokens.
    func wait(for names: [String]) throws {
        let isThere = tables.first(from: max(0, tables.all.count - 1)) { $0.entries.map(\.name) == names ? true : nil }
        if isThere == nil {
            throw WatchError.nothingCame(wanted: names.joined(separator: " "), calls: [])
        }
    }
}

@Suite(.blocking) struct TokenFileMonitorTests {
    private static func line(_ name: String, _ scopes: String = "read") -> String {
        "\(name) \(ScramVerifier(token: name).text) \(scopes)"
    }

    private static let both = "echo '\(line("a"))' > tokens; echo '\(line("b"))' >> tokens"

    @Test func theFirstReadingIsNotANotification() throws {
        let fixture = try TokenFileFixture(after: Self.both)
        #expect(fixture.names == ["a", "b"] && fixture.notified.isEmpty)
        #expect(fixture.events == [.loaded(path: fixture.path, count: 2)])
        #expect(!fixture.events[0].isProblem && fixture.events[0].description == "\(fixture.path): 2 tokens")
    }

    @Test func aMissingFileIsReported() throws {
        let fixture = try TokenFileFixture()
        #expect(fixture.names.isEmpty && fixture.notified.isEmpty)
        #expect(fixture.events == [.missing(path: fixture.path)] && fixture.events[0].isProblem)
    }

    @Test(
        arguments: [
            ("sed -i '/^a/d' tokens", ["b"]), ("rm tokens", []), (": > tokens", []), ("mv tokens away", []),
            ("grep ^b tokens > new; mv new tokens", ["b"]), ("chmod 644 tokens", []), ("rm tokens; mkdir tokens", []),
            ("mv tokens real; ln -s real tokens", []), ("chmod 777 .", []),
            ("echo '\(line("c"))' >> tokens", ["a", "b", "c"]),
            ("echo 'b oops' > new; cat tokens >> new; mv new tokens", ["a"]),
        ], DetectionMode.available)
    func theTokensFollowTheFile(_ change: (script: String, names: [String]), _ mode: DetectionMode) throws {
        #if !os(Linux)
            if change.script.contains("sed -i") { return }
        #endif
        let fixture = try TokenFileFixture(after: Self.both, by: mode)
        fixture.monitor.start()
        try fixture.run(change.script)
        // The mode of a directory is not watched.
        if change.script == "chmod 777 ." { fixture.monitor.reload() }
        try fixture.wait(for: change.names)
    }

    @Test(arguments: DetectionMode.available) func aNewFileIsNoticed(_ mode: DetectionMode) throws {
        let fixture = try TokenFileFixture(by: mode)
        fixture.monitor.start()
        try fixture.run(Self.both)
        try fixture.wait(for: ["a", "b"])
    }

    @Test func aRemovedScopeIsANotification() throws {
        let fixture = try TokenFileFixture(after: "echo '\(Self.line("a", "read write"))' > tokens")
        try fixture.run("echo '\(Self.line("a", "read"))' > tokens")
        fixture.monitor.reload()
        #expect(fixture.notified == [["a"]] && fixture.monitor.table["a"]?.scopes == [.read])
    }

    @Test func aChangeWithoutEffectIsNotANotificationAndAProblemIsReportedOnce() throws {
        let fixture = try TokenFileFixture(after: Self.both)
        for _ in 0..<3 {
            try fixture.run("echo '# a remark' >> tokens")
            for _ in 1...2 { fixture.monitor.reload() }
        }
        #expect(fixture.notified.isEmpty)
        try fixture.run("echo 'c oops' >> tokens")
        for _ in 1...2 { fixture.monitor.reload() }
        let problems = fixture.events.filter(\.isProblem).map(\.description)
        #expect(problems.first?.hasPrefix("\(fixture.path):6: ignored: c: after the name") == true)
        #expect(problems.dropFirst() == ["\(fixture.path): \(TokenText.plainOffByMistake)"])
        #expect(fixture.monitor.table.refusesPlain)
        #expect(fixture.names == ["a", "b"])
    }

    /// As while it is replaced in two steps. It has the last word, again, when it is there.
    @Test(arguments: ["mv tokens away", "rm tokens", ": > tokens", "chmod 644 tokens"])
    func plainSignInStaysOffWhileTheFileIsMissing(_ change: String) throws {
        let fixture = try TokenFileFixture(after: "\(Self.both); echo 'plain-auth off' >> tokens")
        for script in [change, "rm -f tokens"] {
            try fixture.run(script)
            fixture.monitor.reload()
            #expect(fixture.names.isEmpty && fixture.monitor.table.refusesPlain)
        }
        try fixture.run(Self.both)
        fixture.monitor.reload()
        #expect(fixture.names == ["a", "b"] && !fixture.monitor.table.refusesPlain)
        try fixture.run("rm tokens")
        fixture.monitor.reload()
        #expect(!fixture.monitor.table.refusesPlain)
    }

    /// The lines count, and are reported once for each reading.
    @Test(arguments: ["", "plain-auth off\n"]) func linesWithAHashAreReportedWithTheRemedy(_ directive: String) throws {
        let old = (1...7).map { "t\($0) sha256:\(TokenText.hexadecimal(SHA256.digest("\($0)".utf8))) read" }
        let fixture = try TokenFileFixture(after: "printf '\(directive)\(old.joined(separator: "\n"))\n' > tokens")
        fixture.monitor.reload()
        #expect(fixture.names == (1...7).map { "t\($0)" })
        #expect(fixture.monitor.table.refusesPlain == !directive.isEmpty)
        let use =
            directive.isEmpty
            ? "show the token itself to the program that listens" : "are of no use while plain-auth is off"
        let names = "(t1, t2, t3, t4, t5 and 2 more)"
        let remedy = "tweakctl token renew t1 makes a token that is never sent"
        let problems = ["\(fixture.path): lines with sha256: \(use) \(names); \(remedy)"]
        #expect(fixture.events.filter(\.isProblem).map(\.description) == problems)
    }

    @Test func theFirstTwentyProblemsAreListed() throws {
        let fixture = try TokenFileFixture(after: "for i in $(seq 50); do echo oops; done > tokens")
        #expect(fixture.events.count == 23)
        let path = fixture.path
        let last: [TokenEvent] = [.more(path: path, 30), .plainOff(path: path), .loaded(path: path, count: 0)]
        #expect(fixture.events.suffix(3) == last)
    }

    @Test func aStoppedMonitorReadsOnlyOnRequest() throws {
        let fixture = try TokenFileFixture(after: Self.both)
        for _ in 1...2 { fixture.monitor.start() }
        for _ in 1...2 { fixture.monitor.stop() }
        fixture.monitor.start()
        try fixture.run("rm tokens")
        #expect(fixture.names == ["a", "b"] && fixture.notified.isEmpty)
        fixture.monitor.reload()
        #expect(fixture.names.isEmpty)
    }

    @Test func theLastNotificationOfManyThreadsIsTheTableInEffect() throws {
        let fixture = try TokenFileFixture()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for round in 0..<50 {
                let line = Data("\(Self.line("t\(number)-\(round)"))\n".utf8)
                let temporary = fixture.path + ".\(number)"
                _ = FileManager.default.createFile(
                    atPath: temporary, contents: line, attributes: [.posixPermissions: 0o600])
                rename(temporary, fixture.path)
                fixture.monitor.reload()
            }
        }
        fixture.monitor.reload()
        #expect(fixture.notified.last == fixture.names && fixture.names.count == 1)
    }
}
