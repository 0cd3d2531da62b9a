// Creates a daemon's components and connects them to the public daemon type.

import Tweaks
package import TweaksInterface
import TweaksServer
import TweaksStorage

extension TweakDaemon {
    /// Reads the files, opens the sockets, and starts watching both. A signal that stops the start makes a daemon that has
    /// stopped.
    /// - Parameters:
    ///   - declare: Registers tweaks; it runs first.
    ///   - temporary: The temporary directories for the socket; nil for the system's.
    package convenience init(
        serving name: String, _ configuration: Configuration, declare: () -> Void = {}, temporary: [String]? = nil
    ) throws(ServerError) {
        let settings = try DaemonSettings(name, configuration, temporary: temporary)
        // First of all: a signal must not end a process that has asked for it to be handled.
        let signals = DaemonSignals(settings, configuration.signals)
        declare()
        let log = configuration.onEvent.map { EventLog($0) } ?? EventLog(linesOf: name)
        do throws(ServerError) {
            try signals.check()
            let parts = try DaemonComponents(settings, configuration, signals, log)
            try parts.open(settings)
            self.init(parts)
        } catch {
            signals.end()
            guard signals.hasStopped else { throw error }
            log.post(.stopping)
            log.flush()
            signals.noteClosed()
            self.init(StoppedService(signals))
        }
    }
}

/// A daemon whose start was ended by a signal.
private struct StoppedService: DaemonService {
    private let signals: DaemonSignals

    init(_ signals: DaemonSignals) { self.signals = signals }

    var port: Int? { nil }
    var panelAddress: String? { nil }
    var panelToken: String? { nil }
    var socketPath: String? { nil }

    func stop() {}

    /// Returns at once, as after a stop.
    func run() async throws { signals.noteReturn() }

    func reload(dry: Bool) throws(TweakReloadError) -> TweakReload { throw TweakReloadError.noConfigFile }
}

extension DaemonComponents: DaemonService {
    var port: Int? { server.port }
    var socketPath: String? { server.socketPaths.first }
    var panelAddress: String? { server.endpointPort.flatMap { panel?.link(port: $0) } }
    var panelToken: String? { server.endpointPort.flatMap { _ in panel?.secret } }

    func stop() { close() }

    func run() async throws {
        // A signal can arrive while the program is still starting; that is not an error.
        guard server.isRunning || wasSignaled else {
            throw ServerError("the daemon was stopped already; start another one")
        }
        await server.serve()
        close()
        await whenClosed()
        signals.noteReturn()
    }

    func reload(dry: Bool) throws(TweakReloadError) -> TweakReload {
        if !dry { sources.reload() }
        guard let reloader else {
            if reloadsSources, !dry { return TweakReload(revision: registry.revision) }
            throw TweakReloadError.noConfigFile
        }
        do throws(ReloadFailure) {
            return TweakReload(reloader.path, try reloader.reload(dry: dry))
        } catch {
            throw TweakReloadError(error)
        }
    }
}

extension TweakReloadError {
    init(_ failure: ReloadFailure) {
        self.init(
            file: failure.path, problems: failure.problems.map { (line: $0.line, error: $0.error) },
            count: failure.count)
    }
}
