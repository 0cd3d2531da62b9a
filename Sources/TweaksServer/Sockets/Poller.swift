// Waits until sockets are ready, reads and writes them.

import TweaksSystem

#if os(Linux) || os(Android)
    import TweaksSystem

    final class Poller {
        private let epoll: Descriptor
        private let kernel: Kernel
        private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)

        init(_ kernel: Kernel) throws(SocketError) {
            let number = epoll_create1(Int32(EPOLL_CLOEXEC))
            if number < 0 { throw SocketError("epoll_create1") }
            epoll = Descriptor(number)
            self.kernel = kernel
            events.initialize(repeating: epoll_event())
        }

        deinit { events.deallocate() }

        func add(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try control(EPOLL_CTL_ADD, descriptor, interest)
        }

        func modify(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try control(EPOLL_CTL_MOD, descriptor, interest)
        }

        func remove(_ descriptor: Int32) {
            try? control(EPOLL_CTL_DEL, descriptor, [])
        }

        private func control(
            _ operation: Int32, _ descriptor: Int32, _ interest: PollInterest
        ) throws(SocketError) {
            var event = epoll_event()
            event.data.fd = descriptor
            if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
            let call = { (_: Int) in Int(epoll_ctl(self.epoll.number, operation, descriptor, &event)) }
            // Removal is part of error handling, so no faults are injected.
            let result = operation == EPOLL_CTL_DEL ? call(0) : kernel.make(.watch, on: descriptor, call)
            if result < 0 { throw SocketError("epoll_ctl", code: Int32(-result)) }
        }

        /// Waits for a number of milliseconds at most (-1: forever).
        /// - Returns: The number of events; 0 after a timeout or an interruption.
        func wait(milliseconds: Int32) -> Int {
            let count = kernel.make(.wait, on: epoll.number, count: events.count) {
                Int(epoll_wait(epoll.number, events.baseAddress, Int32($0), milliseconds))
            }
            return max(count, 0)
        }

        subscript(position: Int) -> PollEvent {
            let event = events[position]
            return PollEvent(
                descriptor: event.data.fd, isReadable: event.events & EPOLLIN.rawValue != 0,
                isGone: event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0)
        }
    }

    final class Waker: Sendable {
        private let event: Descriptor

        init() throws(SocketError) {
            let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            if number < 0 { throw SocketError("eventfd") }
            event = Descriptor(number)
        }

        var descriptor: Int32 { event.number }

        func wake() { eventfd_write(event.number, 1) }

        func reset() {
            var value: eventfd_t = 0
            eventfd_read(event.number, &value)
        }
    }
#endif

#if canImport(Darwin)
    import TweaksSystem

    final class Poller {
        private let queue: Descriptor
        private let kernel: Kernel
        private let events = UnsafeMutableBufferPointer<kevent>.allocate(capacity: 256)
        private let changes = UnsafeMutableBufferPointer<kevent>.allocate(capacity: 3)

        init(_ kernel: Kernel) throws(SocketError) {
            let number = kqueue()
            if number < 0 { throw SocketError("kqueue") }
            queue = Descriptor(number)
            self.kernel = kernel
            events.initialize(repeating: kevent())
            changes.initialize(repeating: kevent())
        }

        deinit {
            events.deallocate()
            changes.deallocate()
        }

        func add(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try register(descriptor, interest, isKnown: false)
        }

        func modify(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try register(descriptor, interest, isKnown: true)
        }

        func remove(_ descriptor: Int32) {
            changes[0] = change(descriptor, EVFILT_READ, EV_DELETE)
            changes[1] = change(descriptor, EVFILT_WRITE, EV_DELETE)
            // Removal is part of error handling, so no faults are injected.
            _ = kevent(queue.number, changes.baseAddress, 2, nil, 0, nil)
        }

        private func register(
            _ descriptor: Int32, _ interest: PollInterest, isKnown: Bool
        ) throws(SocketError) {
            // Only the write filter says that both directions are closed, so it is never disabled. Without interest,
            // EV_CLEAR makes it report a change once; that is a property of a filter from its first EV_ADD on.
            changes[0] = change(descriptor, EVFILT_WRITE, EV_DELETE)
            changes[1] = change(descriptor, EVFILT_READ, EV_ADD | (interest.contains(.read) ? EV_ENABLE : EV_DISABLE))
            changes[2] = change(descriptor, EVFILT_WRITE, EV_ADD | (interest.contains(.write) ? EV_ENABLE : EV_CLEAR))
            let made = UnsafeBufferPointer(rebasing: changes[(isKnown ? 0 : 1)...])
            let result = kernel.make(.watch, on: descriptor) { _ in
                Int(kevent(queue.number, made.baseAddress, Int32(made.count), nil, 0, nil))
            }
            if result < 0 { throw SocketError("kevent", code: Int32(-result)) }
        }

        private func change(_ descriptor: Int32, _ filter: Int32, _ flags: Int32) -> kevent {
            kevent(ident: UInt(descriptor), filter: Int16(filter), flags: UInt16(flags), fflags: 0, data: 0, udata: nil)
        }

        /// Waits for a number of milliseconds at most (-1: forever).
        /// - Returns: The number of events; 0 after a timeout or an interruption.
        func wait(milliseconds: Int32) -> Int {
            var time = timespec(tv_sec: Int(milliseconds) / 1_000, tv_nsec: Int(milliseconds) % 1_000 * 1_000_000)
            let count = kernel.make(.wait, on: queue.number, count: events.count) { most in
                Int(
                    milliseconds < 0
                        ? kevent(queue.number, nil, 0, events.baseAddress, Int32(most), nil)
                        : kevent(queue.number, nil, 0, events.baseAddress, Int32(most), &time))
            }
            return max(count, 0)
        }

        subscript(position: Int) -> PollEvent {
            let event = events[position]
            // End of input is reported as readable, so that the data before it is still read.
            let isWrite = event.filter == Int16(EVFILT_WRITE)
            return PollEvent(
                descriptor: Int32(event.ident), isReadable: !isWrite,
                isGone: isWrite && event.flags & UInt16(EV_EOF) != 0)
        }
    }

    final class Waker: Sendable {
        private let ends: (read: Descriptor, write: Descriptor)

        init() throws(SocketError) {
            var numbers: [Int32] = [0, 0]
            if pipe(&numbers) != 0 { throw SocketError("pipe") }
            for number in numbers { Platform.prepare(number) }
            ends = (Descriptor(numbers[0]), Descriptor(numbers[1]))
        }

        var descriptor: Int32 { ends.read.number }

        func wake() {
            var byte: UInt8 = 1
            Darwin.write(ends.write.number, &byte, 1)
        }

        func reset() {
            var bytes = [UInt8](repeating: 0, count: 64)
            while Darwin.read(ends.read.number, &bytes, bytes.count) > 0 {}
        }
    }
