// Where the panel's address is said, token and all: on a terminal, or in a file that only its owner reads.

import TweaksServer
import TweaksSystem

/// The address of a running panel. A log is read by others, and kept; so the token is not in it.
struct PanelLink {
    let front: PanelFront

    /// What the line says that tells where to connect, after everything that has to be done for it.
    /// - Parameters:
    ///   - isOnTerminal: The line goes to a person.
    ///   - hasTokens: There are tokens in a file, too.
    func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        guard let port = server.frontPort else { return nil }
        let link = front.link(port: port)
        if isOnTerminal { return "panel \(link)" }
        let plain = "panel \(front.plainLink(port: port))"
        if let path = Self.path(server) {
            let isWritten = Self.write(link, to: path)
            return isWritten
                ? "\(plain) (the link with its token: \(path))"
                : "\(plain) (for who shows a token; the link with its own could not be written to \(path): free that name)"
        }
        return hasTokens ? "\(plain) (for who shows a token)" : "panel \(link)"
    }

    /// Beside the Unix socket. In a directory such as /tmp somebody else may have that name.
    private static func path(_ server: TweakServer) -> String? { server.socketPaths.first.map { $0 + ".panel" } }

    /// Writes it again where it was written: there is another token.
    func rewrite(for server: TweakServer) {
        guard let path = Self.path(server), let port = server.frontPort, access(path, F_OK) == 0 else { return }
        _ = Self.write(front.link(port: port), to: path)
    }

    private static func write(_ link: String, to path: String) -> Bool {
        (try? Folder.replace(path, with: "\(link)\n")) != nil
    }

    /// Removes the file, if there is one.
    static func remove(for socketPath: String?) {
        // The second one is made by tweakctl, for a browser.
        if let socketPath { for end in [".panel", ".panel.html"] { unlink(socketPath + end) } }
    }
}
