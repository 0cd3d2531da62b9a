// A small file system that a test has for itself, where this machine lets it.

import Foundation
import TweaksTestSupport

/// A mounted tmpfs; gone when this is let go of.
final class Tmpfs: Sendable {
    let path: String
    private let directory: TemporaryDirectory

    /// Whether mounting is permitted here; usually only root may.
    static let isPermitted: Bool = (try? Tmpfs(kilobytes: 64)) != nil

    init(kilobytes: Int, options: String = "") throws {
        directory = try TemporaryDirectory()
        path = directory.path
        let more = options.isEmpty ? "" : ",\(options)"
        try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=700\(more)", "tmpfs", path])
    }

    deinit { try? Self.run("umount", ["-l", path]) }

    /// Mounts it again with other options.
    func remount(_ options: String) throws { try Self.run("mount", ["-o", "remount,\(options)", path]) }

    /// Leaves no room for anything; removing the file makes room again.
    /// - Returns: The path of the file that takes it.
    func fill() throws -> String {
        let filler = "\(path)/filler"
        try Data().write(to: URL(fileURLWithPath: filler))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: filler))
        let block = Data(repeating: 0x20, count: 4_096)
        // Page by page, until there is none.
        while (try? handle.write(contentsOf: block)) != nil {}
        try handle.close()
        return filler
    }

    private static func run(_ tool: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw ClientError.system(tool, process.terminationStatus) }
    }
}
