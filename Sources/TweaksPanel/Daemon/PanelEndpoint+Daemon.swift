// Makes the panel part of a daemon: announces its address, and keeps its token and sign-ins over a restart.

package import TweaksServer

extension PanelEndpoint: DaemonEndpoint {
    package func restore(from directory: String, reportProblem: @escaping @Sendable (String) -> Void) {
        let file = PanelTokenFile(directory: directory, reportProblem: reportProblem)
        if file.restore(self) { tokenFile = file }
    }

    package func persist(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        reportProblem: @escaping @Sendable (String) -> Void, announce: @escaping @Sendable (String) -> Void
    ) {
        guard let port = server.endpointPort else { return }
        onChange { [weak server, weak self] change in
            guard let server, let self else { return }
            if change == .token {
                tokenFile?.rewrite(self, port: port)
                announce("the panel has a new token; sign-ins with the old one have ended")
            }
            PanelLink(endpoint: self).replace(for: server, hasTokens: hasTokenFile, announce)
        }
        guard let directory else { return }
        let keepsOwn = tokenFile?.write(self, port: port) ?? false
        guard keepsOwn || hasTokenFile && ports.first != 0 else { return }
        SignInFile(directory: directory, port: port).persist(self, keepsOwn: keepsOwn, reportProblem: reportProblem)
    }

    package func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        PanelLink(endpoint: self).text(for: server, isOnTerminal: isOnTerminal, hasTokens: hasTokens)
    }

    package func restoreAnnouncement(for server: TweakServer, report: @escaping @Sendable (String) -> Void) {
        PanelLink(endpoint: self).restore(for: server, report: report)
    }

    package func withdraw(from server: TweakServer) { PanelLink(endpoint: self).remove(for: server.socketPaths.first) }

    package func finish() { SignInFile.finish() }
}
