// Starts the parts of a daemon, and writes its log to standard error.

import Tweaks
package import TweaksInterface
import TweaksServer
import TweaksStorage
import TweaksSystem

extension TweakDaemon {
    /// Reads the files, opens the sockets, and follows what happens to both.
    package convenience init(
        serving name: String, _ configuration: Configuration, _ onEvent: @escaping EventHandler
    ) throws(ServerError) {
        let settings = try DaemonSettings(name, configuration)
        let parts = try DaemonParts(settings, configuration, EventLog(onEvent))
        parts.open(settings)
        self.init(parts)
    }

    /// One line for each event; several where it has several parts.
    package static func lines(of name: String) -> EventHandler {
        let gate = LogGate { StandardError.write("\(name): \($0)\n") }
        return { event in
            switch event {
            // What the program does itself is no news to its own log; what a file did is said by the reload.
            case .changed(let commit) where [.code, .configFile].contains(commit.origin): return
            case .changed(let commit):
                return gate.pass(
                    event.lines, count: min(commit.changes.count, 21), of: AuditNote.name(of: commit.origin))
            case .session(let session):
                let (lines, name) = (event.lines, AuditNote.name(of: session.session.identity, session.session.peer))
                return gate.pass(lines, count: lines.count, of: name)
            case .stopping: gate.end()
            default: break
            }
            // The reader of the log may be gone; that is no reason to end.
            StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined())
        }
    }
}

extension DaemonParts: DaemonService {
    var port: Int? { server.port }
    var socketPath: String? { server.socketPaths.first }
    var panelAddress: String? { server.frontPort.flatMap { panel?.link(port: $0) } }

    func stop() { close() }

    func run() async throws {
        // A signal may come while the program is still about to begin; that is no failure.
        guard server.isRunning || wasSignalled else {
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
