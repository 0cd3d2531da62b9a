// Runs a server step by step in tests, without a thread.

package import Tweaks

/// An event loop that tests advance turn by turn: the same code, one thread, no waiting.
package final class SteppedServer {
    /// A Unix socket that outlives its servers, for many servers in sequence.
    package final class Socket {
        fileprivate let listener: Listener

        /// Opens the socket.
        /// - Parameter endpoint: The endpoint that it serves instead of lines.
        package init(
            socketPath: String, endpoint: (any Endpoint)? = nil, faults: (any FaultInjector)? = nil
        ) throws {
            listener = try Listener(
                at: try SocketLease(path: socketPath), endpoint: endpoint, Kernel(faults: faults))
        }

        deinit { listener.removeFile() }
    }

    private let loop: EventLoop
    private var onEnd: () -> Void

    /// - Parameter onEnd: Releases the resources that were opened for it.
    init(_ loop: EventLoop, onEnd: @escaping () -> Void) {
        self.loop = loop
        self.onEnd = onEnd
    }

    package init(
        at place: Socket, registry: TweakRegistry, limits: TweakServerLimits, hooks: TweakServerHooks
    ) throws {
        let poller = try Poller(Kernel(faults: hooks.faults))
        let mailbox = try Mailbox()
        try poller.add(mailbox.waker.descriptor, .read)
        try poller.add(place.listener.descriptor.number, .read)
        let identity = ServerIdentity(name: "stepped", processID: 1, instance: "1", startedAt: hooks.now)
        loop = EventLoop(
            registry: registry, identity: identity, listeners: [place.listener], limits: limits, mailbox: mailbox,
            poller: poller, hooks: hooks)
        // The socket outlives the server.
        onEnd = { withExtendedLifetime(place) {} }
    }

    package var sessionCount: Int { loop.sessions.count }

    package var unsentBytes: Int { loop.sessions.all.reduce(0) { $0 + $1.output.count } }

    /// Runs one turn.
    /// - Parameter timeout: The maximum wait in milliseconds.
    package func turn(timeout: Int32) { loop.turn(timeout: timeout) }

    /// Runs turns until only clients, programs and disks can cause more work.
    /// - Parameter most: The maximum number of turns.
    /// - Returns: Whether there were no more.
    @discardableResult
    package func settle(atMost most: Int = .max) -> Bool {
        for _ in 0..<most where !loop.turn(timeout: 0) && !loop.hasWork { return true }
        return false
    }

    package var hasWork: Bool { loop.hasWork }

    /// Ends as ``TweakServer/stop()`` does; does nothing once it has ended.
    package func stop() {
        loop.mailbox.post(.stop)
        loop.run()
        onEnd()
        onEnd = {}
    }

    package func limitNewest(to scopes: [TweakScope]) {
        let newest = loop.sessions.all.max { $0.id.number < $1.id.number }
        newest?.grants = Grants()
        newest?.grants.add(scopes, from: .peer)
    }

    /// Whether a reply is in progress that needs no more input, only time.
    package var isBusy: Bool {
        !loop.runnable.isEmpty
            || loop.sessions.all.contains { session in
                session.isOpen
                    && (session.work.isBusy || session.replies.rest != nil || !session.replies.queueIsEmpty)
            }
    }
}
