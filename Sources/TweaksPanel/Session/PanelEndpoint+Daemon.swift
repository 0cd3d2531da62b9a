// Makes the panel part of a daemon: announces its address, and keeps its token and sign-ins over a restart.

import Dispatch
import TweaksStorage
import TweaksSystem
package import TweaksServer
import TweaksWire

extension PanelEndpoint: DaemonEndpoint {
    /// Writes the files of the panel in the background: replies do not wait for a slow disk.
    private static let queue = DispatchQueue(label: "tweaks.sign-ins")

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
                if let tokenFile { Self.queue.async { _ = tokenFile.write(self, port: port) } }
                announce("the panel has a new token; sign-ins with the old one have ended")
            }
            replaceLink(for: server, hasTokens: hasTokenFile, announce)
        }
        guard let directory else { return }
        let keepsOwn = tokenFile?.write(self, port: port) ?? false
        guard keepsOwn || hasTokenFile && ports.first != 0 else { return }
        persistSignIns("\(directory)/panel-\(port).sign-ins", keepsOwn: keepsOwn, reportProblem: reportProblem)
    }

    package func finish() { Self.finishWriting() }

    /// Waits until everything is written.
    package static func finishWriting() { queue.sync {} }

    // MARK: The link

    /// Logs are kept and read by others, so they never contain the code: it is printed on a terminal, or in a file that
    /// only its owner can read.
    package func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String? {
        guard let port = server.endpointPort else { return nil }
        let link = link(port: port)
        if isOnTerminal { return "panel \(link)" }
        let plain = "panel \(plainLink(port: port))"
        guard let path = Self.linkPath(server) else {
            return hasTokens ? "\(plain) (requires a token)" : "panel \(link)"
        }
        hasLinkFile = Self.write(link, to: path)
        return hasLinkFile
            ? "\(plain) (the link with its code: \(path))"
            : "\(plain) (requires a token; the link with its code could not be written to \(path): free that name)"
    }

    /// Replaces the link after its code was used, or the token has changed: in an existing file; in the log where there
    /// is no other way to sign in. The used code is invalid already: no reply waits for the file.
    private func replaceLink(for server: TweakServer, hasTokens: Bool, _ announce: (String) -> Void) {
        guard let port = server.endpointPort else { return }
        if let path = Self.linkPath(server) {
            Self.queue.async { [self] in
                if access(path, F_OK) == 0 { _ = Self.write(link(port: port), to: path) }
            }
        } else if !hasTokens {
            announce("the next sign-in to the panel: \(link(port: port))")
        }
    }

    /// Writes the link file again if something has removed it.
    package func restoreAnnouncement(for server: TweakServer, report: @escaping @Sendable (String) -> Void) {
        guard hasLinkFile, let path = Self.linkPath(server), let port = server.endpointPort else { return }
        Self.queue.async { [self] in
            guard hasLinkFile, Self.isMissing(path), Self.write(link(port: port), to: path) else { return }
            report("the link of the panel, \(path), was removed, and is written again; let nothing clean its directory")
        }
    }

    /// Removes the link file, if it exists; what was to be written before does not come back.
    package func withdraw(from server: TweakServer) {
        hasLinkFile = false
        guard let socketPath = server.socketPaths.first else { return }
        Self.queue.sync {
            // The second file is written by tweakctl, for a browser.
            for end in [".panel", ".panel.html"] { unlink(socketPath + end) }
        }
    }

    /// The link file beside the Unix socket. In a directory such as /tmp another user may own a file of that name.
    private static func linkPath(_ server: TweakServer) -> String? { server.socketPaths.first.map { $0 + ".panel" } }

    /// Other errors are no reason to write it: the directory may be another one, or its disk does not answer.
    private static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    private static func write(_ link: String, to path: String) -> Bool {
        (try? Folder.replace(path, with: "\(link)\n")) != nil
    }

    // MARK: Sign-ins

    /// Restores the sign-ins of a file, and writes changes from now on: a line for each sign-in with a token that
    /// survives a restart. The file has mode 0600, and its name contains the panel's port, as the cookies do, so that no
    /// two processes write the same file.
    /// - Parameters:
    ///   - keepsOwn: Whether the panel's own token is kept; otherwise sign-ins with it end with the process.
    ///   - reportProblem: Called with problems of the file, after which users must sign in again after a restart.
    private func persistSignIns(
        _ path: String, keepsOwn: Bool, reportProblem: @escaping @Sendable (String) -> Void
    ) {
        let own = keepsOwn ? [] : Set(tokens.compactMap(\.scram?.id))
        var earlier: [SignIn] = []
        switch TokenFile(path: path) {
        case .bytes(let bytes):
            earlier = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { SignIn(line: $0) }
        case .missing: break
        case .refused(let reason): reportProblem("\(path): all sign-ins of the panel have ended: \(reason)")
        }
        signIns.restore(earlier) { all in
            let lines = all.filter { !own.contains($0.keyID) }.map { "\($0.line)\n" }.sorted()
            Self.queue.async {
                do throws(FileProblem) {
                    try Folder.replace(path, with: lines.joined())
                } catch {
                    reportProblem("\(path): \(error.reason)")
                }
            }
        }
    }
}

/// `panel.token` in the state directory, mode 0600: the token, the last port of the panel, and the ID in the address of
/// its page if that is kept. Only the process that holds the directory's lock reads and writes it; any other process
/// creates a token at its start.
struct PanelTokenFile {
    private let path: String
    private let reportProblem: @Sendable (String) -> Void

    init(directory: String, reportProblem: @escaping @Sendable (String) -> Void) {
        path = "\(directory)/panel.token"
        self.reportProblem = reportProblem
    }

    /// Restores the token and the port from the file.
    /// - Returns: False if another user could have written the file: the token is then not kept.
    func restore(_ endpoint: PanelEndpoint) -> Bool {
        switch TokenFile(path: path) {
        case .missing: break
        case .refused(let reason):
            reportProblem("\(path): \(reason); until then the panel creates a new token at each start")
            return false
        case .bytes(let bytes):
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            guard let secret = lines.first, TokenSecret.isWellFormed(secret) else {
                reportProblem("\(path): the file has no token; a new one is created")
                break
            }
            let word = { (name: String) in
                lines.dropFirst().first { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.utf8.count + 1)) }
            }
            let id = word("origin").flatMap { PanelID.isWellFormed($0) ? $0 : nil }
            let port = word("port").flatMap { Int($0) }.flatMap { (0...65_535).contains($0) ? $0 : nil }
            endpoint.restore(secret, port: port, id: id)
        }
        return true
    }

    /// Writes what is kept.
    /// - Returns: Whether the file could be written.
    func write(_ endpoint: PanelEndpoint, port: Int) -> Bool {
        let content =
            "\(endpoint.secret)\nport \(port)\n" + (endpoint.keepsOrigin ? "origin \(endpoint.id)\n" : "")
        if TokenFile(path: path) == .bytes(Array(content.utf8)) { return true }
        do throws(FileProblem) {
            try Folder.replace(path, with: content)
            return true
        } catch {
            reportProblem("\(path): \(error.reason); the panel's token ends with this process")
            return false
        }
    }
}
