// The panel of a daemon: made, said, kept over a restart. In a program built without the trait Panel there is none.

import TweaksInterface
import TweaksServer

#if Panel
    import TweaksPanel

    /// A panel that is switched on.
    struct DaemonPanel: Sendable {
        private let front: PanelFront

        init?(_ chosen: TweakPanel, isMovable: Bool) {
            guard chosen.isOn else { return nil }
            front = PanelFront(chosen, isMovable: isMovable)
        }

        var fronts: [any ServerFront] { [front] }
        /// The port that it is to have, 0 for any.
        var wantedPort: Int? { front.ports.first }

        /// With the token that lets in whoever has it; nil where the server does not run.
        func address(_ server: TweakServer) -> String? { server.frontPort.map { front.link(port: $0) } }

        /// What the line says that tells where to connect.
        func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
            PanelLink(front).text(for: server, isOnTerminal: isOnTerminal, hasTokens: hasTokens)
        }

        /// Keeps sign-ins over a restart.
        func keepSignIns(directory: String, port: Int, complain: @escaping @Sendable (String) -> Void) {
            SignInFile(directory: directory, port: port).follow(front, complain: complain)
        }

        /// Before the server ends.
        func retract(_ server: TweakServer) { PanelLink.remove(for: server.socketPaths.first) }

        /// After it.
        func finish() { SignInFile.finish() }
    }
#else
    /// None can be made.
    enum DaemonPanel: Sendable {
        init?(_ chosen: TweakPanel, isMovable: Bool) { return nil }

        var fronts: [any ServerFront] { [] }
        var wantedPort: Int? { nil }

        func address(_ server: TweakServer) -> String? { nil }
        func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? { nil }
        func keepSignIns(directory: String, port: Int, complain: @escaping @Sendable (String) -> Void) {}
        func retract(_ server: TweakServer) {}
        func finish() {}
    }
#endif

extension DaemonPanel {
    /// What a program is told that wants one and cannot have it.
    static func lack(_ chosen: TweakPanel, _ word: String?) -> String? {
        #if Panel
            nil
        #else
            chosen.isOn || word != nil
                ? "there is no panel: the program is built without the trait Panel of the package Tweaks" : nil
        #endif
    }
}
