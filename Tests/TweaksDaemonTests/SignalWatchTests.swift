// Tests signal watches, in processes of their own: calls of their handlers, and the signal's disposition afterwards.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksTestSupport

/// The signals that a handler receives.
private typealias SignalRecorder = Recorder<Int32>

extension Recorder<Int32> {
    /// Waits for the next signal.
    fileprivate func expect(_ signal: Int32) throws { try #require(takeNext() == signal) }

    /// Sends a signal to this process and waits for it.
    fileprivate func expectDelivery(of signal: Int32) throws {
        kill(getpid(), signal)
        try expect(signal)
    }
}

/// Incremented by a handler of the program's own.
private let ownSignals = Atomic<Int>(0)

@Suite(.blocking) struct SignalWatchTests {
    @Test func eachSignalIsDelivered() async {
        await #expect(processExitsWith: .success) {
            let recorder = SignalRecorder()
            let watch = SignalWatch([SIGHUP, SIGTERM, SIGINT]) { recorder.note($0) }
            for signal in [SIGHUP, SIGTERM, SIGINT, SIGHUP] { try recorder.expectDelivery(of: signal) }
            watch.cancel()
        }
    }

    /// The start of a program is often on the main actor.
    @Test func aWatchFromTheMainActorIsCalledElsewhere() async {
        await #expect(processExitsWith: .success) {
            let recorder = SignalRecorder()
            let watch = await MainActor.run { SignalWatch([SIGHUP]) { recorder.note($0) } }
            try recorder.expectDelivery(of: SIGHUP)
            watch.cancel()
        }
    }

    @Test func allWatchesAreCalledUntilTheyAreCanceled() async {
        await #expect(processExitsWith: .success) {
            let (first, second) = (SignalRecorder(), SignalRecorder())
            let one = SignalWatch([SIGHUP, SIGTERM]) { first.note($0) }
            let other = SignalWatch([SIGHUP]) { second.note($0) }
            try first.expectDelivery(of: SIGHUP)
            try second.expect(SIGHUP)
            one.cancel()
            one.cancel()
            try second.expectDelivery(of: SIGHUP)
            try #require(first.isTaken)
            other.cancel()
        }
    }

    @Test func repeatedWatchesAreCalled() async {
        await #expect(processExitsWith: .success) {
            for _ in 1...50 {
                let recorder = SignalRecorder()
                let watch = SignalWatch([SIGHUP, SIGTERM]) { recorder.note($0) }
                for signal in [SIGHUP, SIGTERM] { try recorder.expectDelivery(of: signal) }
                watch.cancel()
            }
        }
    }

    @Test func aHandlerCanReplaceItsWatch() async {
        await #expect(processExitsWith: .success) {
            let (first, second) = (SignalRecorder(), SignalRecorder())
            let watches = Mutex<[SignalWatch]>([])
            let watch = SignalWatch([SIGHUP]) { signal in
                let old = watches.withLock { watches in
                    defer { watches = [] }
                    return watches
                }
                for watch in old { watch.cancel() }
                let new = SignalWatch([SIGHUP]) { second.note($0) }
                watches.withLock { $0 = [new] }
                first.note(signal)
            }
            watches.withLock { $0 = [watch] }
            try first.expectDelivery(of: SIGHUP)
            try second.expectDelivery(of: SIGHUP)
            try #require(first.isTaken)
            watches.withLock { $0 = [] }
        }
    }

    /// A script that sends a hangup every millisecond must not cause reloads for hours.
    @Test func signalsDuringACallAreDeliveredOnce() async {
        await #expect(processExitsWith: .success) {
            let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (seen, tooMany) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = Mutex(0)
            let watch = SignalWatch([SIGHUP]) { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 {
                    begun.signal()
                    gate.wait()
                }
                // One for the whole burst, and one that may have been on its way.
                if number > 10 { tooMany.signal() }
            }
            // Reports that a signal has arrived in Dispatch.
            let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "test"))
            source.setEventHandler { @Sendable in seen.signal() }
            source.setRegistrationHandler { @Sendable in seen.signal() }
            source.resume()
            try #require(seen.wait(timeout: .testTimeout) == .success)

            kill(getpid(), SIGHUP)
            try #require(begun.wait(timeout: .testTimeout) == .success)
            try #require(seen.wait(timeout: .testTimeout) == .success)
            for _ in 1...100 {
                kill(getpid(), SIGHUP)
                try #require(seen.wait(timeout: .testTimeout) == .success)
            }
            gate.signal()
            // Queued signals are delivered at once, so a second is enough.
            try #require(tooMany.wait(timeout: .now() + 1) == .timedOut)
            watch.cancel()
            source.cancel()
        }
    }

    @Test func afterACancelTheSignalEndsTheProcessAgain() async {
        await #expect(processExitsWith: .signal(SIGHUP)) {
            let recorder = SignalRecorder()
            let watch = SignalWatch([SIGHUP]) { recorder.note($0) }
            try recorder.expectDelivery(of: SIGHUP)
            watch.cancel()
            kill(getpid(), SIGHUP)
            // SIGALRM if it never ends the process.
            alarm(30)
            while true { pause() }
        }
    }

    @Test func afterAReleaseTheSignalIsIgnoredAgain() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_IGN)
            let recorder = SignalRecorder()
            do {
                let watch = SignalWatch([SIGHUP]) { recorder.note($0) }
                try recorder.expectDelivery(of: SIGHUP)
                withExtendedLifetime(watch) {}
            }
            kill(getpid(), SIGHUP)
            try #require(recorder.isTaken)
        }
    }

    @Test func afterACancelTheProgramsHandlerRunsAgain() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP) { _ in ownSignals.add(1, ordering: .sequentiallyConsistent) }
            for round in 1...3 {
                let recorder = SignalRecorder()
                let watch = SignalWatch([SIGHUP]) { recorder.note($0) }
                try recorder.expectDelivery(of: SIGHUP)
                watch.cancel()
                kill(getpid(), SIGHUP)
                let deadline = ContinuousClock.now + .seconds(120)
                while ownSignals.load(ordering: .sequentiallyConsistent) < round, .now < deadline {}
                try #require(ownSignals.load(ordering: .sequentiallyConsistent) == round)
            }
        }
    }

    @Test func aDispatchSourceOfTheProgramIsCalledToo() async {
        await #expect(processExitsWith: .success) {
            let (own, ours) = (SignalRecorder(), SignalRecorder())
            signal(SIGTERM, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
            let isRegistered = Gate()
            source.setEventHandler { @Sendable in own.note(SIGTERM) }
            source.setRegistrationHandler { @Sendable in isRegistered.open() }
            source.resume()
            isRegistered.waitBlocking()
            let watch = SignalWatch([SIGTERM]) { ours.note($0) }
            try own.expectDelivery(of: SIGTERM)
            try ours.expect(SIGTERM)
            watch.cancel()
            try own.expectDelivery(of: SIGTERM)
            try #require(ours.isTaken)
            source.cancel()
        }
    }
}
