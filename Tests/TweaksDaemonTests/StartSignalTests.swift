// Tests signals that arrive while a daemon starts, in processes of their own.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksTestSupport

extension DaemonFixture {
    /// Starts a daemon; `during` runs at the beginning of its start.
    fileprivate func start(
        _ signals: TweakDaemon.Signals, atStart: TweakDaemon.ConfigFile.AtStart = .optional, during: () -> Void
    ) throws -> TweakDaemon {
        let environment = [
            "XDG_RUNTIME_DIR": directory.path, "HOME": "/nonexistent", "TWEAKS_STATE_DIR": state,
        ]
        let configuration = TweakDaemon.Configuration.test(registry, environment) {
            ($0.config, $0.signals) = (.init(config, atStart: atStart), signals)
            $0.storage = .standard
            $0.onEvent = { [events] in events.note($0) }
        }
        return try TweakDaemon(serving: "example", configuration, declare: during)
    }
}

/// Sends a signal to this process and returns when it was delivered.
func deliver(_ signal: Int32) {
    let delivered = DispatchSemaphore(value: 0)
    // Called after the handlers that were there before.
    let watch = SignalWatch([signal]) { _ in delivered.signal() }
    kill(getpid(), signal)
    _ = delivered.wait(timeout: .testTimeout)
    watch.cancel()
}

@Suite(.blocking) struct StartSignalTests {
    @Test func aReloadIsDoneAtTheEndOfTheStart() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture()
            try fixture.save("Content/Text/Size = 64\n")
            let daemon = try fixture.start(.reload) { kill(getpid(), SIGHUP) }
            let isReload = { (event: TweakDaemonEvent) in if case .reloaded = event { true } else { nil } as Bool? }
            let first = try fixture.events.next("start", isReload)
            try fixture.events.next(from: first.end, "reload", isReload)
            daemon.stop()
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aStopEndsTheStart(_ signal: Int32) async {
        await #expect(processExitsWith: .success) { [signal] in
            let fixture = try DaemonFixture()
            try fixture.save("Content/Text/Size = 64\n")
            let daemon = try fixture.start(.stop) { deliver(signal) }
            try await daemon.run()
            try #require(daemon.socketPath == nil && fixture.size == .number(60))
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
            try #require(names == ["example.conf"])
            let lines = fixture.events.all.flatMap(\.lines)
            try #require(lines == ["stopping"])
            daemon.stop()
        }
    }

    /// A tweak's declaration can read a file whose server is gone.
    @Test(arguments: [false, true]) func aStopEndsAStartThatIsBlocked(_ isTwice: Bool) async {
        await #expect(processExitsWith: .signal(isTwice ? SIGINT : SIGTERM)) { [isTwice] in
            let fixture = try DaemonFixture()
            _ = try fixture.start(.stop) {
                // SIGALRM if the first signal never ends the process. It would be SIGTERM without the second one.
                if !isTwice { alarm(60) }
                deliver(SIGTERM)
                if isTwice { kill(getpid(), SIGINT) }
                while true { pause() }
            }
        }
    }

    /// As of a process that was started by `nohup`.
    @Test func anIgnoredHangupStaysIgnored() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture()
            try fixture.save("Content/Text/Size = 64\n")
            signal(SIGHUP, SIG_IGN)
            for _ in 1...2 {
                let daemon = try fixture.start(.reload) {}
                var disposition = sigaction()
                sigaction(SIGHUP, nil, &disposition)
                #if !canImport(Darwin)
                    let handler = unsafeBitCast(disposition.__sigaction_handler.sa_handler, to: Int.self)
                    try #require(handler == unsafeBitCast(SIG_IGN, to: Int.self))
                #endif
                daemon.stop()
            }
        }
    }

    @Test func aFailedStartRestoresTheDisposition() async {
        await #expect(processExitsWith: .signal(SIGHUP)) {
            let fixture = try DaemonFixture()
            try fixture.save("Content/Text/Size = 640\n")
            try #require(throws: ServerError.self) {
                try fixture.start(.reload, atStart: .required) { deliver(SIGHUP) }
            }
            kill(getpid(), SIGHUP)
            // SIGALRM if it never ends the process.
            alarm(30)
            while true { pause() }
        }
    }
}

/// Programs that are blocked when they are asked to stop.
@Suite(.waiting, .tags(.process), .enabled(if: Child.exists)) struct BlockedProgramTests {
    /// With `mask`, no thread takes the signal: on a busy machine, Dispatch blocks it in all of them.
    @Test(arguments: [["block-main"], ["block-pool"], ["block-main", "mask"], ["block-pool", "mask"]])
    func theFirstSignalEndsABlockedProgram(_ words: [String]) throws {
        let directory = try TemporaryDirectory()
        let child = try Child(in: directory.path, words)
        try #require(try child.waitUntilReady())
        #expect(try child.connect().ask("Probe/Int/T0 = 7").last == "ok rev 1")
        child.signal(SIGTERM)
        #expect(try child.waitForEnd() == -SIGTERM)
        // Everything was closed in order.
        #expect(!FileManager.default.fileExists(atPath: directory.file("probe.sock")))
        try child.waitForLine(containing: "probe: stopping")
    }

    /// The end waits for a disk that does not answer, and so does the start.
    @Test(arguments: [["block-close"], ["block-start"], ["block-close", "mask"], ["block-start", "mask"]])
    func theFirstSignalEndsAProgramWhoseStartOrEndIsBlocked(_ words: [String]) throws {
        let directory = try TemporaryDirectory()
        let child = try Child(in: directory.path, words)
        try #require(try child.waitUntilReady())
        child.signal(SIGTERM)
        #expect(try child.waitForEnd() == -SIGTERM)
    }

    @Test(arguments: [["block-close"], ["block-close", "mask"]])
    func theSecondSignalEndsABlockedEndAtOnce(_ words: [String]) throws {
        let directory = try TemporaryDirectory()
        let child = try Child(in: directory.path, words)
        try #require(try child.waitUntilReady())
        child.signal(SIGTERM)
        try child.waitForLine(containing: "probe: stopping")
        // Another signal than the first, whose grace goes on.
        child.signal(SIGINT)
        #expect(try child.waitForEnd() == -SIGINT)
    }
}
