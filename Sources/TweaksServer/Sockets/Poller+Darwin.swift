// Polls descriptors on Apple systems with kqueue, and wakes the poller through a pipe.

#if canImport(Darwin)
    import TweaksSystem

    /// Waits until descriptors are ready.
    final class Poller {
        private let queue: Descriptor
        private let kernel: Kernel
        private var events = [kevent](repeating: kevent(), count: 256)

        init(_ kernel: Kernel) throws(SocketError) {
            let number = kqueue()
            if number < 0 { throw SocketError("kqueue") }
            queue = Descriptor(number)
            self.kernel = kernel
        }

        func add(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try change(descriptor, EVFILT_READ, EV_ADD | (interest.contains(.read) ? EV_ENABLE : EV_DISABLE))
            try change(descriptor, EVFILT_WRITE, EV_ADD | (interest.contains(.write) ? EV_ENABLE : EV_DISABLE))
        }

        func modify(_ descriptor: Int32, _ interest: PollInterest) throws(SocketError) {
            try add(descriptor, interest)
        }

        func remove(_ descriptor: Int32) {
            try? change(descriptor, EVFILT_READ, EV_DELETE)
            try? change(descriptor, EVFILT_WRITE, EV_DELETE)
        }

        private func change(_ descriptor: Int32, _ filter: Int32, _ flags: Int32) throws(SocketError) {
            var change = kevent(
                ident: UInt(descriptor), filter: Int16(filter), flags: UInt16(flags), fflags: 0, data: 0, udata: nil)
            let call = { (_: Int) in Int(kevent(self.queue.number, &change, 1, nil, 0, nil)) }
            // Removal is part of error handling, so no faults are injected.
            let result = flags & EV_DELETE != 0 ? call(0) : kernel.make(.watch, on: descriptor, call)
            if result < 0 { throw SocketError("kevent", code: Int32(-result)) }
        }

        /// Waits for a number of milliseconds at most (-1: forever).
        /// - Returns: The number of events; 0 after a timeout or an interruption.
        func wait(milliseconds: Int32) -> Int {
            var time = timespec(tv_sec: Int(milliseconds) / 1_000, tv_nsec: Int(milliseconds) % 1_000 * 1_000_000)
            let count = kernel.make(.wait, on: queue.number, count: events.count) { most in
                Int(
                    milliseconds < 0
                        ? kevent(queue.number, nil, 0, &events, Int32(most), nil)
                        : kevent(queue.number, nil, 0, &events, Int32(most), &time))
            }
            return max(count, 0)
        }

        /// An event of the last wait.
        subscript(position: Int) -> PollEvent {
            let event = events[position]
            // End of input is reported as readable, so that the data before it is still read.
            let isWrite = event.filter == Int16(EVFILT_WRITE)
            return PollEvent(
                descriptor: Int32(event.ident), isReadable: !isWrite, isWritable: isWrite,
                isGone: isWrite && event.flags & UInt16(EV_EOF) != 0)
        }
    }

    /// Wakes a poller from another thread.
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

        /// Clears the wake-up.
        func reset() {
            var bytes = [UInt8](repeating: 0, count: 64)
            while Darwin.read(ends.read.number, &bytes, bytes.count) > 0 {}
        }
    }
#endif
