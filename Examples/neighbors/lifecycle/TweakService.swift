// Runs a daemon as a service of a group: the group's signals stop and reload it.

import Dispatch
public import Logging
public import ServiceLifecycle
public import TweaksDaemon
public import UnixSignals

/// A daemon in a `ServiceGroup`, whose graceful shutdown stops it.
///
/// The daemon is started before the group, so that the values are there when other services begin; its signals are left
/// to the group. Services stop in the reverse order: it comes first, to be there until the others have ended. Where an
/// HTTP server of the group has the panel in its router, it comes after that: with it end the event streams of open
/// pages, for which the server would wait.
///
/// ```swift
/// let daemon = try TweakDaemon.start("quotes", config: "/etc/quotes.conf", signals: [], tweaks: Settings.all)
/// let group = ServiceGroup(
///     services: [TweakService(daemon, logger: logger), server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// `SIGHUP` reloads the config file, and asks the program's own sources for changes, while the service runs.
public struct TweakService: Service {
    private let daemon: TweakDaemon
    private let reloads: [UnixSignal]
    private let logger: Logger

    /// A service for a daemon.
    /// - Parameters:
    ///   - daemon: A daemon that was started with `signals: []`.
    ///   - reloads: The signals at which it reloads; none if another service has them.
    ///   - logger: Where reloads are logged, and, by a line of the level debug, that the signals are taken from now on.
    public init(_ daemon: TweakDaemon, reloadsAt reloads: [UnixSignal] = [.sighup], logger: Logger) {
        self.daemon = daemon
        self.reloads = reloads
        self.logger = logger
    }

    /// Serves until a graceful shutdown or the cancellation of the task; then what is unsaved is written.
    /// - Throws: `ServerError` if the daemon was stopped before.
    public func run() async throws {
        // Before anything waits: a signal that comes from now on ends no process.
        let signals = await UnixSignalsSequence(trapping: reloads)
        logger.debug("ready to reload", metadata: ["signals": "\(reloads)"])
        // It ends with this scope.
        async let _ = reload(at: signals)
        try await cancelWhenGracefulShutdown { try await daemon.run() }
    }

    private func reload(at signals: UnixSignalsSequence) async {
        for await signal in signals {
            // It reads files, and waits for sources: not on a thread of tasks.
            await withCheckedContinuation { isDone in
                DispatchQueue.global().async {
                    reload(at: signal)
                    isDone.resume()
                }
            }
        }
    }

    private func reload(at signal: UnixSignal) {
        do {
            let reload = try daemon.reload()
            logger.info("reloaded", metadata: ["signal": "\(signal)", "revision": "\(reload.revision)"])
        } catch {
            logger.warning("not reloaded", metadata: ["signal": "\(signal)", "reason": "\(error)"])
        }
    }
}
