// Keeps the panel's own token and its port over a restart, so that who is signed in stays so.

import Dispatch
import TweaksPanel
import TweaksStorage
import TweaksWire

/// `panel.token` in the state directory, mode 0600: the token, and the port on which the panel was last. Only the process
/// that holds the directory's lock reads and writes it; any other has a token of its start.
struct PanelTokenFile {
    private let path: String
    private let front: PanelFront
    private let complain: @Sendable (String) -> Void

    /// Takes up what is there; nil where nothing can be kept.
    init?(_ settings: DaemonSettings, _ store: OverrideStore?, complain: @escaping @Sendable (String) -> Void) {
        guard let front = settings.panel, let store, store.facts.holder == nil,
            case .success(let directory)? = settings.stateDirectory
        else { return nil }
        (path, self.front, self.complain) = ("\(directory)/panel.token", front, complain)
        switch TokenFile(path: path) {
        case .missing: break
        case .refused(let reason):
            complain("\(path): \(reason); until then each start of the panel has another token")
            return nil
        case .bytes(let bytes):
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            guard let secret = lines.first, TokenSecret.isWellFormed(secret) else {
                complain("\(path): there is no token in it; another one is made")
                return
            }
            let port = lines.dropFirst().first.flatMap { $0.split(separator: " ").last }.flatMap { UInt16($0) }
            front.resume(secret, port: port.map(Int.init))
        }
    }

    /// Keeps what the panel has now, and each token that takes its place.
    /// - Returns: Whether it could be written.
    func follow(port: Int, whenRotated: @escaping @Sendable () -> Void) -> Bool {
        front.onRotation {
            SignInFile.queue.async { _ = write(port) }
            whenRotated()
        }
        return write(port)
    }

    private func write(_ port: Int) -> Bool {
        let content = "\(front.secret)\nport \(port)\n"
        if TokenFile(path: path) == .bytes(Array(content.utf8)) { return true }
        guard let reason = SignInFile.replace(path, with: content) else { return true }
        complain("\(path): \(reason); the panel's token ends with this process")
        return false
    }
}
