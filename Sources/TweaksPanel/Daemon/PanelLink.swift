// Announces the panel's address with its code: on a terminal, or in a file that only its owner can read.

import Dispatch
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
    /// is no other way to sign in. The used code is invalid already: no reply waits for the file.
    func replace(for server: TweakServer, hasTokens: Bool, _ announce: (String) -> Void) {
        guard let port = server.endpointPort else { return }
        if let path = Self.path(server) {
            SignInFile.queue.async {
                if access(path, F_OK) == 0 { _ = Self.write(endpoint.link(port: port), to: path) }
            }
        } else if !hasTokens {
            announce("the next sign-in to the panel: \(endpoint.link(port: port))")
        }
    }

    /// The link file beside the Unix socket. In a directory such as /tmp another user may own a file of that name.
    private static func path(_ server: TweakServer) -> String? { server.socketPaths.first.map { $0 + ".panel" } }

    /// Writes the link file again, in the background, if something has removed it.
    /// - Parameter report: Called with what was done; not if nothing is missing.
    func restore(for server: TweakServer, report: @escaping @Sendable (String) -> Void) {
        guard endpoint.hasLinkFile, let path = Self.path(server), let port = server.endpointPort else { return }
        SignInFile.queue.async {
            guard endpoint.hasLinkFile, Self.isMissing(path), Self.write(endpoint.link(port: port), to: path) else {
                return
            }
            report("the link of the panel, \(path), was removed, and is written again; let nothing clean its directory")
        }
    }

    /// Other errors are no reason to write it: the directory may be another one, or its disk does not answer.
    private static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    private static func write(_ link: String, to path: String) -> Bool {
        (try? Folder.replace(path, with: "\(link)\n")) != nil
    }

    /// Removes the link file, if it exists; what was to be written before does not come back.
    func remove(for socketPath: String?) {
        endpoint.hasLinkFile = false
        guard let socketPath else { return }
        SignInFile.queue.sync {
            // The second file is written by tweakctl, for a browser.
            for end in [".panel", ".panel.html"] { unlink(socketPath + end) }
        }
    }
}
