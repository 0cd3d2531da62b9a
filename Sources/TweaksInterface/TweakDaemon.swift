// Controls a running daemon: its addresses, reload and stop.

import Synchronization
import Tweaks

/// A program's tweaks, served, stored on disk, and loaded from a config file.
///
/// ```swift
/// let daemon = try TweakDaemon.start("throttled", config: "/etc/throttled.conf", tweaks: Settings.all)
/// try await daemon.run()
/// ```
///
/// Until this is called, declaring tweaks has no effect. It opens a Unix socket for the user's own processes, in
/// `$XDG_RUNTIME_DIR/tweaks` or else `tweaks-UID` in the temporary directory, and TCP if the program opens it; it
/// stores overrides in the user's state directory. Environment variables can move or disable each of these:
///
/// | variable | meaning |
/// | --- | --- |
/// | `TWEAKS_SOCKET` | the path of the Unix socket, or `off` |
/// | `TWEAKS_PORT` | the TCP port, 0 for a free one, or `off`; only where the program opened TCP, or with a token file |
/// | `TWEAKS_PANEL_PORT` | the port of the web page, 0 for a free one, or `off` |
/// | `TWEAKS_METRICS_PORT` | the port of exported figures for Prometheus, 0 for a free one, or `off` |
/// | `TWEAKS_TOKEN_FILE` | the token file, or `off`; with it TCP asks for a token |
/// | `TWEAKS_CONFIG` | the config file, or `off` |
/// | `TWEAKS_STATE_DIR` | the directory of the overrides, or `off` |
/// | `TWEAKS_AUDIT` | the file to which every commit is appended, with one beside it for refusals, or `off` |
/// | `TWEAKS_AUDIT_DAYS` | how many days of it are kept at least; 30 unless the program sets it |
/// | `TWEAKS_LOG` | the format and the lowest level of the log: `text`, `json` or `logfmt`, and `debug`, `info` or `warning` |
/// | `TWEAKS_FROZEN` | `1`: values are their defaults and sets are refused |
/// | `TWEAKS_TMPDIR` | the only temporary directory for a socket, for `tweakctl`, too |
public final class TweakDaemon: Sendable {
    /// Handles events, one at a time, on its own queue.
    public typealias EventHandler = @Sendable (TweakDaemonEvent) -> Void

    /// Nil in a program that is built to serve nothing.
    package let service: (any DaemonService)?

    package init(_ service: (any DaemonService)?) { self.service = service }

    /// Ends all sessions with `error closing`, removes the socket, writes unsaved changes to disk, and returns when
    /// that is done. A second call does nothing.
    public func stop() { service?.stop() }

    /// Serves until the task is canceled, a stop signal arrives, or ``stop()`` is called; then stops.
    ///
    /// ```swift
    /// async let tweaks: Void = daemon.run()
    /// ```
    /// - Throws: `ServerError` if the daemon was stopped before.
    public func run() async throws {
        guard let service else { return await Self.untilCanceled() }
        try await service.run {}
    }

    /// Serves while a program runs; a stop signal cancels its task. Stops when it has ended.
    ///
    /// A program is not begun when a signal has ended the start: its values may not be loaded.
    /// - Throws: The error of the program. What it throws after a stop signal is the effect of the cancellation.
    package func run(
        _ program: sending @escaping @isolated(any) () async throws -> Void
    ) async throws {
        if service?.wasStoppedAtStart ?? false { return try await run() }
        let program = Task(operation: program)
        let wasStopped = Mutex(false)
        let serving = Task {
            guard let service else { return await Self.untilCanceled() }
            try? await service.run {
                wasStopped.withLock { $0 = true }
                program.cancel()
                _ = await program.result
            }
        }
        let result = await withTaskCancellationHandler {
            await program.result
        } onCancel: {
            program.cancel()
        }
        let isEffect = wasStopped.withLock { $0 } || Task.isCancelled
        if !isEffect, case .failure = result { service?.noteFailure() }
        stop()
        serving.cancel()
        await serving.value
        if !isEffect { try result.get() }
    }

    /// Reads the config file now and applies it even if it looks incomplete, as the command `reload` does. Before that
    /// it asks the program's own sources to look for changes, whose commits it does not report. Observers run on the
    /// server's threads, as for changes from a socket.
    /// - Parameter dry: Reports the changes of the file without applying them, and does not ask the sources.
    /// - Throws: ``TweakReloadError`` with the problems; nothing has changed then. Also if the daemon has stopped or is
    ///   stopping.
    @discardableResult
    public func reload(dry: Bool = false) throws(TweakReloadError) -> TweakReload {
        guard let service else { throw TweakReloadError.noConfigFile }
        return try service.reload(dry: dry)
    }

    /// The TCP port; nil where TCP is off.
    public var port: Int? { service?.port }

    /// The address of the web page with a code that signs in one browser, with all rights; nil where it is off. Once the
    /// code is used, the address has another one.
    public var panelAddress: String? { service?.panelAddress }

    /// The panel's own token, with which programs have all rights; nil where the panel is off.
    public var panelToken: String? { service?.panelToken }

    /// The port of the metrics; nil where it is off.
    public var metricsPort: Int? { service?.metricsPort }

    /// The path of the Unix socket; nil where it is off.
    public var socketPath: String? { service?.socketPath }

    /// Returns when the task is canceled. It uses no timer, which would need a thread.
    @usableFromInline package static func untilCanceled() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        // Releasing the continuation earlier would end the stream.
        continuation.finish()
    }
}

/// The running server behind a daemon.
package protocol DaemonService: Sendable {
    var port: Int? { get }
    var panelAddress: String? { get }
    var panelToken: String? { get }
    var metricsPort: Int? { get }
    var socketPath: String? { get }

    /// Whether a signal has ended its start.
    var wasStoppedAtStart: Bool { get }

    /// Notes that the program ends by an error.
    func noteFailure()
    func stop()
    /// Serves until it is stopped. Once it has stopped, the end of the process is up to the program when `body` returns.
    func run(_ body: @Sendable () async -> Void) async throws
    func reload(dry: Bool) throws(TweakReloadError) -> TweakReload
}

extension TweakReloadError {
    /// No config file is configured.
    package static var noConfigFile: TweakReloadError {
        TweakReloadError(
            file: "no config file", reason: TweakError(.io, "name one in start, or set TWEAKS_CONFIG"))
    }
}

/// Why the server cannot start.
public struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Names the subject, what is wrong, and the remedy.
    public let description: String
    /// Whether another process holds the socket or port.
    package let isTaken: Bool
    /// Whether this machine does not let this user have a socket there; another place may do.
    package let isUnavailable: Bool

    package init(_ description: String, isTaken: Bool = false, isUnavailable: Bool = false) {
        // The text quotes paths and variables, which can contain any characters.
        self.description = Quoting.sanitizedLines(description)
        self.isTaken = isTaken
        self.isUnavailable = isUnavailable
    }
}
