// Keeps the panel's own token, its port and its page's address over a restart, so that sign-ins remain valid.

import Dispatch
import TweaksStorage
import TweaksSystem
import TweaksWire

/// `panel.token` in the state directory, mode 0600: the token, the last port of the panel, and the ID in the address of
/// its page if that is kept. Only the process that
/// holds the directory's lock reads and writes it; any other process creates a token at its start.
struct PanelTokenFile {
    private let path: String
    private let reportProblem: @Sendable (String) -> Void

    init(directory: String, reportProblem: @escaping @Sendable (String) -> Void) {
        (path, self.reportProblem) = ("\(directory)/panel.token", reportProblem)
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
            endpoint.restore(secret, port: word("port").flatMap { UInt16($0) }.map(Int.init), id: id)
        }
        return true
    }

    /// Writes what is kept, in the background: replies do not wait for a slow disk.
    func rewrite(_ endpoint: PanelEndpoint, port: Int) {
        SignInFile.queue.async { _ = write(endpoint, port: port) }
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
