// Reads a token file that no other user can have written or read.

import TweaksSystem
import TweaksWire

/// The content of a token file at one moment.
package enum TokenFile: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It exists but is rejected: the problem and the remedy.
    case refused(String)

    /// Reads the file. Does not follow a symbolic link at its name, and never blocks, as reading a pipe would.
    package init(path: String) {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            self = Self.content(folder, name, path)
        } catch {
            self = error.isPathMissing ? .missing : .refused("\(error.path): \(error.reason)")
        }
    }

    private static func content(_ folder: Folder, _ name: String, _ path: String) -> TokenFile {
        do throws(FileProblem) {
            try folder.validate()
        } catch {
            return .refused("\(folder.path) \(reason(ofFolder: error))")
        }
        do throws(FileProblem) {
            let rules = FileRules(forbidden: 0o077, groupMayReadRoots: true)
            let content = try folder.content(of: name, limit: TokenText.sizeLimit, rules)
            return content.map { .bytes($0.bytes) } ?? .missing
        } catch {
            return .refused(reason(error, path))
        }
    }

    // MARK: Errors

    /// Users who can replace the file can add tokens.
    private static func reason(ofFolder problem: FileProblem) -> String {
        switch problem.fault {
        case .owner(let uid): "belongs to uid \(uid); keep tokens in a directory of your own"
        case .mode: "can be written by others; chmod go-w it"
        default: problem.reason
        }
    }

    private static func reason(_ problem: FileProblem, _ path: String) -> String {
        switch problem.fault {
        case .mode(let mode):
            let group = ThisProcess.group == 0 ? "" : "; or root's, readable for group \(ThisProcess.group)"
            return "others can read or write it (mode \(String(mode, radix: 8))\(group)); chmod 600 \(path)"
        case .size(_, let limit): return "it is larger than \(limit) bytes, as no token file is"
        case .failed(let error): return error.text
        case .kind, .owner: return "\(problem.reason); \(problem.remedy)"
        }
    }
}
