// Reads a whole config file that another process may be writing, and tells whether it looks complete.

import Tweaks
import TweaksSystem

/// The content of a file at one moment.
package enum FileContent: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It exists but cannot be read; with the reason.
    case unreadable(String)

    /// The maximum size of a config file.
    package static let sizeLimit = 16_777_216

    /// Reads a regular file to its end. Never blocks, as reading a pipe would.
    /// - Parameter isStrict: Whether the file must belong to the process's user or root; it can differ from the file
    ///   that was validated by its path.
    package init(path: String, isStrict: Bool = false) { self = FileReading(path: path, isStrict: isStrict).content }

    fileprivate static func text(_ problem: FileProblem) -> String {
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

/// The content of a file, and which file it was: one that was moved into place is complete.
package struct FileReading: Equatable, Sendable {
    package let content: FileContent
    /// Nil if it is missing or unreadable.
    package let file: ResolvedPath.Identity?

    package init(_ content: FileContent, of file: ResolvedPath.Identity? = nil) {
        self.content = content
        self.file = file
    }

    /// Reads a file; see ``FileContent/init(path:isStrict:)``.
    package init(path: String, isStrict: Bool = false) {
        do throws(FileProblem) {
            let rules = FileRules(isStrict ? .userOrRoot : .anyone)
            let file = try Folder.anywhere.open(path, for: .readingThroughLinks, rules)
            content = .bytes(try file.content(limit: FileContent.sizeLimit))
            self.file = .init(device: file.info.device, inode: file.info.inode)
        } catch {
            content = error.isPathMissing ? .missing : .unreadable(FileContent.text(error))
            file = nil
        }
    }
}

/// Why changed content is not applied yet.
struct ReasonToWait {
    let text: String
    /// Whether the content is applied when it does not change any more.
    var canSettle = false
}

extension FileContent {
    /// Nil if it looks complete.
    func reasonToWait(after lastContent: FileContent?) -> ReasonToWait? {
        switch self {
        case .missing where lastContent == nil: return nil
        case .missing: return ReasonToWait(text: "is gone; its last values stay in effect until it is back")
        case .unreadable: return nil
        case .bytes(let bytes):
            if bytes.isEmpty {
                return ReasonToWait(
                    text: "is empty; its last values stay in effect (the command reload empties them)")
            }
            if bytes.last == UInt8(ascii: "\n") || TextEncoding.objection(to: bytes) != nil { return nil }
            let time = TweakValue.duration(ConfigReloader.settlingTime).text
            return ReasonToWait(
                text: "does not end with a line break, as if it were still being written; its last values stay in "
                    + "effect until it has not changed for \(time) (the command reload takes it as it is)",
                canSettle: true)
        }
    }
}
