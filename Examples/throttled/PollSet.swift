// Waiting for many sockets at once: poll(2), and a pipe to be woken by.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The sockets that the service waits for, and what has become possible on them.
struct PollSet {
    private var entries: [pollfd] = []

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds a socket; its place is how many were added before it.
    mutating func add(_ socket: Socket?, read: Bool = false, write: Bool = false) {
        let events = Int16(read ? POLLIN : 0) | Int16(write ? POLLOUT : 0)
        // The kernel skips -1. One that wants nothing would be told of its end again and again.
        entries.append(pollfd(fd: events == 0 ? -1 : socket?.number ?? -1, events: events, revents: 0))
    }

    /// Waits until something is possible or the time has come.
    mutating func wait(until time: Instant?) {
        let count = poll(&entries, nfds_t(entries.count), time.map(Self.milliseconds) ?? -1)
        // Interrupted: nothing is known, and nothing was promised.
        if count < 0 { for index in entries.indices { entries[index].revents = 0 } }
    }

    /// The time until then, at most an hour: whoever asks comes back.
    private static func milliseconds(until time: Instant) -> Int32 {
        let wait = ContinuousClock.now.duration(to: time) / .milliseconds(1)
        return Int32(min(max(wait.rounded(.up), 0), 3_600_000))
    }

    /// Whether to try reading or writing; an error counts as both, and the try finds out.
    func isReady(_ place: Int) -> (read: Bool, write: Bool) {
        let events = Int32(entries[place].revents)
        let broken = Int32(POLLERR | POLLHUP | POLLNVAL)
        return (events & (Int32(POLLIN) | broken) != 0, events & (Int32(POLLOUT) | broken) != 0)
    }
}

/// Wakes the thread that waits in a poll set.
final class Alarm: Sendable {
    /// To be read from.
    let socket: Socket
    private let bell: Socket

    init() throws(SocketError) {
        var numbers: [Int32] = [0, 0]
        if pipe(&numbers) != 0 { throw SocketError("pipe") }
        (socket, bell) = (Socket(numbers[0]), Socket(numbers[1]))
    }

    func ring() {
        var byte: UInt8 = 1
        // A full pipe is as good: it rings already.
        _ = write(bell.number, &byte, 1)
    }

    /// Makes it silent again.
    func reset() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(socket.number, &bytes, bytes.count) > 0 {}
    }
}
