// Provides an actor that observes tweaks and binds its object, and whose executor can be suspended.

import Dispatch
import Synchronization

@testable import Tweaks

/// An actor's queue that can be suspended, and that counts its jobs.
final class SuspendableExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "tests.suspendable")
    let jobs = Atomic(0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.add(1, ordering: .sequentiallyConsistent)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

actor Studio {
    /// The object that is bound; it is not Sendable.
    final class Lamp {
        var writes: [Int] = []
        let stream = AsyncStream.makeStream(of: Int.self)
        var level = -1 {
            didSet {
                writes.append(level)
                stream.continuation.yield(level)
            }
        }
    }

    nonisolated let executor = SuspendableExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let lamp = Lamp()
    private var observation: TweakObservation?
    private(set) var seen: [String] = []
    var level: Int { lamp.level }
    var writes: [Int] { lamp.writes }
    var stream: AsyncStream<Int> { lamp.stream.stream }

    @discardableResult
    func bind(_ tweak: Tweak<Int>, when: TweakBindingStart = .onChange) -> TweakBinding {
        tweak.bind(to: lamp, \.level, when: when)
    }

    func observe(_ tweak: Tweak<Int>) {
        observation = tweak.observe { change in self.seen.append("\(change.old)→\(change.new)") }
    }

    func endObservation() { observation = nil }

    /// Sets the tweak on this actor and returns what has happened when the setter returns.
    func set(_ tweak: Tweak<Int>, _ value: Int) -> (level: Int, seen: [String]) {
        tweak.value = value
        return (lamp.level, seen)
    }

    /// Keeps this actor busy while another thread runs the body: nothing may be written meanwhile.
    func levelWhile(_ body: @escaping @Sendable () -> Void) -> Int {
        TestThread(body).join()
        return lamp.level
    }

    /// The number of jobs that the body enqueues while the actor runs none.
    nonisolated func jobsWhileSuspended(_ body: () throws -> Void) rethrows -> Int {
        executor.queue.suspend()
        defer { executor.queue.resume() }
        let before = executor.jobs.load(ordering: .sequentiallyConsistent)
        try body()
        return executor.jobs.load(ordering: .sequentiallyConsistent) - before
    }
}
