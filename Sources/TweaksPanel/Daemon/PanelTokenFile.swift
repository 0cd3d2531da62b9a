// Keeps the panel's own token and its port over a restart, so that sign-ins remain valid.

import Dispatch
import TweaksStorage
import TweaksSystem
import TweaksWire

/// `panel.token` in the state directory, mode 0600: the token, and the last port of the panel. Only the process that
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
            let port = lines.dropFirst().first.flatMap { $0.split(separator: " ").last }.flatMap { UInt16($0) }
            endpoint.restore(secret, port: port.map(Int.init))
        }
        return true
    }

    /// Writes the current token and port, and rewrites them after each rotation.
    /// - Returns: Whether the file could be written.
    func persist(_ endpoint: PanelEndpoint, port: Int, onTokenRotated: @escaping @Sendable () -> Void) -> Bool {
        endpoint.onRotation { [weak endpoint] in
            if let endpoint { SignInFile.queue.async { _ = write(endpoint.secret, port) } }
            onTokenRotated()
        }
        return write(endpoint.secret, port)
    }

    private func write(_ secret: String, _ port: Int) -> Bool {
        let content = "\(secret)\nport \(port)\n"
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
