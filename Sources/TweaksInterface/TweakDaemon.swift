// The daemon that a program holds: its addresses, its reload, its end.

import Tweaks

/// A program's tweaks, served, kept on disk, and read from a config file.
///
/// ```swift
/// let daemon = try TweakDaemon.start("throttled", config: "/etc/throttled.conf", tweaks: Settings.all)
/// try await daemon.run()
/// ```
///
/// Until this is called, declaring tweaks has no consequence. It opens a Unix socket for the user's own processes, in
/// `$XDG_RUNTIME_DIR/tweaks` or else `tweaks-UID` in the temporary directory, and TCP where the program says so; it
/// keeps overrides in the user's state directory. The environment can move or end all of it:
///
/// | variable | meaning |
/// | --- | --- |
/// | `TWEAKS_SOCKET` | the path of the Unix socket, or `off` |
/// | `TWEAKS_PORT` | the TCP port, 0 for a free one, or `off`; only where the program opened TCP, or with a token file |
/// | `TWEAKS_PANEL_PORT` | the port of the web page, 0 for a free one, or `off` |
/// | `TWEAKS_TOKEN_FILE` | the file of the tokens, or `off`; with it TCP asks everybody for one |
/// | `TWEAKS_CONFIG` | the config file, or `off` |
/// | `TWEAKS_STATE_DIR` | the directory of the overrides, or `off` |
/// | `TWEAKS_AUDIT` | the file to which every commit is appended, with a second one beside it for refusals, or `off` |
/// | `TWEAKS_AUDIT_DAYS` | so many days of it are kept, however much that is; 30 unless the program says otherwise |
/// | `TWEAKS_FROZEN` | `1`: values are their defaults and sets are refused |
public final class TweakDaemon: Sendable {
    /// Takes events, one at a time, on a queue of its own.
    public typealias EventHandler = @Sendable (TweakDaemonEvent) -> Void

    /// Nil in a program that is built to serve nothing.
    private let service: (any DaemonService)?

    package init(_ service: (any DaemonService)?) { self.service = service }

    /// Ends all sessions with `error closing`, removes the socket, writes what is not on disk yet, and returns when
    /// that is done. Does nothing when it was stopped before.
    public func stop() { service?.stop() }

    /// Serves until the task is cancelled, a signal comes that stops it, or ``stop()`` is called; then stops.
    ///
    /// ```swift
    /// async let tweaks: Void = daemon.run()
    /// ```
    /// - Throws: `ServerError` when the daemon was stopped before.
    public func run() async throws {
        guard let service else { return await Self.waitForCancellation() }
        try await service.run()
    }

    /// Reads the config file now, and takes it at its word, as the command `reload` does. Observers of what changed
    /// run on threads of the server's, as for changes from a socket.
    /// - Parameter dry: Only says what would change.
    /// - Throws: ``TweakReloadError`` with what is wrong; nothing has changed then. Also when the daemon has ended, or
    ///   ends meanwhile.
    @discardableResult
    public func reload(dry: Bool = false) throws(TweakReloadError) -> TweakReload {
        guard let service else { throw TweakReloadError.noConfigFile }
        return try service.reload(dry: dry)
    }

    /// The TCP port; nil where TCP is off.
    public var port: Int? { service?.port }

    /// The address of the web page with its own token, which lets in anyone who has it; nil where it is off.
    public var panelAddress: String? { service?.panelAddress }

    /// The path of the Unix socket; nil where it is off.
    public var socketPath: String? { service?.socketPath }
}

/// The part of a daemon that serves.
package protocol DaemonService: Sendable {
    var port: Int? { get }
    var panelAddress: String? { get }
    var socketPath: String? { get }

    func stop()
    func run() async throws
    func reload(dry: Bool) throws(TweakReloadError) -> TweakReload
}

extension TweakReloadError {
    /// There is nothing to read.
    package static var noConfigFile: TweakReloadError {
        TweakReloadError(
            file: "no config file", reason: TweakError(.io, "name one in start, or set TWEAKS_CONFIG"))
    }
}
