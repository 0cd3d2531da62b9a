// How a watcher's thread sleeps, and is woken.

import TweaksSystem
import Dispatch
import Synchronization

/// One thread waits, for a time, for a descriptor, or until another thread rings.
final class WatchAlarm: Sendable {
    private let bell: Mutex<(rung: Int32, heard: Int32)?>
    /// Does the bell's work in a process that has no descriptors left. Then there is nothing else to wait for, either.
    private let semaphore = DispatchSemaphore(value: 0)

    init() { bell = Mutex(Self.openBell()) }

    deinit { close() }

    /// Whether another descriptor can be waited for.
    var canWaitForDescriptors: Bool { bell.withLock { $0 != nil } }

    /// Wakes the thread, or keeps it from falling asleep the next time.
    func ring() {
        let hasBell = bell.withLock { bell in
            guard let bell else { return false }
            var one: UInt64 = 1  // An eventfd takes eight bytes, and a pipe anything.
            _ = write(bell.rung, &one, 8)
            return true
        }
        if !hasBell { semaphore.signal() }
    }

    /// Sleeps until the deadline at the latest.
    func wait(until deadline: ContinuousClock.Instant, or descriptor: Int32?) {
        let rest = max(deadline - .now, .zero)
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        let milliseconds = Int32(clamping: Int64(min((rest / .milliseconds(1)).rounded(.up), 1e9)))
        guard let heard = bell.withLock({ $0?.heard }) else {
            _ = semaphore.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
            return
        }
        // poll(2) passes over negative descriptors.
        var places = [heard, descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Nothing ready, time out or EINTR: the thread looks at its clock and comes back.
        guard poll(&places, nfds_t(places.count), milliseconds) > 0, places[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(heard, &bytes, bytes.count)
    }

    /// The thread does not wait any more.
    func close() {
        bell.withLock { bell in
            guard let ends = bell else { return }
            Self.closeDescriptor(ends.rung)
            if ends.heard != ends.rung { Self.closeDescriptor(ends.heard) }
            bell = nil
        }
    }

    /// close(2), whose name our own method takes.
    private static func closeDescriptor(_ number: Int32) {
        #if canImport(Darwin)
            _ = Darwin.close(number)
        #elseif canImport(Musl)
            _ = Musl.close(number)
        #else
            _ = Glibc.close(number)
        #endif
    }
}

/// Why the kernel does not tell.
struct WatchFailure: Error {
    let code: Int32

    /// The process has as many descriptors as it may.
    static var noDescriptors: WatchFailure { WatchFailure(code: EMFILE) }

    var text: String { errorText(code) }

    /// What an operator can do about it.
    var remedy: String {
        switch code {
        case EMFILE: "; raise fs.inotify.max_user_instances or the limit of open files"
        case ENFILE: "; raise fs.file-max"
        case ENOSPC: "; raise fs.inotify.max_user_watches"
        default: ""
        }
    }
}
