// Creates a temporary directory for one test.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation

/// A new directory with mode 0700; deallocation removes it with its content.
package final class TemporaryDirectory: Sendable {
    /// Short, because the path of a Unix socket holds about a hundred bytes.
    package let path: String

    /// Creates the directory.
    package init() throws { path = try Self.made() }

    /// Creates a directory that the caller removes.
    static func made() throws -> String {
        var template = Array("/tmp/tweaks-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ClientError.system("mkdtemp", errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
