// One call that makes a program's tweaks editable, durable and reloadable.

public import Tweaks
import TweaksPanel
public import TweaksServer
import TweaksStorage
import TweaksSystem

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

    /// Nil in a program that is built with the trait `Frozen`.
    private let parts: DaemonParts?

    private init(_ parts: DaemonParts?) { self.parts = parts }

    /// Serves a registry's tweaks, and says where before the first connection is accepted.
    /// - Parameters:
    ///   - name: What the program is called: letters, digits, `.`, `_` and `-`. It names the socket and the folder.
    ///   - tcp: Whether TCP is open, too.
    ///   - panel: Whether there is a web page, and HTTP for programs. The line that says where to connect has its address.
    ///   - tokens: The file of the tokens, which `tweakctl token new` writes; `TWEAKS_TOKEN_FILE` wins over it. It is
    ///     read again when it changes: who has shown a token that is not in it any more loses what it gave, at once.
    ///   - access: Who else may do what on the Unix socket, and what is given on request.
    ///   - config: The config file; its values lie above the defaults and below overrides.
    ///   - storage: Where overrides are kept.
    ///   - durability: What happens to a change that the disk refuses.
    ///   - audit: A file to which every commit is appended.
    ///   - signals: What signals do. `SIGTERM` and `SIGINT` are left alone unless the program wants them.
    ///   - registry: Whose tweaks are served.
    ///   - limits: What clients may take.
    ///   - onEvent: Told of everything worth logging. Without one, each event is a line on standard error, but for
    ///     changes that the program made itself.
    ///   - tweaks: Tweaks, groups, actions and lists of them to register first, beside those of modules with a
    ///     `TweakList`. Statics are lazy: one that nobody has touched yet would be missing from every list.
    /// - Throws: `ServerError` that names what is wrong and the remedy.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload,
        registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), onEvent: EventHandler? = nil, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, storage: storage,
            durability: durability,
            audit: audit, signals: signals,
            registry: registry, limits: limits, onEvent: onEvent, tweaks: tweaks)
    }

    /// The same with a list, which a program can keep beside its declarations.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload,
        registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), onEvent: EventHandler? = nil, tweaks: [any TweakHandle]
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, storage: storage,
            durability: durability,
            audit: audit, signals: signals,
            registry: registry, limits: limits, environment: ThisProcess.environment,
            // A program's own handler writes who knows where.
            isOnTerminal: onEvent == nil && StandardError.isTerminal, onEvent: onEvent ?? standardErrorLog(name))
    }

    /// The same with an environment of the caller's.
    package static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload, registry: TweakRegistry,
        limits: TweakServerLimits = TweakServerLimits(), environment: [String: String],
        isOnTerminal: Bool = StandardError.isTerminal, onEvent: @escaping EventHandler
    ) throws(ServerError) -> TweakDaemon {
        if FrozenTrait.isOn {
            onEvent(.warning("built with the Frozen trait: tweaks are constants; nothing is served"))
            return TweakDaemon(nil)
        }
        registerLists()
        let settings = try DaemonSettings(
            name: name, tcp: tcp, tokens: tokens, config: config, storage: storage, durability: durability,
            audit: audit,
            panel: panel.settings, environment: environment, isOnTerminal: isOnTerminal)
        let parts = try DaemonParts(
            settings, access: access, durability: durability, signals: signals, registry: registry, limits: limits,
            environment: environment, log: EventLog(onEvent))
        parts.open(settings)
        return TweakDaemon(parts)
    }

    /// One line for each event; several where it has several parts.
    private static func standardErrorLog(_ name: String) -> EventHandler {
        let gate = LogGate { StandardError.write("\(name): \($0)\n") }
        return { event in
            switch event {
            // What the program does itself is no news to its own log; what a file did is said by the reload.
            case .changed(let commit) where [.code, .configFile].contains(commit.origin): return
            case .changed(let commit):
                return gate.pass(event.lines, of: AuditNote.name(of: commit.origin))
            case .session(let session):
                return gate.pass(event.lines, of: AuditNote.name(of: session.session.identity, session.session.peer))
            case .stopping: gate.end()
            default: break
            }
            // Whoever reads the log may be gone; that is no reason to end.
            StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined())
        }
    }

    /// Ends all sessions with `error closing`, removes the socket, writes what is not on disk yet, and returns when
    /// that is done. Does nothing when it was stopped before.
    public func stop() { parts?.close() }

    /// Serves until the task is cancelled, a signal comes that stops it, or ``stop()`` is called; then stops.
    ///
    /// ```swift
    /// async let tweaks: Void = daemon.run()
    /// ```
    /// - Throws: `ServerError` when the daemon was stopped before.
    public func run() async throws {
        guard let parts else { return await Self.waitForCancellation() }
        // A signal may come while the program is still about to begin; that is no failure.
        guard parts.server.isRunning || parts.wasSignalled else {
            throw ServerError("the daemon was stopped already; start another one")
        }
        await parts.server.serve()
        parts.close()
        await parts.whenClosed()
    }

    /// Reads the config file now, and takes it at its word, as the command `reload` does. Observers of what changed
    /// run on threads of the server's, as for changes from a socket.
    /// - Parameter dry: Only says what would change.
    /// - Throws: ``TweakReloadError`` with what is wrong; nothing has changed then. Also when the daemon has ended, or
    ///   ends meanwhile.
    @discardableResult
    public func reload(dry: Bool = false) throws(TweakReloadError) -> TweakReload {
        guard let reloader = parts?.reloader else {
            throw TweakReloadError(
                file: "no config file", reason: TweakError(.io, "name one in start, or set TWEAKS_CONFIG"))
        }
        do throws(ReloadFailure) {
            return TweakReload(reloader.path, try reloader.reload(dry: dry))
        } catch {
            throw TweakReloadError(error)
        }
    }

    /// The TCP port; nil where TCP is off.
    public var port: Int? { parts?.server.port }

    /// The address of the web page with its own token, which lets in whoever has it; nil where it is off.
    public var panelAddress: String? { parts?.server.panelAddress }

    /// The path of the Unix socket; nil where it is off.
    public var socketPath: String? { parts?.server.socketPaths.first }
}
