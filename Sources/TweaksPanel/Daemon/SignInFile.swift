// Keeps the sign-ins of a panel over a restart of the process.

import Dispatch
import TweaksStorage
import TweaksSystem
import TweaksWire

/// A file of mode 0600 in the state directory: one line for each sign-in with a token that is there after a restart, too.
/// It is named by the panel's port, as the cookies are, so no two processes write the same one.
struct SignInFile {
    private let path: String
    /// Disks may be slow, and replies do not wait for this.
    static let queue = DispatchQueue(label: "tweaks.sign-ins")

    init(directory: String, port: Int) { path = "\(directory)/panel-\(port).sign-ins" }

    /// Takes up what is there, and writes what changes from now on.
    /// - Parameters:
    ///   - keepsOwn: Whether the panel's own token is kept; else sign-ins with it end with the process.
    ///   - complain: Told of trouble with the file: then people sign in again after a restart.
    func follow(_ front: PanelFront, keepsOwn: Bool, complain: @escaping @Sendable (String) -> Void) {
        let own = keepsOwn ? [] : Set(front.tokens.compactMap(\.scram?.id))
        var earlier: [SignIn] = []
        switch TokenFile(path: path) {
        case .bytes(let bytes):
            earlier = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { SignIn(line: $0) }
        case .missing: break
        case .refused(let reason): complain("\(path): all sign-ins of the panel have ended: \(reason)")
        }
        front.signIns.follow(earlier) { all in
            let lines = all.filter { !own.contains($0.keyID) }.map { "\($0.line)\n" }.sorted()
            Self.queue.async {
                do throws(FileProblem) {
                    try Folder.replace(path, with: lines.joined())
                } catch {
                    complain("\(path): \(error.reason)")
                }
            }
        }
    }

    /// Returns when everything is written.
    static func finish() { queue.sync {} }
}
