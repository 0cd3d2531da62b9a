// Starts and stops a server: its listeners and its I/O thread.

import Dispatch
import Synchronization
public import Tweaks
@_exported public import TweaksInterface
import TweaksSystem
package import TweaksWire

/// Serves the tweaks of a registry over sockets, by the protocol that `telnet` and `nc` speak.
///
/// ```swift
/// let server = TweakServer(name: "bounce", listeners: [.unix(path: "/run/bounce.sock")])
/// try server.start()
/// defer { server.stop() }
/// ```
///
/// One thread does all input and output and never waits for a client. Observers of clients' changes run on other
/// threads. Start and stop it from any thread; a stopped server can be started again.
public final class TweakServer: Sendable {
    private let name: String
    private let registry: TweakRegistry
    private let listeners: [TweakListener]
    private let limits: TweakServerLimits
    let hooks: TweakServerHooks
    private let state = Mutex(State())

    private struct State {
        var running: Running?
    }

    private final class Running: Sendable {
        let mailbox: Mailbox
        let limits: TweakServerLimits
        let warning: String?
        let places = CallPlaces()
        private let opened: Mutex<[Listener]>
        /// The I/O thread, until it has ended.
        private let thread = Mutex<SystemThread?>(nil)
        private let ended = Mutex<(isOver: Bool, waiting: [@Sendable () -> Void])>((false, []))

        init(mailbox: Mailbox, listeners: [Listener], requested: TweakServerLimits) {
            self.mailbox = mailbox
            let descriptors = Platform.descriptorLimit
            limits = requested.fitted(to: descriptors)
            warning = requested.warning(limits, descriptors: descriptors)
            opened = Mutex(listeners)
        }

        /// Empty once it has ended.
        var listeners: [Listener] { opened.withLock { $0 } }

        /// Removes socket files and closes all ports, so that other servers can listen there immediately.
        func close() {
            let listeners = opened.withLock { opened in
                defer { opened = [] }
                return opened
            }
            for listener in listeners { listener.removeFile() }
        }

        /// Calls `body` when the thread has ended, or immediately if it has.
        func whenEnded(_ body: @escaping @Sendable () -> Void) {
            let isOver = ended.withLock { ended in
                if !ended.isOver { ended.waiting.append(body) }
                return ended.isOver
            }
            if isOver { body() }
        }

        /// Runs the server on a new thread.
        func begin(_ body: @escaping @Sendable () -> Void) {
            SystemThread.start("tweaks.io") { [self] in
                thread.withLock { $0 = .current }
                body()
            }
        }

        /// Whether the caller runs on the I/O thread, which must return before the server can end.
        var isOnServerThread: Bool { thread.withLock { $0 } == SystemThread.current }

        func end() {
            thread.withLock { $0 = nil }
            let waiting = ended.withLock { ended in
                defer { ended = (true, []) }
                return ended.waiting
            }
            for body in waiting { body() }
        }
    }

    /// Creates a server without opening anything.
    /// - Parameters:
    ///   - name: The process name shown to clients.
    ///   - registry: The registry to serve.
    ///   - listeners: Any number of places to listen.
    ///   - limits: The limits of each client and of all clients together.
    ///   - access: The rights of other users on a Unix socket, and the policy for scope requests.
    ///   - previews: Whether clients that may write may show other values for some seconds, without setting them.
    ///   - onSession: Called for each session event, from start to end. It runs on the I/O thread, which serves no
    ///     clients meanwhile, so it must return quickly.
    public convenience init(
        name: String, registry: TweakRegistry = .shared, listeners: [TweakListener],
        limits: TweakServerLimits = TweakServerLimits(), access: TweakAccess = TweakAccess(), previews: Bool = false,
        onSession: (@Sendable (TweakSessionEvent) -> Void)? = nil
    ) {
        var hooks = TweakServerHooks()
        hooks.access = access
        hooks.previews = previews
        hooks.onSessionEvent = onSession
        hooks.report = { StandardError.write("\(name): \($0)\n") }
        self.init(name: name, registry: registry, listeners: listeners, limits: limits, hooks: hooks)
    }

    package init(
        name: String, registry: TweakRegistry, listeners: [TweakListener], limits: TweakServerLimits,
        hooks: TweakServerHooks
    ) {
        self.name = name
        self.registry = registry
        self.listeners = listeners
        self.limits = limits
        self.hooks = hooks
    }

    /// Opens the listeners and starts the I/O thread.
    /// - Throws: ``ServerError`` if it is already running or a listener cannot be opened; then nothing is left open.
    public func start() throws(ServerError) { try start(willServe: { _ in }) }

    /// Starts, and calls `willServe` with the bound addresses before the first connection is accepted.
    package func start(willServe: (TweakServer) -> Void) throws(ServerError) {
        // Constants need no server.
        if FrozenTrait.isOn { return }
        StandardStreams.occupy(.quiet)
        let running = try state.withLock { state throws(ServerError) -> Running in
            if state.running != nil { throw ServerError("\(name): the server is running already; stop it first") }
            let running = try open()
            state.running = running
            return running
        }
        willServe(self)
        reportTakenPort()
        if registry.observerExecutor == nil { registry.observerExecutor = ObserverThreads(clock: hooks.clock) }
        launch(running)
    }

