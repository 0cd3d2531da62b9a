// Waits for many sockets with poll(2); a pipe wakes the waiting thread.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A set of sockets with the awaited and the received events.
struct PollSet {
    private var entries: [pollfd] = []

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds a socket; its index is the number of sockets added before it.
    mutating func add(_ socket: Socket?, read: Bool = false, write: Bool = false) {
        let events = Int16(read ? POLLIN : 0) | Int16(write ? POLLOUT : 0)
        // The kernel skips -1. Without it, poll reports the hangup of an idle socket again and again.
        entries.append(pollfd(fd: events == 0 ? -1 : socket?.number ?? -1, events: events, revents: 0))
    }

    /// Waits for an event, or until the time.
    mutating func wait(until time: Instant?) {
        let count = poll(&entries, nfds_t(entries.count), time.map(Self.milliseconds) ?? -1)
        // Interrupted by a signal: there are no events.
        if count < 0 { for index in entries.indices { entries[index].revents = 0 } }
    }

    /// The milliseconds until then, at most an hour; the caller waits again.
    private static func milliseconds(until time: Instant) -> Int32 {
        let wait = ContinuousClock.now.duration(to: time) / .milliseconds(1)
        return Int32(min(max(wait.rounded(.up), 0), 3_600_000))
    }

    /// Whether to try reading or writing; an error counts as both, and the call reports it.
    func isReady(_ index: Int) -> (read: Bool, write: Bool) {
        let events = Int32(entries[index].revents)
        let broken = Int32(POLLERR | POLLHUP | POLLNVAL)
        return (events & (Int32(POLLIN) | broken) != 0, events & (Int32(POLLOUT) | broken) != 0)
    }
}

/// A pipe that wakes the thread that waits in a poll set.
final class WakePipe: Sendable {
    let readEnd: Socket
    private let writeEnd: Socket

    init() throws(SocketError) {
        var numbers: [Int32] = [0, 0]
        if pipe(&numbers) != 0 { throw SocketError("pipe") }
        (readEnd, writeEnd) = (Socket(numbers[0]), Socket(numbers[1]))
    }

    func wake() {
        var byte: UInt8 = 1
        // The error of a full pipe is ignored: it wakes the thread already.
        _ = write(writeEnd.number, &byte, 1)
    }

    /// Empties the pipe.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd.number, &bytes, bytes.count) > 0 {}
    }
}
