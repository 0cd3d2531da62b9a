// Stores the sign-ins of a panel in a file, so that they survive a restart of the process.

import Dispatch
import TweaksStorage
import TweaksSystem
import TweaksWire

/// A file of mode 0600 in the state directory: one line for each sign-in with a token that survives a restart. Its name
/// contains the panel's port, as the cookies do, so that no two processes write the same file.
struct SignInFile {
    private let path: String
    /// Writes this file and the others of the panel in the background: replies do not wait for a slow disk.
    static let queue = DispatchQueue(label: "tweaks.sign-ins")

    init(directory: String, port: Int) { path = "\(directory)/panel-\(port).sign-ins" }

    /// Restores the sign-ins of the file, and writes changes from now on.
    /// - Parameters:
    ///   - keepsOwn: Whether the panel's own token is kept; otherwise sign-ins with it end with the process.
    ///   - reportProblem: Called with problems of the file, after which users must sign in again after a restart.
    func persist(_ endpoint: PanelEndpoint, keepsOwn: Bool, reportProblem: @escaping @Sendable (String) -> Void) {
        let own = keepsOwn ? [] : Set(endpoint.tokens.compactMap(\.scram?.id))
        var earlier: [SignIn] = []
        switch TokenFile(path: path) {
        case .bytes(let bytes):
            earlier = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { SignIn(line: $0) }
        case .missing: break
        case .refused(let reason): reportProblem("\(path): all sign-ins of the panel have ended: \(reason)")
        }
        endpoint.signIns.restore(earlier) { all in
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

    /// Waits until all changes are written.
    static func finish() { queue.sync {} }
}
