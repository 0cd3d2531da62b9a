// Wakes a thread that sleeps until a time or until a descriptor is readable.

import Dispatch
import Synchronization
import TweaksSystem

/// Wakes one thread; calls before it wakes are merged.
final class WakeSignal: Sendable {
    private let isSet = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)
    /// The descriptors to write to and to poll, if the thread also waits for other descriptors. Nil if it does not, or
    /// if the process has no descriptors left, in which case there is no other descriptor either.
    private let descriptors = Mutex<(writeEnd: Int32, readEnd: Int32)?>(nil)

    deinit { closeDescriptors() }

    /// Whether the thread can also wait for another descriptor.
    var canWaitForDescriptors: Bool { descriptors.withLock { $0 != nil } }

    /// Wakes the thread, or prevents its next sleep.
    func set() {
        if !isSet.exchange(true, ordering: .acquiringAndReleasing) { wake() }
    }

    private func wake() {
        let isWritten = descriptors.withLock { descriptors in
            guard let descriptors else { return false }
            var one: UInt64 = 1  // An eventfd takes eight bytes; a pipe takes any number.
            _ = write(descriptors.writeEnd, &one, 8)
            return true
        }
        if !isWritten { semaphore.signal() }
    }

    // MARK: The thread

    /// Sleeps until the signal is set, the deadline passes, or the descriptor is readable; spurious wakeups are
    /// harmless.
    func wait(until deadline: ContinuousClock.Instant?, or descriptor: Int32?, _ time: any StorageTime) {
        if let readEnd = descriptors.withLock({ $0?.readEnd }) {
            poll(readEnd, descriptor, until: deadline, time)
        } else {
            time.wait(for: semaphore, until: deadline)
        }
        // Cleared before the thread checks for work: a signal set from now on wakes it again.
        isSet.store(false, ordering: .sequentiallyConsistent)
    }

    private func poll(
        _ readEnd: Int32, _ descriptor: Int32?, until deadline: ContinuousClock.Instant?, _ time: any StorageTime
    ) {
        // Rounded up, because the last fraction of a millisecond would otherwise be a busy loop.
        let milliseconds = deadline.map { (max($0 - time.now, .zero) / .milliseconds(1)).rounded(.up) }
        // poll(2) ignores negative descriptors.
        var entries = [readEnd, descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // On a timeout or EINTR the thread checks its clock and comes back.
        let count = systemPoll(&entries, milliseconds.map { Int32(min($0, 1e9)) } ?? -1)
        guard count > 0, entries[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(readEnd, &bytes, bytes.count)
    }

    /// Prepares waiting for other descriptors, if a descriptor is available.
    func openDescriptors() {
        descriptors.withLock { $0 = Self.openWakeDescriptors() }
        // An earlier signal used the semaphore, not the descriptor.
        if isSet.load(ordering: .sequentiallyConsistent) { wake() }
    }

    /// Stops waiting for descriptors.
    func closeDescriptors() {
        descriptors.withLock { descriptors in
            guard let open = descriptors else { return }
            close(open.writeEnd)
            if open.readEnd != open.writeEnd { close(open.readEnd) }
            descriptors = nil
        }
    }
}

/// poll(2), under a name that no method shadows.
private func systemPoll(_ entries: inout [pollfd], _ milliseconds: Int32) -> Int32 {
    poll(&entries, nfds_t(entries.count), milliseconds)
}
