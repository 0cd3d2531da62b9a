// Creates a daemon's components and connects them to the public daemon type.

import Tweaks
package import TweaksInterface
import TweaksServer
import TweaksStorage

extension TweakDaemon {
    /// Reads the files, opens the sockets, and starts watching both.
    package convenience init(
        serving name: String, _ configuration: Configuration
    ) throws(ServerError) {
        let settings = try DaemonSettings(name, configuration)
        let log = configuration.onEvent.map { EventLog($0) } ?? EventLog(linesOf: name)
        let parts = try DaemonComponents(settings, configuration, log)
        parts.open(settings)
        self.init(parts)
    }
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
    }

    func reload(dry: Bool) throws(TweakReloadError) -> TweakReload {
        guard let reloader else { throw TweakReloadError.noConfigFile }
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
