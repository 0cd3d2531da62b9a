// A worker is a named thread that carries out orders and timers of its own, and has an orderly end.

import Dispatch
import Synchronization
import TweaksSystem

/// What a worker's thread does, turn by turn. A job is made on that thread and goes away there, before the thread ends.
protocol WorkerJob: ~Copyable, SendableMetatype {
    associatedtype Order: Sendable

    /// When a turn is due that no order asks for; nil for never.
    var nextWake: ContinuousClock.Instant? { get }
    /// A turn is due, too, when there is something to read here.
    var descriptor: Int32? { get }
    /// Does what there is to do.
    /// - Parameters:
    ///   - orders: What was posted since the last turn, oldest first.
    ///   - isLast: The worker was closed; no turn follows.
    mutating func turn(_ orders: [Order], isLast: Bool)
}

extension WorkerJob where Self: ~Copyable {
    var descriptor: Int32? { nil }
}

/// One thread with an inbox. It is started once, and a closed worker stays closed.
final class Worker<Order: Sendable>: Sendable {
    private enum Phase { case idle, running, closing, ended }

    /// Whether a turn that is asked for has to wait.
    private enum Hold: UInt8, AtomicRepresentable {
        case none, holds
        /// It does, and one was asked for.
        case owes
    }

    private struct State {
        var phase = Phase.idle
        var orders: [Order] = []
        var thread: SystemThread?
    }

    private let name: String
    private let time: any StorageTime
    private let signal = WakeSignal()
    private let hold = Atomic(Hold.none)
    private let state = Mutex(State())
    private let life = DispatchGroup()

    /// A worker that has no thread yet.
    /// - Parameter name: At most 15 letters, for debuggers.
    init(_ name: String, time: any StorageTime = SystemTime()) { (self.name, self.time) = (name, time) }

    // MARK: From other threads

    /// Starts the thread, and returns when its job is made.
    /// - Parameter waitsForDescriptors: The job has a descriptor.
    /// - Returns: False when it was started or closed before.
    @discardableResult
    func start<Job: WorkerJob & ~Copyable>(
        waitsForDescriptors: Bool = false, _ make: @escaping @Sendable () -> Job
    ) -> Bool where Job.Order == Order {
        let isFirst = state.withLock { state in
            guard state.phase == .idle else { return false }
            state.phase = .running
            // Here, so that `waitForEnd` waits for a thread that is only about to start.
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

    /// Puts an order in the inbox.
    /// - Returns: False when it will not be carried out: there is no thread, or its last turn has begun.
    func post(_ order: Order) -> Bool {
        let isTaken = state.withLock { state in
            guard state.phase == .running || state.phase == .closing else { return false }
            state.orders.append(order)
            return true
        }
        if isTaken { signal.ring() }
        return isTaken
    }

    /// Asks for a turn.
    func wake() {
        let before = hold.compareExchange(expected: .holds, desired: .owes, ordering: .acquiringAndReleasing).original
        if before == .none { signal.ring() }
    }

    /// Has turns wait that are asked for by ``wake()``, until they are let go: much is about to come.
    func holdTurns() { _ = hold.compareExchange(expected: .none, desired: .holds, ordering: .acquiringAndReleasing) }

    /// Has the turn come that was asked for meanwhile.
    func letTurnsGo() { if hold.exchange(.none, ordering: .acquiringAndReleasing) == .owes { signal.ring() } }

    /// Asks for the last turn.
    func close() {
        state.withLock { state in
            switch state.phase {
            case .idle: state.phase = .ended
            case .running: state.phase = .closing
            case .closing, .ended: break
            }
        }
        signal.ring()
    }

    /// Waits until the thread of a closed worker has let go of everything; on the thread itself it returns at once.
    func waitForEnd() {
        let thread = state.withLock { $0.thread }
        if thread == SystemThread.current { return }
        life.wait()
    }

    /// Whether the turn that runs, or the next one, is the last.
    var isClosing: Bool { state.withLock { $0.phase == .closing || $0.phase == .ended } }

    // MARK: From the thread

    /// Whether the job can have a descriptor: false in a process that has none left to be woken by.
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

    /// With the last turn, no more orders are taken.
    private func takeOrders() -> (orders: [Order], isLast: Bool) {
        state.withLock { state in
            defer { state.orders = [] }
            if state.phase == .closing { state.phase = .ended }
            return (state.orders, state.phase == .ended)
        }
    }

    private func end() {
        signal.closeDescriptors()
        // Another thread may be given the same identity later.
        state.withLock { $0.thread = nil }
        life.leave()
    }
}