#endif

/// The events that a descriptor is polled for.
struct PollInterest: OptionSet, Equatable {
    let rawValue: UInt8
    static let read = PollInterest(rawValue: 1)
    static let write = PollInterest(rawValue: 2)
}

/// A descriptor that became ready.
struct PollEvent {
    let descriptor: Int32
    let isReadable: Bool
    /// Both directions are closed, or the connection broke.
    let isGone: Bool
}

/// A system call that failed.
struct SocketError: Error, Equatable, CustomStringConvertible {
    let call: String
    let code: Int32

    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var description: String { "\(call): \(errorText(code))" }
}

/// An open socket, closed on deinit.
final class Descriptor: Sendable {
    let number: Int32
    private let kernel: Kernel

    init(_ number: Int32, _ kernel: Kernel = Kernel()) {
        self.number = number
        self.kernel = kernel
    }

    deinit { close(number) }

    enum Transfer: Equatable {
        case bytes(Int)
        /// Not ready; wait for the poller.
        case wouldBlock
        case endOfInput
        case failed(Int32)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = kernel.make(.receive, on: number, count: buffer.count) {
                recv(number, buffer.baseAddress, $0, 0)
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .endOfInput }
            if let failure = Self.failure(count) { return failure }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = kernel.make(.send, on: number, count: bytes.count) {
                send(number, bytes.baseAddress, $0, Platform.sendFlags)
            }
            if count >= 0 { return .bytes(count) }
            if let failure = Self.failure(count) { return failure }
        }
    }

    var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(number, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    /// Nil if the call was only interrupted.
    private static func failure(_ result: Int) -> Transfer? {
        switch Int32(-result) {
        case EINTR: nil
        case EAGAIN, EWOULDBLOCK: .wouldBlock
        case let code: .failed(code)
        }
    }

    /// Shuts down the sending side. A failure is ignored: the connection is already gone.
    func endOutput() { _ = kernel.make(.shutdown, on: number) { _ in Int(shutdown(number, Int32(SHUT_WR))) } }
}

/// A system call on a socket or a poller.
package enum SystemCall: String, CaseIterable, Sendable {
    case receive, send, shutdown, accept
    /// Watch a descriptor, or change its interest.
    case watch
    case wait
}

/// Intercepts system calls, to provoke failures that are hard to reproduce.
package protocol FaultInjector: AnyObject, Sendable {
    /// Makes a call, fails it, or shortens it. Called on the I/O thread.
    /// - Parameters:
    ///   - call: The system call.
    ///   - descriptor: Its descriptor.
    ///   - count: The maximum number of bytes or events; 0 for other calls.
    ///   - body: Makes the call with a given maximum.
    /// - Returns: The result of the system call, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int, _ body: (Int) -> Int) -> Int
}

/// Makes system calls, through a fault injector if there is one.
struct Kernel: Sendable {
    var faults: (any FaultInjector)?

    /// Makes a call.
    /// - Returns: Its result, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int = 0, _ body: (Int) -> Int) -> Int {
        guard let faults else { return Self.result(body(count)) }
        return faults.make(call, on: descriptor, count: count) { Self.result(body($0)) }
    }

    private static func result(_ value: Int) -> Int { value < 0 ? -Int(errno) : value }
}
