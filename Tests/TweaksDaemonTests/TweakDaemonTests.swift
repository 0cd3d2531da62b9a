// Names, other variables, second instances, starting and ending.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct TweakDaemonTests {
    private let home: Home

    init() throws { home = try Home() }

    // MARK: Names and other variables

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "two words", "é", "a\n", String(repeating: "x", count: 65)])
    func badNames(_ name: String) {
        #expect(home.refusal(name)?.contains("use 1–64 letters, digits, “.”, “_” and “-”") == true)
    }

    @Test(arguments: ["a", "A.b_c-9", String(repeating: "x", count: 40)]) func goodNames(_ name: String) throws {
        let daemon = try home.start(name)
        #expect(daemon.socketPath == home.directory.file("tweaks/\(name).sock"))
        daemon.stop()
    }

    @Test func unknownVariablesAreSaid() throws {
        let daemon = try home.start(["TWEAKS_SOKET": "/x", "TWEAKS_COLOUR": "1", "TWEAKSX": "1", "OTHER": "1"])
        #expect(home.log.lines.count == 3)
        #expect(home.log.lines[0].hasPrefix("example: TWEAKS_COLOUR is not used by this version; "))
        #expect(home.log.lines[1] == "example: TWEAKS_SOKET is not used by this version; did you mean TWEAKS_SOCKET?")
        daemon.stop()
    }

    @Test(arguments: ["1", "true", "on", "YES"]) func frozen(_ text: String) throws {
        let daemon = try home.start(["TWEAKS_FROZEN": text])
        let client = try TestClient(unix: daemon.socketPath ?? "")
        #expect(try client.ask("set Content/Text/Size 72").last?.hasPrefix("error read-only Content/Text/Size") == true)
        #expect(try client.ask("reset *").last?.hasPrefix("error read-only") == true)
        #expect(try client.ask("check Content/Text/Size 72").last?.hasPrefix("error read-only") == true)
        #expect(try client.ask("stats").contains("  frozen: true"))
        #expect(home.registry.revision == 0)
        #expect(home.log.lines.last?.contains(", frozen; try: ") == true)
        daemon.stop()
    }

    @Test(arguments: ["0", "off", "no"]) func notFrozen(_ text: String) throws {
        let daemon = try home.start(["TWEAKS_FROZEN": text])
        #expect(try TestClient(unix: daemon.socketPath ?? "").ask("set Content/Text/Size 72").last == "ok rev 1")
        daemon.stop()
    }

    @Test func frozenOrNotMustBeSaidClearly() {
        #expect(home.refusal(["TWEAKS_FROZEN": "maybe"]) == "TWEAKS_FROZEN=maybe: write 1 or 0")
    }

    @Test func conflictsAreLogged() throws {
        let daemon = try home.start()
        _ = Tweak("Content", "Text", "Size", 61.0, in: 10...100, registry: home.registry)
        // Events are handed over elsewhere; at the end all of them have been.
        daemon.stop()
        #expect(home.log.lines.count == 2 && home.log.lines.last?.contains("Content/Text/Size") == true)
    }

    // MARK: Instances

    @Test func theSecondInstanceIsBesideTheFirst() throws {
        let first = try home.start()
        let second = try home.start()
        let processID = ProcessInfo.processInfo.processIdentifier
        #expect(second.socketPath == home.directory.file("tweaks/example-\(processID).sock"))
        try home.pings(first)
        try home.pings(second)
        // There is no third place for the same process.
        #expect(home.refusal()?.contains("is held by another process") == true)
        first.stop()
        try home.pings(second)
        let third = try home.start()
        #expect(third.socketPath == home.directory.file("tweaks/example.sock"))
        third.stop()
        second.stop()
    }

    /// A path that was asked for is not replaced by another one.
    @Test func aTakenPathIsRefused() throws {
        let path = home.directory.file("my.sock")
        let first = try home.start(["TWEAKS_SOCKET": path])
        #expect(home.refusal(["TWEAKS_SOCKET": path]) == "socket \(path) is held by another process")
        try home.pings(first)
        first.stop()
    }

    // MARK: Starting and ending

    /// Whoever reads the line can connect, and nobody was served before it.
    @Test func theLineComesBeforeTheFirstConnection() throws {
        let answers = Mutex<[Bool]>([])
        let environment = ["XDG_RUNTIME_DIR": home.directory.path]
        let waiting = Mutex<TestClient?>(nil)
        var configuration = TweakDaemon.Configuration.test(home.registry, environment)
        configuration.onEvent = { event in
            guard case .listening(let line) = event else { return }
            // The socket is there, but nobody answers yet: what is asked now waits.
            guard let path = line.split(separator: " ").last.map({ String($0) }) else { return }
            waiting.withLock { client in
                client = try? TestClient(unix: path)
                try? client?.send("ping\n")
                let hasAnswer = client?.hasInput ?? true
                answers.withLock { $0.append(hasAnswer) }
            }
        }
        let daemon = try TweakDaemon.start("example", configuration)
        #expect(answers.withLock { $0 } == [false])
        #expect(try waiting.withLock { try $0?.line() } == "ok pong")
        daemon.stop()
    }

    @Test func runServesUntilItsTaskIsCancelled() async throws {
        let daemon = try home.start()
        let task = Task { try await daemon.run() }
        let client = try TestClient(unix: try #require(daemon.socketPath))
        #expect(try client.ask("ping") == ["ok pong"])
        task.cancel()
        #expect(try client.restOfLines().first?.hasPrefix("error closing ") == true)
        client.endInput()
        try await task.value
        await #expect(throws: ServerError("the daemon was stopped already; start another one")) {
            try await daemon.run()
        }
    }

    @Test func stoppingTwiceIsFine() throws {
        let daemon = try home.start()
        daemon.stop()
        daemon.stop()
    }
}