    /// Opens the listeners without starting a thread: the caller runs the turns, and observers run in the turn of the
    /// commit. Do not use ``stop()`` meanwhile; the stepped server has its own.
    package func startStepped() throws(ServerError) -> SteppedServer {
        let running = try open()
        do throws(SocketError) {
            let loop = try Self.makeLoop(running, registry, identity, loopHooks)
            state.withLock { $0.running = running }
            return SteppedServer(loop) { [weak self] in
                running.close()
                self?.state.withLock { if $0.running === running { $0.running = nil } }
            }
        } catch {
            running.close()
            throw ServerError("cannot start: \(error)")
        }
    }

    /// Stops the server and waits for it. Replies in progress are sent, every session gets `error closing`, and socket
    /// files are removed. Running actions are canceled without waiting, and their callers get `error closing`, so an
    /// action may call this. Does nothing if the server is not running. Does not wait if called by a session handler,
    /// which runs on the server's thread. Never call it from a tweak's observer that blocks others.
    public func stop() {
        let running = state.withLock { state -> Running? in
            if let running = state.running, running.isOnServerThread {
                running.mailbox.post(.stop)
                return nil
            }
            defer { state.running = nil }
            return state.running
        }
        guard let running else { return }
        let semaphore = DispatchSemaphore(value: 0)
        running.whenEnded { semaphore.signal() }
        running.mailbox.post(.stop)
        semaphore.wait()
    }

    /// Starts, serves until the task is canceled or ``stop()`` is called, and stops.
    /// - Throws: ``ServerError`` as ``start()`` does.
    public func run() async throws(ServerError) {
        try start()
        await serve()
    }

    /// Waits until a started server has ended; canceling the task stops it.
    package func serve() async {
        guard let running = state.withLock({ $0.running }) else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                running.whenEnded { continuation.resume() }
            }
        } onCancel: {
            running.mailbox.post(.stop)
        }
        state.withLock { if $0.running === running { $0.running = nil } }
    }

    package var isRunning: Bool { state.withLock { $0.running != nil } }

    /// Replaces the token table: sessions immediately lose the rights of removed, expired or reduced tokens. Callable
    /// from any thread.
    package func tokensChanged(_ table: TokenTable) {
        state.withLock { $0.running }?.mailbox.post(.tokensChanged(table))
    }

    /// Opens a session for a caller that the program has authenticated.
    /// - Returns: What the session sends; nil if the server is not running. It ends early if the server stops.
    /// - Throws: `too-many` if half of the sessions are those of callers, and if the process has no descriptors left.
    package func open(_ caller: ServerCall.Caller, by dialect: ServerCall.Dialect) throws(TweakError) -> CallStream? {
        guard let running = state.withLock({ $0.running }) else { return nil }
        // A session of a caller has two descriptors, and calls that the I/O thread has not begun have them, too.
        let most = max(running.limits.sessions / 2, 1)
        guard running.mailbox.count < running.limits.sessions, let place = running.places.take(of: most) else {
            throw .tooMany(
                .sessions,
                "\(most) requests of callers are open, each with two descriptors; try again, or raise the limit")
        }
        let (call, stream) = try ServerCall.pair(caller, dialect, place, Kernel(faults: hooks.faults))
        running.mailbox.post(.called(call))
        return stream
    }

    /// Makes the I/O thread read the clock again after a test has advanced it.
    package func wake() { state.withLock { $0.running }?.mailbox.wake() }

    /// A warning for the operator if the descriptor limit reduces the number of sessions.
    package var warning: String? { state.withLock { $0.running }?.warning }

    /// Whether TCP is open, and only for clients with a token.
    package var wantsTokens: Bool { bound.contains { $0.wantsToken && $0.endpoint == nil } }

    /// Whether other users can connect to a Unix socket.
    package var isShared: Bool { bound.contains(where: \.isShared) }

    /// The TCP port in use; nil if TCP is not open or the server is not running.
    public var port: Int? { bound.filter { $0.endpoint == nil }.compactMap(\.port).first.map { Int($0) } }

    /// The endpoints besides the listeners.
    package var serverEndpoints: [any Endpoint] { hooks.serverEndpoints }

    /// The port of the panel.
    package var endpointPort: Int? { port { $0.needsTokens } }

    /// The port of the metrics.
    package var metricsPort: Int? { port { !$0.needsTokens } }

    private func port(_ isMeant: (any Endpoint) -> Bool) -> Int? {
        bound.first { $0.endpoint.map(isMeant) ?? false }?.port.map { Int($0) }
    }

    /// Reports that another program has the TCP port on ::1 only.
    private func reportTakenPort() {
        for listener in bound where listener.endpoint == nil && listener.isTakenOnVersion6.load(ordering: .relaxed) {
            hooks.report(
                "tcp port \(listener.port ?? 0) is taken on ::1: clients of localhost may reach another program there, "
                    + "and not this one at 127.0.0.1; end that one, or \(hooks.portRemedy)")
        }
    }

    /// The Unix sockets in use.
    public var socketPaths: [String] { bound.compactMap(\.path) }

    private var bound: [Listener] { state.withLock { $0.running?.listeners ?? [] } }

    // MARK: - Starting

    private func open() throws(ServerError) -> Running {
        var opened: [Listener] = []
        do throws(ServerError) {
            let kernel = Kernel(faults: hooks.faults)
            for listener in listeners { opened += try open(listener, kernel) }
            for endpoint in hooks.serverEndpoints {
                opened += try Self.open(endpoint, hasTokenFile: hooks.tokens != nil, kernel)
            }
            return Running(mailbox: try Self.makeMailbox(), listeners: opened, requested: limits)
        } catch {
            for listener in opened { listener.removeFile() }
            throw error
        }
    }

    private static func makeMailbox() throws(ServerError) -> Mailbox {
        do throws(SocketError) { return try Mailbox() } catch { throw ServerError("cannot start: \(error)") }
    }

    /// The identity of this start, shown to clients.
    private var identity: ServerIdentity {
        ServerIdentity(
            name: Quoting.sanitized(name), processID: ThisProcess.id,
            instance: String(UInt64.random(in: .min ... .max), radix: 16), startedAt: hooks.now)
    }

    private var loopHooks: TweakServerHooks {
        var hooks = hooks
        let endpoints = hooks.serverEndpoints.compactMap { $0 as? any DaemonEndpoint }
        hooks.onSocketCheck = { [weak self, report = hooks.report] in
            guard let self else { return }
            for endpoint in endpoints { endpoint.restoreAnnouncement(for: self, report: report) }
        }
        return hooks
    }

    private func launch(_ running: Running) {
        let identity = identity
        let hooks = loopHooks
        running.begin { [weak self, registry] in
            do throws(SocketError) {
                try Self.makeLoop(running, registry, identity, hooks).run()
            } catch {
                StandardError.write("\(identity.name): tweaks are not served: \(error)\n")
            }
            running.close()
            running.end()
            self?.state.withLock { if $0.running === running { $0.running = nil } }
        }
    }

    private static func makeLoop(
        _ running: Running, _ registry: TweakRegistry, _ identity: ServerIdentity, _ hooks: TweakServerHooks
    ) throws(SocketError) -> EventLoop {
        let poller = try Poller(Kernel(faults: hooks.faults))
        try poller.add(running.mailbox.waker.descriptor, .read)
        for listener in running.listeners { try poller.add(listener.descriptor.number, .read) }
        return EventLoop(
            registry: registry, identity: identity, listeners: running.listeners, limits: running.limits,
            mailbox: running.mailbox, poller: poller, hooks: hooks)
    }
}

