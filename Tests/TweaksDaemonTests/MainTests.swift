// Tests that a program which `TweakDaemon.main` runs ends with a line and an exit code, not with a trap.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking, .tags(.process)) struct MainTests {
    private struct Refusal: Error, CustomStringConvertible { let description = "no such thing; name another one" }

    /// Sends SIGTERM while it is asked for values, at the end of the start, or during the end.
    private struct Trigger: TweakValueSource {
        enum Moment { case load, start, stop }
        let layer = TweakLayer("trigger", rank: 1)
        let moment: Moment
        func load(_ sink: TweakSourceSink) { if moment == .load { deliver(SIGTERM) } }
        func start(_ sink: TweakSourceSink) { if moment == .start { kill(getpid(), SIGTERM) } }
        func stop() { if moment == .stop { kill(getpid(), SIGTERM) } }
    }

    /// The environment of a child is that of the tests.
    private static func isolate() {
        for name in ["TWEAKS_SOCKET", "TWEAKS_PORT", "TWEAKS_STATE_DIR"] { setenv(name, "off", 1) }
    }

    @Test func anErrorOfTheStartIsALineAndAnExitCode() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            setenv("TWEAKS_PORT", "many", 1)
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) { fatalError("it has started") }
        }
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).splitLines()
        #expect(lines.count == 2 && lines[0].hasPrefix("shop: TWEAKS_PORT"), "\(lines)")
    }

    @Test func anErrorOfTheProgramIsALineAndAnExitCode() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            Self.isolate()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) { throw Refusal() }
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.hasSuffix("shop: stopping\nshop: no such thing; name another one\n"), "\(text)")
    }

    /// Only what follows a stop signal is its effect.
    @Test func aCancellationOfItsOwnIsAnError() async {
        await #expect(processExitsWith: .exitCode(1)) {
            Self.isolate()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) { throw CancellationError() }
        }
    }

    /// Such as that of a request that was under way.
    @Test func whatItThrowsAfterAStopSignalIsNoError() async {
        await #expect(processExitsWith: .exitCode(42)) {
            Self.isolate()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) {
                kill(getpid(), SIGTERM)
                try? await Task.sleep(for: .seconds(1_000))
                // Everything is closed; the parent process passes its signal on.
                kill(getpid(), SIGTERM)
                throw Refusal()
            }
            exit(42)
        }
    }

    /// Its values may not be loaded.
    @Test func aProgramWhoseStartWasStoppedDoesNotBegin() async {
        await #expect(processExitsWith: .exitCode(42)) {
            Self.isolate()
            let trigger = TweakDaemon.Source(Trigger(moment: .load))
            await TweakDaemon.main("shop", sources: [trigger], storage: .off, registry: TweakRegistry()) { exit(1) }
            exit(42)
        }
    }

    /// Also that the daemon has stopped then.
    @Test func itReturnsAfterItsProgram() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let home = try TemporaryDirectory()
            setenv("TWEAKS_SOCKET", home.file("shop.sock"), 1)
            let wasThere = Recorder<Bool>()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) {
                wasThere.note(FileManager.default.fileExists(atPath: home.file("shop.sock")))
            }
            exit(wasThere.all == [true] && !FileManager.default.fileExists(atPath: home.file("shop.sock")) ? 42 : 1)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aStopSignalCancelsTheProgram(_ signal: Int32) async {
        await #expect(processExitsWith: .exitCode(42)) { [signal] in
            Self.isolate()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) {
                kill(getpid(), signal)
                try await Task.sleep(for: .seconds(1_000))
            }
            exit(42)
        }
    }

    @Test func withoutAProgramItServesUntilAStopSignal() async {
        await #expect(processExitsWith: .exitCode(42)) {
            Self.isolate()
            let trigger = TweakDaemon.Source(Trigger(moment: .start))
            await TweakDaemon.main("shop", sources: [trigger], storage: .off, registry: TweakRegistry())
            exit(42)
        }
    }

    /// As by `timeout`, or a terminal whose parent process passes signals on.
    @Test func theSameSignalAgainDoesNotCutTheEndShort() async {
        await #expect(processExitsWith: .exitCode(42)) {
            Self.isolate()
            let trigger = TweakDaemon.Source(Trigger(moment: .stop))
            await TweakDaemon.main("shop", sources: [trigger], storage: .off, registry: TweakRegistry()) {
                kill(getpid(), SIGTERM)
                try await Task.sleep(for: .seconds(1_000))
            }
            exit(42)
        }
    }

    /// It runs on the actor of the caller, which it may block.
    @Test func aProgramThatDoesNotEndIsEnded() async {
        await #expect(processExitsWith: .signal(SIGTERM)) { @MainActor in
            Self.isolate()
            await TweakDaemon.main("shop", storage: .off, registry: TweakRegistry()) {
                MainActor.assertIsolated()
                kill(getpid(), SIGTERM)
                while true { sleep(1_000) }
            }
        }
    }
}
