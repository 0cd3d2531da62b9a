// Reads a password from a file that only its owner can read.

import TweaksSystem

enum EtcdPassword {
    private static let limit = 4_096

    /// Returns the current content of the file, without a trailing newline.
    static func read(_ path: String) throws(EtcdError) -> String {
        guard let bytes = try bytes(path) else {
            throw .unauthenticated("password file \(path) is not there; write the password into it")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw .unauthenticated("password file \(path) is not UTF-8; write it anew")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        if text.isEmpty { throw .unauthenticated("password file \(path) is empty; write the password into it") }
        return text
    }

    private static func bytes(_ path: String) throws(EtcdError) -> [UInt8]? {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            let rules = FileRules(forbidden: 0o077, groupMayReadRoots: true)
            return try folder.content(of: name, limit: limit, rules)?.bytes
        } catch {
            if error.isPathMissing { return nil }
            throw .unauthenticated("password file \(error)")
        }
    }
}
