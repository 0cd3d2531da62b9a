// Creates a temporary directory for one test, and the files in it.

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

    /// The sorted names in a folder.
    package func names(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(folder))) ?? []).sorted()
    }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    }

    package func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The lines of a file; none if it is missing.
    package func lines(_ name: String) -> [String] { (read(name) ?? "").split(separator: "\n").map { String($0) } }

    /// Creates a folder, with the missing ones above it.
    package func makeFolder(_ name: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }

    /// The permissions of a file or folder.
    package func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }
}