/// The callbacks and services of the embedding program. All of them run on the I/O thread, unless stated, and must not
/// block.
package struct TweakServerHooks: Sendable {
    /// Reads the config file and calls back with the reply, on any thread; nil if there is no such file.
    package var reload: (@Sendable (_ dry: Bool, _ then: @escaping @Sendable (Reply) -> Void) -> Void)?
    /// The audit, which records a commit before its author gets a reply; nil if there is none.
    package var audit: (any CommitSink)?
    /// The preset store; nil if there is none. Called off the I/O thread.
    package var presets: (any PresetStore)?
    package var stats: @Sendable () -> [(String, JSON)] = { [] }
    /// The names of presets, for `complete`; called off the I/O thread.
    package var presetNames: @Sendable () -> [String] = { [] }
    package var onSessionEvent: (@Sendable (TweakSessionEvent) -> Void)?
    package var access = TweakAccess()
    /// Whether clients may show values in the process without setting them.
    package var previews = false
    /// The token table at the start; `tokensChanged` updates it. Nil means that no tokens are accepted.
    package var tokens: (@Sendable () -> TokenTable)?
    /// Endpoints with their own dialects, in addition to the listeners.
    package var serverEndpoints: [any Endpoint] = []
    /// The time of day in milliseconds since 1970, by which tokens expire. It may jump.
    package var wallClock: @Sendable () -> Int64 = { ThisProcess.wallClock }
    /// Writes a line for operators to the log.
    package var report: @Sendable (String) -> Void = { StandardError.write("tweaks: \($0)\n") }
    /// How another TCP port is chosen.
    package var portRemedy = "choose another port"
    /// Called after the files of the Unix sockets were checked.
    package var onSocketCheck: @Sendable () -> Void = {}
    /// The monotonic clock for deadlines. Tests may control it; see `TweakServer.wake()`.
    package var clock: @Sendable () -> Moment = { .now }
    /// The user of the next connection on loopback, for tests; nil: the kernel is asked.
    package var loopbackUser: (@Sendable () -> UInt32?)?
    /// What probes and metrics say about this start; nil: the server is ready while it listens.
    package var readiness: Readiness?
    /// Intercepts system calls in tests.
    package var faults: (any FaultInjector)?

    package init() {}

    /// The current time.
    var now: Moment { clock() }

    /// The wall clock time of a monotonic one.
    func wallClock(at time: Moment) -> Int64 {
        wallClock() - Int64((clock() - time) / .milliseconds(1))
    }
}
