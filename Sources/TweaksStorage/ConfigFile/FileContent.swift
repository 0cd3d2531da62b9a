// Reads a whole file that somebody else may be writing.

import TweaksSystem

/// What a file holds at a moment.
package enum FileContent: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It is there and cannot be read; why.
    case unreadable(String)

    /// A file that is larger is no config file.
    package static let sizeLimit = 16_777_216

    /// Reads a regular file to its end. Never waits for a writer, as reading a pipe would.
    /// - Parameter isStrict: It has to belong to the process's user or root: it may be another file than the one that was
    ///   judged by its path.
    package init(path: String, isStrict: Bool = false) {
        do throws(FileProblem) {
            let rules = FileRules(isStrict ? .userOrRoot : .anyone)
            let file = try Folder.anywhere.open(path, for: .readingThroughLinks, rules)
            self = .bytes(try file.content(limit: Self.sizeLimit))
        } catch {
            self = error.leadsNowhere ? .missing : .unreadable(Self.text(error))
        }
    }

    private static func text(_ problem: FileProblem) -> String {
        switch problem.fault {
        case .kind: "\(problem.reason); name one"
        case .owner: "\(problem.reason); chown it to root or to uid \(ThisProcess.user)"
        case .size(let size, let limit) where size > limit:
            "it has \(size) bytes; a config file has at most \(limit): leave out what is the default"
        case .size: "it grows while it is read, and has more than \(sizeLimit) bytes: leave out what is the default"
        default: problem.reason
        }
    }
}
