// Runs a job on a named thread with an inbox, timers and an orderly shutdown.

import Dispatch
import Synchronization
import Tweaks
import TweaksSystem

/// The work of a worker's thread, in turns. A job is created and destroyed on it, before it ends.
protocol WorkerJob: ~Copyable, SendableMetatype {
    associatedtype Order: Sendable

    /// The time of the next turn without an order; nil for never.
    var nextWake: Moment? { get }
    /// A descriptor whose input also starts a turn.
    var descriptor: Int32? { get }
    /// Handles the orders and does the work that is due.
    /// - Parameters:
    ///   - orders: The orders since the last turn, oldest first.
    ///   - isLast: Whether the worker was closed and no turn follows.
    mutating func turn(_ orders: [Order], isLast: Bool)
}

extension WorkerJob where Self: ~Copyable {
    var descriptor: Int32? { nil }
}

/// One thread with an inbox. It starts once, and a closed worker stays closed.
final class Worker<Order: Sendable>: Sendable {
    private enum Phase { case idle, running, closing, ended }

    /// Whether requested turns are paused.
    private enum Pause: UInt8, AtomicRepresentable {
        case none, paused
        /// Paused, and a turn was requested.
        case requested
    }

    private struct State {
        var phase = Phase.idle
        var orders: [Order] = []
        var thread: SystemThread?
    }

    private let name: String
    private let time: any StorageTime
    private let signal = WakeSignal()
    private let pause = Atomic(Pause.none)
    private let state = Mutex(State())
    private let life = DispatchGroup()

    /// Creates a worker without starting its thread.
    /// - Parameter name: The thread's name for debuggers, at most 15 letters.
    init(_ name: String, time: any StorageTime = SystemTime()) { (self.name, self.time) = (name, time) }

    // MARK: From other threads

    /// Starts the thread, and returns when its job is created.
    /// - Parameter waitsForDescriptors: Whether the job has a descriptor.
    /// - Returns: False if it was started or closed before.
    @discardableResult
    func start<Job: WorkerJob & ~Copyable>(
        waitsForDescriptors: Bool = false, _ make: @escaping @Sendable () -> Job
    ) -> Bool where Job.Order == Order {
        let isFirst = state.withLock { state in
            guard state.phase == .idle else { return false }
            state.phase = .running
            // Entered here, so that `waitForEnd` also waits for a thread that is about to start.
            life.enter()
            return true
        }
        guard isFirst else { return false }
        if waitsForDescriptors { signal.openDescriptors() }
        let isReady = DispatchSemaphore(value: 0)
        SystemThread.start(name) { [self] in
            run(make, isReady)
            end()
        }
        isReady.wait()
        return true
    }

    /// Adds an order to the inbox.
    /// - Returns: False if it will not be handled: there is no thread, or its last turn has begun.
    func post(_ order: Order) -> Bool {
        let isAccepted = state.withLock { state in
            guard state.phase == .running || state.phase == .closing else { return false }
            state.orders.append(order)
            return true
        }
        if isAccepted { signal.set() }
        return isAccepted
    }

    /// Requests a turn.
    func wake() {
        let before = pause.compareExchange(
            expected: .paused, desired: .requested, ordering: .acquiringAndReleasing
        ).original
        if before == .none { signal.set() }
    }

    /// Pauses turns requested by ``wake()`` before a series of changes.
    func pauseTurns() { _ = pause.compareExchange(expected: .none, desired: .paused, ordering: .acquiringAndReleasing) }

    /// Resumes turns, and starts one if it was requested during the pause.
    func resumeTurns() { if pause.exchange(.none, ordering: .acquiringAndReleasing) == .requested { signal.set() } }

    /// Requests the last turn.
    func close() {
        state.withLock { state in
            switch state.phase {
            case .idle: state.phase = .ended
            case .running: state.phase = .closing
            case .closing, .ended: break
            }
        }
        signal.set()
    }

    /// Waits until the thread of a closed worker has released its resources; returns at once on that thread.
    func waitForEnd() {
        let thread = state.withLock { $0.thread }
        if thread == SystemThread.current { return }
        life.wait()
    }

    /// Whether the current or the next turn is the last.
    var isClosing: Bool { state.withLock { $0.phase == .closing || $0.phase == .ended } }

    // MARK: From the thread

    /// Whether the job can have a descriptor: false if the process has no descriptor left for waking the thread.
    var canWaitForDescriptors: Bool { signal.canWaitForDescriptors }

    private func run<Job: WorkerJob & ~Copyable>(_ make: () -> Job, _ isReady: DispatchSemaphore)
    where Job.Order == Order {
        let thread = SystemThread.current
        state.withLock { $0.thread = thread }
        var job = make()
        isReady.signal()
        var isLast = false
        while !isLast {
            signal.wait(until: job.nextWake, or: job.descriptor, time)
            let orders: [Order]
            (orders, isLast) = takeOrders()
            job.turn(orders, isLast: isLast)
        }
    }

    /// After this, the last turn, no orders are accepted.
    private func takeOrders() -> (orders: [Order], isLast: Bool) {
        state.withLock { state in
            defer { state.orders = [] }
            if state.phase == .closing { state.phase = .ended }
            return (state.orders, state.phase == .ended)
        }
    }

    private func end() {
        signal.closeDescriptors()
        // Another thread can get the same identity later.
        state.withLock { $0.thread = nil }
        life.leave()
    }
}

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
    func wait(until deadline: Moment?, or descriptor: Int32?, _ time: any StorageTime) {
        if let readEnd = descriptors.withLock({ $0?.readEnd }) {
            poll(readEnd, descriptor, until: deadline, time)
        } else {
            time.wait(for: semaphore, until: deadline)
        }
        // Cleared before the thread checks for work: a signal set from now on wakes it again.
        isSet.store(false, ordering: .sequentiallyConsistent)
    }

    private func poll(
        _ readEnd: Int32, _ descriptor: Int32?, until deadline: Moment?, _ time: any StorageTime
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
        #if canImport(Darwin)
            var numbers: [Int32] = [-1, -1]
            if pipe(&numbers) == 0 {
                for number in numbers {
                    _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
                    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                }
                descriptors.withLock { $0 = (numbers[1], numbers[0]) }
            }
        #else
            let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            if number >= 0 { descriptors.withLock { $0 = (number, number) } }
        #endif
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
