// Makes the panel a part of a daemon: its address is said, its token and its sign-ins outlive a restart.

package import TweaksServer

extension PanelFront: DaemonFront {
    package func resume(from directory: String, complain: @escaping @Sendable (String) -> Void) {
        let file = PanelTokenFile(directory: directory, complain: complain)
        if file.resume(self) { tokenFile = file }
    }

    package func keep(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        complain: @escaping @Sendable (String) -> Void, whenRotated: @escaping @Sendable () -> Void
    ) {
        guard let directory, let port = server.frontPort else { return }
        let keepsOwn =
            tokenFile?.follow(self, port: port) { [weak server, weak self] in
                whenRotated()
                if let server, let self { PanelLink(front: self).rewrite(for: server) }
            } ?? false
        guard keepsOwn || hasTokenFile && ports.first != 0 else { return }
        SignInFile(directory: directory, port: port).follow(self, keepsOwn: keepsOwn, complain: complain)
    }

    package func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        PanelLink(front: self).text(for: server, isOnTerminal: isOnTerminal, hasTokens: hasTokens)
    }

    package func retract(from server: TweakServer) { PanelLink.remove(for: server.socketPaths.first) }

    package func finish() { SignInFile.finish() }
}
