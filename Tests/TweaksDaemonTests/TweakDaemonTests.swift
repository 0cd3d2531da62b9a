// Tests names, TWEAKS_FROZEN, several instances, starting and stopping of daemons.

import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct TweakDaemonTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "two words", "é", "a\n", String(repeating: "x", count: 65)])
    func invalidNamesAreRefused(_ name: String) {
        #expect(fixture.startError(named: name)?.contains("use 1–64 letters, digits, “.”, “_” and “-”") == true)
    }

    @Test(arguments: ["a", "A.b_c-9", String(repeating: "x", count: 40)])
    func validNamesNameTheSocket(_ name: String) throws {
        #expect(try fixture.start(named: name).socketPath == fixture.directory.file("tweaks/\(name).sock"))
    }

    @Test func unknownVariablesAreLogged() throws {
        try fixture.start(["TWEAKS_SOKET": "/x", "TWEAKS_COLOUR": "1", "TWEAKSX": "1", "OTHER": "1"])
        let lines = fixture.logLines
        #expect(lines.count == 3 && lines[0].hasPrefix("example: TWEAKS_COLOUR is not used by this version; "))
        #expect(lines[1] == "example: TWEAKS_SOKET is not used by this version; did you mean TWEAKS_SOCKET?")
    }

    @Test(arguments: ["1", "true", "on", "YES"]) func theEnvironmentFreezesADaemon(_ text: String) throws {
        let client = try fixture.connect(fixture.start(["TWEAKS_FROZEN": text]))
        for line in ["set Content/Text/Size 72", "reset *", "check Content/Text/Size 72"] {
            let refusal = line.hasPrefix("set") ? "error read-only Content/Text/Size" : "error read-only"
            #expect(try client.ask(line).last?.hasPrefix(refusal) == true, "\(line)")
        }
        #expect(try client.ask("stats").contains("  frozen: true"))
        #expect(fixture.registry.revision == 0)
        #expect(fixture.logLines.last?.contains(", frozen; try: ") == true)
    }

    @Test(arguments: ["0", "off", "no"]) func theEnvironmentLeavesADaemonUnfrozen(_ text: String) throws {
        let daemon = try fixture.start(["TWEAKS_FROZEN": text])
        #expect(try fixture.connect(daemon).ask("set Content/Text/Size 72").last == "ok rev 1")
    }

    @Test func otherValuesOfFrozenAreRefused() {
        #expect(fixture.startError(["TWEAKS_FROZEN": "maybe"]) == "TWEAKS_FROZEN=maybe: write 1 or 0")
    }

    @Test func conflictsAreLogged() throws {
        let daemon = try fixture.start()
        _ = Tweak("Content", "Text", "Size", 61.0, in: 10...100, registry: fixture.registry)
        // All events have been delivered when stop() returns.
        daemon.stop()
        let lines = fixture.logLines
        #expect(lines.count == 2 && lines[1].contains("Content/Text/Size"))
    }

    @Test func aSecondInstanceHasAnotherSocket() throws {
        let first = try fixture.start()
        let second = try fixture.start()
        let processID = ProcessInfo.processInfo.processIdentifier
        #expect(second.socketPath == fixture.directory.file("tweaks/example-\(processID).sock"))
        try fixture.expectPong(first)
        try fixture.expectPong(second)
        // A process has no third socket of that name.
        #expect(fixture.startError()?.contains("is held by another process") == true)
        first.stop()
        try fixture.expectPong(second)
        #expect(try fixture.start().socketPath == fixture.socket)
    }

    @Test func aTakenPathOfTheEnvironmentIsRefused() throws {
        let path = fixture.directory.file("my.sock")
        let first = try fixture.start(["TWEAKS_SOCKET": path])
        let text = "socket \(path) is held by another process; end it, or name another path in TWEAKS_SOCKET"
        #expect(fixture.startError(["TWEAKS_SOCKET": path]) == text)
        try fixture.expectPong(first)
    }

    @Test func theListeningEventComesBeforeTheFirstConnection() throws {
        let answers = Mutex<[Bool]>([])
        let waiting = Mutex<TestClient?>(nil)
        try fixture.start { event in
            guard case .listening(let line) = event else { return }
            // Clients can connect, but their requests wait.
            guard let path = line.split(separator: " ").last.map({ String($0) }) else { return }
            waiting.withLock { client in
                client = try? TestClient(unix: path)
                try? client?.send("ping\n")
                let hasAnswer = client?.hasInput ?? true
                answers.withLock { $0.append(hasAnswer) }
            }
        }
        #expect(answers.withLock { $0 } == [false])
        #expect(try waiting.withLock { try $0?.line() } == "ok pong")
    }

    @Test func runServesUntilItsTaskIsCanceled() async throws {
        let daemon = try fixture.start()
        // Not behind every test that waits for a thread of the pool, which takes minutes with full quantities.
        let task = Task(priority: .high) { try await daemon.run() }
        let client = try fixture.connect(daemon)
        #expect(try client.ask("ping") == ["ok pong"])
        task.cancel()
        #expect(try client.restOfLines().first?.hasPrefix("error closing ") == true)
        client.endInput()
        try await task.value
        await #expect(throws: ServerError("the daemon was stopped already; start another one")) {
            try await daemon.run()
        }
    }

    @Test func aSecondStopDoesNothing() throws {
        let daemon = try fixture.start()
        daemon.stop()
        daemon.stop()
    }
}
