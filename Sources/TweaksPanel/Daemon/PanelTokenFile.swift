// Keeps the panel's own token and its port over a restart, so that who is signed in stays so.

import Dispatch
import TweaksStorage
import TweaksSystem
import TweaksWire

/// `panel.token` in the state directory, mode 0600: the token, and the port on which the panel was last. Only the process
/// that holds the directory's lock reads and writes it; any other has a token of its start.
struct PanelTokenFile {
    private let path: String
    private let complain: @Sendable (String) -> Void

    init(directory: String, complain: @escaping @Sendable (String) -> Void) {
        (path, self.complain) = ("\(directory)/panel.token", complain)
    }

    /// Takes up what is there.
    /// - Returns: False where another user could have written it: then nothing is kept.
    func resume(_ front: PanelFront) -> Bool {
        switch TokenFile(path: path) {
        case .missing: break
        case .refused(let reason):
            complain("\(path): \(reason); until then each start of the panel has another token")
            return false
        case .bytes(let bytes):
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            guard let secret = lines.first, TokenSecret.isWellFormed(secret) else {
                complain("\(path): there is no token in it; another one is made")
                break
            }
            let port = lines.dropFirst().first.flatMap { $0.split(separator: " ").last }.flatMap { UInt16($0) }
            front.resume(secret, port: port.map(Int.init))
        }
        return true
    }

    /// Keeps what the panel has now, and each token that takes its place.
    /// - Returns: Whether it could be written.
    func follow(_ front: PanelFront, port: Int, whenRotated: @escaping @Sendable () -> Void) -> Bool {
        front.onRotation { [weak front] in
            if let front { SignInFile.queue.async { _ = write(front.secret, port) } }
            whenRotated()
        }
        return write(front.secret, port)
    }

    private func write(_ secret: String, _ port: Int) -> Bool {
        let content = "\(secret)\nport \(port)\n"
        if TokenFile(path: path) == .bytes(Array(content.utf8)) { return true }
        do throws(FileProblem) {
            try Folder.replace(path, with: content)
            return true
        } catch {
            complain("\(path): \(error.reason); the panel's token ends with this process")
            return false
        }
    }
}
