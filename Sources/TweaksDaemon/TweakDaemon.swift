// One call that makes a program's tweaks editable.

import Foundation
public import Tweaks
public import TweaksServer

/// A program's tweaks, served.
///
/// ```swift
/// let daemon = try TweakDaemon.start("bounce", tweaks: Look.size, Look.text)
/// defer { daemon.stop() }
/// ```
///
/// Until this is called, declaring tweaks has no consequence. It opens a Unix socket for the user's own processes, in
/// `$XDG_RUNTIME_DIR/tweaks` or else `tweaks-UID` in the temporary directory, and TCP where the program says so; the
/// environment can move or close both:
///
/// | variable | meaning |
/// | --- | --- |
/// | `TWEAKS_SOCKET` | the path of the Unix socket, or `off` |
/// | `TWEAKS_PORT` | the TCP port, 0 for a free one; only where the program opened TCP |
/// | `TWEAKS_FROZEN` | `1`: values are their defaults and sets are refused |
public final class TweakDaemon: Sendable {
    /// Whether a daemon listens on TCP.
    public enum TCP: Equatable, Sendable {
        /// Not at all.
        case off
        /// On 127.0.0.1 and ::1, without a token: every user and container of this network namespace can connect and
        /// change tweaks. The port is the one to prefer; when it is taken, a free one is used.
        case open(port: Int)
    }

    private let server: TweakServer

    private init(server: TweakServer) { self.server = server }

    /// Serves a registry's tweaks, and says where on standard error before the first connection is accepted.
    /// - Parameters:
    ///   - name: What the program is called: letters, digits, `.`, `_` and `-`. It names the socket.
    ///   - tcp: Whether TCP is open, too.
    ///   - registry: Whose tweaks are served.
    ///   - limits: What clients may take.
    ///   - tweaks: Tweaks and actions to register first. Statics are lazy: one that nobody has touched yet would be
    ///     missing from every list.
    /// - Throws: `ServerError` that names what is wrong and the remedy.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        try start(name, tcp: tcp, registry: registry, limits: limits, tweaks: tweaks)
    }

    /// The same with a list, which a program can keep beside its declarations.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), tweaks: [any TweakHandle]
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, registry: registry, limits: limits, environment: ProcessInfo.processInfo.environment,
            log: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
    }

    /// The same with an environment and a log of the caller's.
    package static func start(
        _ name: String, tcp: TCP = .off, registry: TweakRegistry, limits: TweakServerLimits = TweakServerLimits(),
        environment: [String: String], log: @escaping @Sendable (String) -> Void
    ) throws(ServerError) -> TweakDaemon {
        let settings = try DaemonSettings(name: name, tcp: tcp, environment: environment)
        for warning in settings.warnings { log("\(name): \(warning)") }
        if settings.isFrozen { registry.freeze() }
        registry.onConflict { log("\(name): \($0)") }
        let server = try settings.startFirst { listeners throws(ServerError) in
            let server = TweakServer(name: name, registry: registry, listeners: listeners, limits: limits)
            try server.start { log("\(name): \(Self.whereabouts($0, frozen: settings.isFrozen))") }
            return server
        }
        return TweakDaemon(server: server)
    }

    /// Ends all sessions with `error closing`, removes the socket, and returns when that is done.
    public func stop() { server.stop() }

    /// Serves until the task is cancelled, then stops.
    ///
    /// ```swift
    /// async let tweaks: Void = daemon.run()
    /// ```
    /// - Throws: `ServerError` when the daemon was stopped before.
    public func run() async throws {
        guard server.isRunning else { throw ServerError("the daemon was stopped already; start another one") }
        await server.serve()
    }

    /// The TCP port; nil where TCP is off.
    public var port: Int? { server.port }

    /// The path of the Unix socket; nil where it is off.
    public var socketPath: String? { server.socketPaths.first }

    /// The line that says where to connect.
    private static func whereabouts(_ server: TweakServer, frozen: Bool) -> String {
        var places: [String] = []
        if let port = server.port {
            places.append("127.0.0.1:\(port) (open to every user and container of this network namespace)")
        }
        places += server.socketPaths.map { "unix socket \($0)" }
        if places.isEmpty { return "tweaks are not served: TWEAKS_SOCKET is off and TCP is not open" }
        let command = server.port.map { "nc 127.0.0.1 \($0)" } ?? "nc -U \(server.socketPaths.first ?? "")"
        return "tweaks at \(places.joined(separator: " and "))\(frozen ? ", frozen" : ""); try: \(command)"
    }
}
