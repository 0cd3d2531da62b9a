// A server without a thread of its own: whoever has it lets it take each turn.

package import Tweaks

/// The event loop of a server as a machine that tests step through: the same code, one thread, no waiting in between.
package final class SteppedServer {
    private let listener: Listener
    private let loop: EventLoop

    /// Opens a Unix socket, and serves nobody yet.
    package init(
        socketPath: String, registry: TweakRegistry, limits: TweakServerLimits, hooks: TweakServerHooks
    ) throws {
        listener = try Listener(at: try SocketPlace(path: socketPath))
        let (poller, mailbox) = (try Poller(), try Mailbox())
        try poller.add(mailbox.waker.descriptor, .read)
        try poller.add(listener.descriptor.number, .read)
        let identity = ServerIdentity(name: "stepped", processID: 1, instance: "1", startedAt: .now)
        loop = EventLoop(
            registry: registry, identity: identity, listeners: [listener], limits: limits, mailbox: mailbox,
            poller: poller, hooks: hooks)
    }

    deinit { listener.removeFile() }

    /// How many sessions there are.
    package var sessionCount: Int { loop.sessionCount }

    /// One turn.
    /// - Parameter patience: How many milliseconds it may wait for something to do.
    package func turn(patience: Int32) { loop.turn(patience: patience) }

    /// Gives the newest session these rights in place of those that it has.
    package func limitNewest(to scopes: [TweakScope]) {
        let newest = loop.sessions.compactMap { $0 }.max { $0.id.number < $1.id.number }
        newest?.grants = Grants()
        newest?.grants.add(scopes, from: .peer)
    }

    /// Whether a reply is under way that needs no more input, only time.
    package var isBusy: Bool {
        !loop.runnable.isEmpty
            || loop.sessions.contains { session in
                guard let session, session.isOpen else { return false }
                return session.isAwaitingAction || session.remainder != nil || !session.owed.isEmpty
            }
    }
}
