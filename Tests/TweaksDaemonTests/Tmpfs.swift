// Mounts a small file system for one test, where mounting is permitted.

import Foundation
import Testing
import TweaksTestSupport

/// A mounted tmpfs; it is unmounted when this is released.
final class Tmpfs: Sendable {
    let path: String
    private let directory: TemporaryDirectory

    /// Usually only root may mount.
    fileprivate static let isPermitted: Bool = (try? Tmpfs(kilobytes: 64)) != nil

    init(kilobytes: Int, options: String = "rw") throws {
        directory = try TemporaryDirectory()
        path = directory.path
        try Self.run(.mount, ["-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=700,\(options)", "tmpfs", path])
    }

    deinit { try? Self.run(.umount, ["-l", path]) }

    func remount(_ options: String) throws { try Self.run(.mount, ["-o", "remount,\(options)", path]) }

    /// Fills the disk.
    /// - Returns: The path of the file that takes all space.
    func fill() throws -> String {
        let filler = "\(path)/filler"
        try Data().write(to: URL(fileURLWithPath: filler))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: filler))
        let block = Data(repeating: 0x20, count: 4_096)
        while (try? handle.write(contentsOf: block)) != nil {}
        try handle.close()
        return filler
    }

    private static func run(_ tool: Tool, _ arguments: [String]) throws {
        let code = try RunningProgram(tool.path, arguments, output: .dropped, errors: .dropped).waitForEnd()
        if code != 0 { throw ClientError.system(tool.path, code) }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsMounting: Self { .enabled(if: Tmpfs.isPermitted, "mounting is not permitted here") }
}
