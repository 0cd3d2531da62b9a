// Makes the panel part of a daemon: announces its address, and keeps its token and sign-ins over a restart.

package import TweaksServer

extension PanelEndpoint: DaemonEndpoint {
    package func restore(from directory: String, reportProblem: @escaping @Sendable (String) -> Void) {
        let file = PanelTokenFile(directory: directory, reportProblem: reportProblem)
        if file.restore(self) { tokenFile = file }
    }

    package func persist(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        reportProblem: @escaping @Sendable (String) -> Void, onTokenRotated: @escaping @Sendable () -> Void
    ) {
        guard let directory, let port = server.endpointPort else { return }
        let keepsOwn =
            tokenFile?.persist(self, port: port) { [weak server, weak self] in
                onTokenRotated()
                if let server, let self { PanelLink(endpoint: self).rewrite(for: server) }
            } ?? false
        guard keepsOwn || hasTokenFile && ports.first != 0 else { return }
        SignInFile(directory: directory, port: port).persist(self, keepsOwn: keepsOwn, reportProblem: reportProblem)
    }

    package func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        PanelLink(endpoint: self).text(for: server, isOnTerminal: isOnTerminal, hasTokens: hasTokens)
    }

    package func withdraw(from server: TweakServer) { PanelLink.remove(for: server.socketPaths.first) }

    package func finish() { SignInFile.finish() }
}
