// A server without a thread of its own: whoever has it lets it take each turn.

package import Tweaks

/// The event loop of a server as a machine that tests step through: the same code, one thread, no waiting in between.
package final class SteppedServer {
    /// A Unix socket that is open before a server and after it, for many servers one after the other.
    package final class Place {
        fileprivate let listener: Listener

        /// Opens it.
        package init(socketPath: String) throws {
            listener = try Listener(at: try SocketPlace(path: socketPath), Kernel())
        }

        deinit { listener.removeFile() }
    }

    private let loop: EventLoop
    private var onEnd: () -> Void

    /// - Parameter onEnd: Lets go of what was opened for it.
    init(_ loop: EventLoop, onEnd: @escaping () -> Void) {
        self.loop = loop
        self.onEnd = onEnd
    }

    /// A server that nobody has connected to.
    package init(
        at place: Place, registry: TweakRegistry, limits: TweakServerLimits, hooks: TweakServerHooks
    ) throws {
        let (poller, mailbox) = (try Poller(Kernel(faults: hooks.faults)), try Mailbox())
        try poller.add(mailbox.waker.descriptor, .read)
        try poller.add(place.listener.descriptor.number, .read)
        let identity = ServerIdentity(name: "stepped", processID: 1, instance: "1", startedAt: hooks.now)
        loop = EventLoop(
            registry: registry, identity: identity, listeners: [place.listener], limits: limits, mailbox: mailbox,
            poller: poller, hooks: hooks)
        // The socket outlives the server.
        onEnd = { withExtendedLifetime(place) {} }
    }

    /// How many sessions there are.
    package var sessionCount: Int { loop.sessions.count }

    /// How many bytes are printed and not sent, over all sessions.
    package var unsentBytes: Int { loop.sessions.all.reduce(0) { $0 + $1.output.count } }

    /// One turn.
    /// - Parameter patience: How many milliseconds it may wait for something to do.
    package func turn(patience: Int32) { loop.turn(patience: patience) }

    /// Takes turns until nothing is left to do but to wait for clients, programs and disks.
    package func settle() {
        while loop.turn(patience: 0) || loop.hasWork {}
    }

    /// Ends as ``TweakServer/stop()`` does; does nothing once it has ended.
    package func stop() {
        loop.mailbox.post(.stop)
        loop.run()
        onEnd()
        onEnd = {}
    }

    /// Gives the newest session these rights in place of those that it has.
    package func limitNewest(to scopes: [TweakScope]) {
        let newest = loop.sessions.all.max { $0.id.number < $1.id.number }
        newest?.grants = Grants()
        newest?.grants.add(scopes, from: .peer)
    }

    /// Whether a reply is under way that needs no more input, only time.
    package var isBusy: Bool {
        !loop.runnable.isEmpty
            || loop.sessions.all.contains { session in
                session.isOpen
                    && (session.work.isBusy || session.replies.rest != nil || !session.replies.queueIsEmpty)
            }
    }
}
