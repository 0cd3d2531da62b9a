// Runs the service on one thread and passes it operations from other threads.

import Foundation
import Synchronization
import TweaksDaemon

/// A line service on a port of 127.0.0.1.
///
/// ```swift
/// let service = try Service(port: 7000)
/// await service.run()         // until stop(), or until the task is canceled
/// ```
final class Service: Sendable {
    let port: UInt16
    private let listener: Mutex<Listener?>
    private let mailbox: Mailbox

    /// Opens the port. Clients that connect wait until `run`.
    init(port: UInt16) throws(SocketError) {
        let listener = try Listener(port: port)
        self.port = listener.port
        self.listener = Mutex(listener)
        mailbox = Mailbox(wakePipe: try WakePipe())
    }

    /// Serves on a new thread until `stop`. It can run only once.
    func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { ended in
                Thread.detachNewThread {
                    self.serve()
                    ended.resume()
                }
            }
        } onCancel: {
            stop()
        }
    }

    /// Closes the listener, sends pending replies, then closes all connections.
    func stop() {
        mailbox.post { manager, now in manager.close(at: now) }
    }

    /// Closes all connections after pending replies; returns how many.
    func dropAll() async -> Int {
        await mailbox.perform { manager, now in manager.dropAll("closing by order of the operator", at: now) }
    }

    /// Resets the counts; the metrics are updated when this returns.
    func resetCounts() async {
        _ = await mailbox.perform { manager, _ in
            manager.resetCounts()
            return 0
        }
    }

    // MARK: The thread

    private func serve() {
        guard let listener = listener.withLock({ $0.take() }) else { return }
        // These tweaks change the next deadline, so a change wakes the thread.
        let wakePipe = mailbox.wakePipe
        let observations = [
            Replies.delay.observe { _ in wakePipe.wake() }, Limits.idle.observe { _ in wakePipe.wake() },
            Limits.connections.observe { _ in wakePipe.wake() },
        ]
        defer { for observation in observations { observation.cancel() } }
        var manager = ConnectionManager(listener)
        var polls = PollSet()
        while !manager.isDone { runOnce(&manager, &polls) }
        mailbox.close()
    }

    /// Waits, runs operations, serves all connections, and publishes the metrics; only then it resumes the callers.
    private func runOnce(_ manager: inout ConnectionManager, _ polls: inout PollSet) {
        let published = manager.counts
        polls.removeAll()
        polls.add(mailbox.wakePipe.readEnd, read: true)
        manager.register(in: &polls)
        polls.wait(until: manager.nextDeadline)
        let now = ContinuousClock.now
        let results = mailbox.collect().map { message in (message, message.operation(&manager, now)) }
        manager.process(polls, from: 1, at: now)
        manager.counts.publish(after: published)
        for (message, result) in results { message.caller?.resume(returning: result) }
    }
}

/// The queue of operations for the service's thread.
private final class Mailbox: Sendable {
    typealias Operation = @Sendable (inout ConnectionManager, Instant) -> Int

    struct Message: Sendable {
        let operation: Operation
        var caller: CheckedContinuation<Int, Never>?
    }

    let wakePipe: WakePipe
    /// Nil when the service has stopped.
    private let messages = Mutex<[Message]?>([])

    init(wakePipe: WakePipe) { self.wakePipe = wakePipe }

    /// Runs an operation on the thread and returns its result; 0 when the service has stopped.
    func perform(_ operation: @escaping Operation) async -> Int {
        await withCheckedContinuation { caller in
            let isPosted = post(Message(operation: operation, caller: caller))
            if !isPosted { caller.resume(returning: 0) }
        }
    }

    /// Queues an operation without waiting for it.
    func post(_ operation: @escaping Operation) { _ = post(Message(operation: operation)) }

    private func post(_ message: Message) -> Bool {
        let isOpen = messages.withLock { messages in
            messages?.append(message)
            return messages != nil
        }
        wakePipe.wake()
        return isOpen
    }

    /// Removes and returns all queued messages.
    func collect() -> [Message] {
        wakePipe.drain()
        return messages.withLock { messages in
            defer { if messages != nil { messages = [] } }
            return messages ?? []
        }
    }

    func close() {
        let remaining = messages.withLock { $0.take() }
        for message in remaining ?? [] { message.caller?.resume(returning: 0) }
    }
}
