// Announces the panel's address with its code: on a terminal, or in a file that only its owner can read.

import TweaksServer
import TweaksSystem

/// The address of a running panel. Logs are kept and read by others, so they never contain the code.
struct PanelLink {
    let endpoint: PanelEndpoint

    /// Writes the link file if needed, and returns the text about the panel for the line with the daemon's addresses.
    /// - Parameters:
    ///   - isOnTerminal: The line is printed on a terminal.
    ///   - hasTokens: The daemon also has a token file.
    func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        guard let port = server.endpointPort else { return nil }
        let link = endpoint.link(port: port)
        if isOnTerminal { return "panel \(link)" }
        let plain = "panel \(endpoint.plainLink(port: port))"
        if let path = Self.path(server) {
            let isWritten = Self.write(link, to: path)
            endpoint.hasLinkFile = isWritten
            return isWritten
                ? "\(plain) (the link with its code: \(path))"
                : "\(plain) (requires a token; the link with its code could not be written to \(path): free that name)"
        }
        return hasTokens ? "\(plain) (requires a token)" : "panel \(link)"
    }

    /// Replaces the link after its code was used, or the token has changed: in an existing file; in the log where there
    /// is no other way to sign in.
    func replace(for server: TweakServer, hasTokens: Bool, _ announce: (String) -> Void) {
        guard let port = server.endpointPort else { return }
        let link = endpoint.link(port: port)
        if let path = Self.path(server) {
            if access(path, F_OK) == 0 { _ = Self.write(link, to: path) }
        } else if !hasTokens {
            announce("the next sign-in to the panel: \(link)")
        }
    }

    /// The link file beside the Unix socket. In a directory such as /tmp another user may own a file of that name.
    private static func path(_ server: TweakServer) -> String? { server.socketPaths.first.map { $0 + ".panel" } }

    /// Writes the link file again if something has removed it.
    /// - Returns: What to report; nil if nothing is missing.
    func restore(for server: TweakServer) -> String? {
        guard endpoint.hasLinkFile, let path = Self.path(server), let port = server.endpointPort,
            access(path, F_OK) != 0, Self.write(endpoint.link(port: port), to: path)
        else { return nil }
        return "the link of the panel, \(path), was removed, and is written again"
    }

    private static func write(_ link: String, to path: String) -> Bool {
        (try? Folder.replace(path, with: "\(link)\n")) != nil
    }

    /// Removes the link file, if it exists.
    static func remove(for socketPath: String?) {
        // The second file is written by tweakctl, for a browser.
        if let socketPath { for end in [".panel", ".panel.html"] { unlink(socketPath + end) } }
    }
}
