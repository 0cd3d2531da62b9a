// The service: a thread that waits for sockets, and the ways to reach it from elsewhere.

import Foundation
import Synchronization
import TweaksDaemon

/// A line service on a port of 127.0.0.1.
///
/// ```swift
/// let service = try Service(port: 7000)
/// await service.run()         // until stop(), or until the task is cancelled
/// ```
final class Service: Sendable {
    let port: UInt16
    private let listener: Mutex<Listener?>
    private let mailbox: Mailbox

    /// Opens the port. Who connects from now on waits until it runs.
    init(port: UInt16) throws(SocketError) {
        let listener = try Listener(port: port)
        self.port = listener.port
        self.listener = Mutex(listener)
        mailbox = Mailbox(alarm: try Alarm())
    }

    /// Serves, on a thread of its own. It can be run once; then the port is closed.
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

    /// Lets nobody in any more; replies that are under way are sent, then everything is closed.
    func stop() {
        mailbox.post { room, now in room.close(at: now) }
    }

    /// Closes all connections, with the same regard for replies; returns how many.
    func dropAll() async -> Int {
        await mailbox.ask { room, now in room.dropAll("closing by order of the operator", at: now) }
    }

    /// Counts from 0 again; the figures show it when this returns.
    func zero() async {
        _ = await mailbox.ask { room, _ in
            room.zero()
            return 0
        }
    }

    // MARK: The thread

    private func serve() {
        guard let listener = listener.withLock({ $0.take() }) else { return }
        // Whoever waits for its time must learn that the time is another.
        let alarm = mailbox.alarm
        let observations = [
            Replies.delay.observe { _ in alarm.ring() }, Limits.idle.observe { _ in alarm.ring() },
            Limits.connections.observe { _ in alarm.ring() },
        ]
        defer { for observation in observations { observation.cancel() } }
        var room = Room(listener)
        var polls = PollSet()
        while !room.isDone { turn(&room, &polls) }
        mailbox.close()
    }

    /// Waits, carries out orders, serves everybody, and shows the figures; only then orders are answered.
    private func turn(_ room: inout Room, _ polls: inout PollSet) {
        let shown = room.counts
        polls.removeAll()
        polls.add(mailbox.alarm.socket, read: true)
        room.join(&polls)
        polls.wait(until: room.nextTurn)
        let now = ContinuousClock.now
        let answers = mailbox.collect().map { letter in (letter, letter.order(&room, now)) }
        room.turn(polls, from: 1, at: now)
        room.counts.publish(after: shown)
        for (letter, answer) in answers { letter.sender?.resume(returning: answer) }
    }
}

/// What others want of the service's thread.
private final class Mailbox: Sendable {
    typealias Order = @Sendable (inout Room, Instant) -> Int

    struct Letter: Sendable {
        let order: Order
        var sender: CheckedContinuation<Int, Never>?
    }

    let alarm: Alarm
    /// Nil when nobody reads them any more.
    private let letters = Mutex<[Letter]?>([])

    init(alarm: Alarm) { self.alarm = alarm }

    /// Has something done, and returns what came of it; 0 when the service has stopped.
    func ask(_ order: @escaping Order) async -> Int {
        await withCheckedContinuation { sender in
            let isPosted = post(Letter(order: order, sender: sender))
            if !isPosted { sender.resume(returning: 0) }
        }
    }

    /// Has something done, some time soon.
    func post(_ order: @escaping Order) { _ = post(Letter(order: order)) }

    private func post(_ letter: Letter) -> Bool {
        let isOpen = letters.withLock { letters in
            letters?.append(letter)
            return letters != nil
        }
        alarm.ring()
        return isOpen
    }

    /// All that has come since the last time.
    func collect() -> [Letter] {
        alarm.reset()
        return letters.withLock { letters in
            defer { if letters != nil { letters = [] } }
            return letters ?? []
        }
    }

    func close() {
        let left = letters.withLock { $0.take() }
        for letter in left ?? [] { letter.sender?.resume(returning: 0) }
    }
}
