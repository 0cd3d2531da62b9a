// Polls descriptors on Linux with level-triggered epoll, and wakes the poller through an eventfd.

#if os(Linux) || os(Android)
    import TweaksSystem

    /// Waits until descriptors are ready.
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

        /// An event of the last wait.
        subscript(position: Int) -> PollEvent {
            let event = events[position]
            return PollEvent(
                descriptor: event.data.fd, isReadable: event.events & EPOLLIN.rawValue != 0,
                isWritable: event.events & EPOLLOUT.rawValue != 0,
                isGone: event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0)
        }
    }

    /// Wakes a poller from another thread.
    final class Waker: Sendable {
        private let event: Descriptor

        init() throws(SocketError) {
            let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            if number < 0 { throw SocketError("eventfd") }
            event = Descriptor(number)
        }

        var descriptor: Int32 { event.number }

        func wake() { eventfd_write(event.number, 1) }

        /// Clears the wake-up.
        func reset() {
            var value: eventfd_t = 0
            eventfd_read(event.number, &value)
        }
    }
#endif
