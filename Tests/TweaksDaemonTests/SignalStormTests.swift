// Signals that come faster than they are dealt with.

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

@Suite(.blocking) struct SignalStormTests {
    /// A script that sends a hangup every millisecond must not have its file read for hours afterwards.
    @Test func areToldOnce() async {
        await #expect(processExitsWith: .success) {
            let (begun, gate, seen, tooMany) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0),
                DispatchSemaphore(value: 0)
            )
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
                // One for all of the storm, and one that may have been on its way.
                if number > 10 { tooMany.signal() }
            }
            // Says that a signal has come as far as Dispatch.
            let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "test"))
            source.setEventHandler { @Sendable in seen.signal() }
            source.setRegistrationHandler { @Sendable in seen.signal() }
            source.resume()
            try #require(seen.wait(timeout: .patience) == .success)

            kill(getpid(), SIGHUP)
            try #require(begun.wait(timeout: .patience) == .success)
            try #require(seen.wait(timeout: .patience) == .success)
            for _ in 1...100 {
                kill(getpid(), SIGHUP)
                try #require(seen.wait(timeout: .patience) == .success)
            }
            gate.signal()
            // What is queued is told at once, so that there is no need to wait for long.
            try #require(tooMany.wait(timeout: .now() + 1) == .timedOut)
            watch.cancel()
            source.cancel()
        }
    }
}
