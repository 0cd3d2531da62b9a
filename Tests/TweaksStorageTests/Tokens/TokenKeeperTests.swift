// The tokens of a file follow the file, whatever becomes of it.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport
import TweaksWire

/// A token file, its keeper, and what that has said.
private final class KeptTokens: Sendable {
    let directory: TemporaryDirectory
    let keeper: TokenKeeper
    private let record: Record

    private final class Record: Sendable {
        let tables = Mutex<[TokenTable]>([])
        let events = Mutex<[TokenEvent]>([])
        let arrival = DispatchSemaphore(value: 0)
    }

    init(after script: String = "true", by way: Way = Way.available[0]) throws {
        let (directory, record) = (try TemporaryDirectory(), Record())
        (self.directory, self.record) = (directory, record)
        try Shell.run("umask 077; \(script)", in: directory.path)
        var times = TokenKeeper.WatchTimes()
        (times.poll, times.backend) = (way.interval, way.backend)
        keeper = TokenKeeper(
            path: directory.file("tokens"), watching: times,
            onChange: { table in
                record.tables.withLock { $0.append(table) }
                record.arrival.signal()
            },
            onEvent: { event in record.events.withLock { $0.append(event) } })
    }

    deinit { keeper.stop() }

    var path: String { directory.file("tokens") }
    var names: [String] { keeper.table.entries.map(\.name) }
    var events: [TokenEvent] { record.events.withLock { $0 } }
    var told: [[String]] { record.tables.withLock { $0.map { $0.entries.map(\.name) } } }

    func run(_ script: String) throws { try Shell.run("umask 077; \(script)", in: directory.path) }

    /// Waits until these are the tokens.
    func wait(for names: [String]) throws {
        while told.last != names {
            if record.arrival.wait(timeout: .patience) == .timedOut {
                throw WatchError.nothingCame(wanted: names.joined(separator: " "), calls: [])
            }
        }
    }
}

@Suite(.blocking) struct TokenKeeperTests {
    private static func line(_ name: String, _ scopes: String = "read") -> String {
        "\(name) \(ScramVerifier(token: name).text) \(scopes)"
    }

    private static let both = "echo '\(line("a"))' > tokens; echo '\(line("b"))' >> tokens"

    /// The first reading is told to nobody; it is there.
    @Test func beginning() throws {
        let kept = try KeptTokens(after: Self.both)
        #expect(kept.names == ["a", "b"])
        #expect(kept.told.isEmpty)
        #expect(kept.events == [.taken(path: kept.path, count: 2)])
        #expect(!kept.events[0].isProblem && kept.events[0].description == "\(kept.path): 2 tokens")
    }

    @Test func nothingThere() throws {
        let kept = try KeptTokens()
        #expect(kept.names.isEmpty && kept.told.isEmpty)
        #expect(kept.events == [.missing(path: kept.path)] && kept.events[0].isProblem)
    }

    /// How it changes, what is left.
    @Test(
        arguments: [
            ("sed -i '/^a/d' tokens", ["b"]), ("rm tokens", []), (": > tokens", []), ("mv tokens away", []),
            ("grep ^b tokens > new; mv new tokens", ["b"]), ("chmod 644 tokens", []), ("rm tokens; mkdir tokens", []),
            ("mv tokens real; ln -s real tokens", []), ("chmod 777 .", []),
            ("echo '\(line("c"))' >> tokens", ["a", "b", "c"]),
            ("echo 'b oops' > new; cat tokens >> new; mv new tokens", ["a"]),
        ], Way.available)
    func follows(_ change: (script: String, left: [String]), _ way: Way) throws {
        #if !os(Linux)
            if change.script.contains("sed -i") { return }
        #endif
        let kept = try KeptTokens(after: Self.both, by: way)
        kept.keeper.start()
        try kept.run(change.script)
        // Nobody tells of a directory's mode.
        if change.script == "chmod 777 ." { kept.keeper.look() }
        try kept.wait(for: change.left)
        #expect(kept.told.last == change.left)
    }

    @Test(arguments: Way.available) func appears(_ way: Way) throws {
        let kept = try KeptTokens(by: way)
        kept.keeper.start()
        try kept.run(Self.both)
        try kept.wait(for: ["a", "b"])
    }

    /// A scope that is taken away is another table.
    @Test func scopes() throws {
        let kept = try KeptTokens(after: "echo '\(Self.line("a", "read write"))' > tokens")
        try kept.run("echo '\(Self.line("a", "read"))' > tokens")
        kept.keeper.look()
        #expect(kept.told == [["a"]])
        #expect(kept.keeper.table["a"]?.scopes == [.read])
    }

    /// What makes no difference is not told; what is wrong is said, once.
    @Test func isSaidOnce() throws {
        let kept = try KeptTokens(after: Self.both)
        for _ in 0..<3 {
            try kept.run("echo '# a remark' >> tokens")
            kept.keeper.look()
            kept.keeper.look()
        }
        #expect(kept.told.isEmpty)
        try kept.run("echo 'c oops' >> tokens")
        kept.keeper.look()
        kept.keeper.look()
        let problems = kept.events.filter(\.isProblem)
        #expect(
            problems.map(\.description).first?.hasPrefix("\(kept.path):6: gives nothing: c: behind the name") == true)
        #expect(problems.count == 1 && kept.names == ["a", "b"])
    }

    /// Lines of the old kind count, with a warning that names the remedy; once for each reading.
    @Test(arguments: ["", "plain-auth off\n"]) func oldLines(_ directive: String) throws {
        let old = (1...7).map { "t\($0) sha256:\(TokenText.hexadecimal(SHA256.digest("\($0)".utf8))) read" }
        let kept = try KeptTokens(after: "printf '\(directive)\(old.joined(separator: "\n"))\n' > tokens")
        kept.keeper.look()
        #expect(kept.names == (1...7).map { "t\($0)" } && kept.keeper.table.refusesPlain == !directive.isEmpty)
        let use =
            directive.isEmpty
            ? "show the token itself to the program that listens" : "are of no use while plain-auth is off"
        #expect(
            kept.events.filter(\.isProblem).map(\.description) == [
                "\(kept.path): lines with sha256: \(use) (t1, t2, t3, t4, t5 and 2 more); tweakctl token renew t1 makes a "
                    + "token that is never sent"
            ])
    }

    @Test func manyProblems() throws {
        let kept = try KeptTokens(after: "for i in $(seq 50); do echo oops; done > tokens")
        #expect(kept.events.count == 22)
        #expect(kept.events[20] == .more(path: kept.path, 30))
        #expect(kept.events[21] == .taken(path: kept.path, count: 0))
    }

    @Test func stopped() throws {
        let kept = try KeptTokens(after: Self.both)
        kept.keeper.start()
        kept.keeper.start()
        kept.keeper.stop()
        kept.keeper.stop()
        kept.keeper.start()
        try kept.run("rm tokens")
        #expect(kept.names == ["a", "b"] && kept.told.isEmpty)
        kept.keeper.look()
        #expect(kept.names.isEmpty)
    }

    /// Looks from many threads: the last table told is the one in effect.
    @Test func manyThreads() throws {
        let kept = try KeptTokens()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for round in 0..<50 {
                let line = Self.line("t\(number)-\(round)") + "\n"
                let beside = kept.path + ".\(number)"
                _ = FileManager.default.createFile(
                    atPath: beside, contents: Data(line.utf8), attributes: [.posixPermissions: 0o600])
                rename(beside, kept.path)
                kept.keeper.look()
            }
        }
        kept.keeper.look()
        #expect(kept.told.last == kept.names && kept.names.count == 1)
    }
}
