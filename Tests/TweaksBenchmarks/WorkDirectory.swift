// Creates temporary directories for measurements.

import Foundation

/// A temporary directory with mode 0700. Its creator removes it.
struct WorkDirectory {
    let url: URL

    init(_ name: String) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("tweaks-\(name)-\(getpid())")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
