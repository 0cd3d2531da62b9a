// A wake signal ends the sleep of one thread, which sleeps until a time, or until a descriptor has something to read.

import Dispatch
import Synchronization
import TweaksSystem

/// Wakes one thread; many calls before it wakes are one.
final class WakeSignal: Sendable {
    private let isRung = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)
    /// What is written to and what is read where the thread waits for other descriptors, too. Nil where it does not, and
    /// in a process that has no descriptors left: then there is nothing else to wait for, either.
    private let ends = Mutex<(rung: Int32, heard: Int32)?>(nil)

    deinit { closeDescriptors() }

    /// Whether another descriptor can be waited for.
    var canWaitForDescriptors: Bool { ends.withLock { $0 != nil } }

    /// Wakes the thread, or keeps it from falling asleep the next time.
    func ring() {
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { wake() }
    }

    private func wake() {
        let isWritten = ends.withLock { ends in
            guard let ends else { return false }
            var one: UInt64 = 1  // An eventfd takes eight bytes, and a pipe anything.
            _ = write(ends.rung, &one, 8)
            return true
        }
        if !isWritten { semaphore.signal() }
    }

    // MARK: The thread

    /// Sleeps until the signal is rung, the time has come, or there is something to read; waking early does no harm.
    func wait(until deadline: ContinuousClock.Instant?, or descriptor: Int32?, _ time: any StorageTime) {
        if let heard = ends.withLock({ $0?.heard }) {
            poll(heard, descriptor, until: deadline, time)
        } else {
            time.wait(for: semaphore, until: deadline)
        }
        // Before the thread looks what there is to do: who rings from now on wakes it again.
        isRung.store(false, ordering: .sequentiallyConsistent)
    }

    private func poll(
        _ heard: Int32, _ descriptor: Int32?, until deadline: ContinuousClock.Instant?, _ time: any StorageTime
    ) {
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        let milliseconds = deadline.map { (max($0 - time.now, .zero) / .milliseconds(1)).rounded(.up) }
        // poll(2) passes over negative descriptors.
        var places = [heard, descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Nothing ready, time out or EINTR: the thread looks at its clock and comes back.
        let count = systemPoll(&places, milliseconds.map { Int32(min($0, 1e9)) } ?? -1)
        guard count > 0, places[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(heard, &bytes, bytes.count)
    }

    /// Other descriptors will be waited for, if there is one left for this.
    func openDescriptors() {
        ends.withLock { $0 = Self.openEnds() }
        // Who has rung before did so elsewhere.
        if isRung.load(ordering: .sequentiallyConsistent) { wake() }
    }

    /// The thread does not wait for descriptors any more.
    func closeDescriptors() {
        ends.withLock { ends in
            guard let open = ends else { return }
            close(open.rung)
            if open.heard != open.rung { close(open.heard) }
            ends = nil
        }
    }
}

/// poll(2), under a name that no method takes.
private func systemPoll(_ places: inout [pollfd], _ milliseconds: Int32) -> Int32 {
    poll(&places, nfds_t(places.count), milliseconds)
}
