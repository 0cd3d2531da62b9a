// Signals as calls: to all who follow them, and as before when nobody does. In processes of their own.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Dispatch
import Synchronization
import Testing
import TweaksDaemon
import TweaksServing
import TweaksTestSupport

/// What was told, and waiting for it.
private final class Told: Sendable {
    private let signals = Mutex<[Int32]>([])
    private let arrival = DispatchSemaphore(value: 0)

    func tell(_ signal: Int32) {
        signals.withLock { $0.append(signal) }
        arrival.signal()
    }

    func next() throws -> Int32 {
        try #require(arrival.wait(timeout: .patience) == .success)
        return signals.withLock { $0.removeFirst() }
    }

    var isEmpty: Bool { signals.withLock { $0.isEmpty } }
}

/// Set by a handler of the program's own.
private let ownSignals = Atomic<Int>(0)

@Suite(.blocking) struct SignalWatchTests {
    @Test func eachSignalIsTold() async {
        await #expect(processExitsWith: .success) {
            let told = Told()
            let watch = SignalWatch([SIGHUP, SIGTERM, SIGINT]) { told.tell($0) }
            for signal in [SIGHUP, SIGTERM, SIGINT, SIGHUP] {
                kill(getpid(), signal)
                try #require(told.next() == signal)
            }
            watch.cancel()
        }
    }

    /// Made on the main actor, as a program's start is, called elsewhere.
    @Test func fromTheMainActor() async {
        await #expect(processExitsWith: .success) {
            let told = Told()
            let watch = await MainActor.run { SignalWatch([SIGHUP]) { told.tell($0) } }
            kill(getpid(), SIGHUP)
            try #require(told.next() == SIGHUP)
            watch.cancel()
        }
    }

    /// Several daemons in a process; one of them stops.
    @Test func allAreTold() async {
        await #expect(processExitsWith: .success) {
            let (first, second) = (Told(), Told())
            let one = SignalWatch([SIGHUP, SIGTERM]) { first.tell($0) }
            let other = SignalWatch([SIGHUP]) { second.tell($0) }
            kill(getpid(), SIGHUP)
            try #require(first.next() == SIGHUP)
            try #require(second.next() == SIGHUP)
            one.cancel()
            one.cancel()
            kill(getpid(), SIGHUP)
            try #require(second.next() == SIGHUP)
            try #require(first.isEmpty)
            other.cancel()
        }
    }

    /// Stopped and started again, a daemon still hears.
    @Test func againAndAgain() async {
        await #expect(processExitsWith: .success) {
            for _ in 1...50 {
                let told = Told()
                let watch = SignalWatch([SIGHUP, SIGTERM]) { told.tell($0) }
                for signal in [SIGHUP, SIGTERM] {
                    kill(getpid(), signal)
                    try #require(told.next() == signal)
                }
                watch.cancel()
            }
        }
    }

    /// A handler may end what called it, and begin anew.
    @Test func cancelledFromWithin() async {
        await #expect(processExitsWith: .success) {
            let (first, second) = (Told(), Told())
            let watches = Mutex<[SignalWatch]>([])
            let watch = SignalWatch([SIGHUP]) { signal in
                let old = watches.withLock { watches in
                    defer { watches = [] }
                    return watches
                }
                for watch in old { watch.cancel() }
                let new = SignalWatch([SIGHUP]) { second.tell($0) }
                watches.withLock { $0 = [new] }
                first.tell(signal)
            }
            watches.withLock { $0 = [watch] }
            kill(getpid(), SIGHUP)
            try #require(first.next() == SIGHUP)
            kill(getpid(), SIGHUP)
            try #require(second.next() == SIGHUP)
            try #require(first.isEmpty)
            watches.withLock { $0 = [] }
        }
    }

    // MARK: As before

    @Test func afterwardsItEndsTheProcessAgain() async {
        await #expect(processExitsWith: .signal(SIGHUP)) {
            let told = Told()
            let watch = SignalWatch([SIGHUP]) { told.tell($0) }
            kill(getpid(), SIGHUP)
            try #require(told.next() == SIGHUP)
            watch.cancel()
            kill(getpid(), SIGHUP)
            // It ends here, if not at once; if not at all, by another signal.
            alarm(30)
            while true { pause() }
        }
    }

    @Test func afterwardsItIsIgnoredAgain() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_IGN)
            let told = Told()
            // Letting go of it is enough.
            do {
                let watch = SignalWatch([SIGHUP]) { told.tell($0) }
                kill(getpid(), SIGHUP)
                try #require(told.next() == SIGHUP)
                withExtendedLifetime(watch) {}
            }
            kill(getpid(), SIGHUP)
            try #require(told.isEmpty)
        }
    }

    @Test func afterwardsTheProgramsOwnHandlerRunsAgain() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP) { _ in ownSignals.add(1, ordering: .sequentiallyConsistent) }
            for round in 1...3 {
                let told = Told()
                let watch = SignalWatch([SIGHUP]) { told.tell($0) }
                kill(getpid(), SIGHUP)
                try #require(told.next() == SIGHUP)
                watch.cancel()
                kill(getpid(), SIGHUP)
                let deadline = ContinuousClock.now + .seconds(120)
                while ownSignals.load(ordering: .sequentiallyConsistent) < round, .now < deadline {}
                try #require(ownSignals.load(ordering: .sequentiallyConsistent) == round)
            }
        }
    }

    /// A program that follows the signal by itself is told, too.
    @Test func besideASourceOfTheProgram() async {
        await #expect(processExitsWith: .success) {
            let (own, ours) = (Told(), Told())
            signal(SIGTERM, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
            let isRegistered = Gate()
            source.setEventHandler { @Sendable in own.tell(SIGTERM) }
            source.setRegistrationHandler { @Sendable in isRegistered.open() }
            source.resume()
            isRegistered.waitBlocking()
            let watch = SignalWatch([SIGTERM]) { ours.tell($0) }
            kill(getpid(), SIGTERM)
            try #require(own.next() == SIGTERM)
            try #require(ours.next() == SIGTERM)
            watch.cancel()
            kill(getpid(), SIGTERM)
            try #require(own.next() == SIGTERM)
            try #require(ours.isEmpty)
            source.cancel()
        }
    }
}
