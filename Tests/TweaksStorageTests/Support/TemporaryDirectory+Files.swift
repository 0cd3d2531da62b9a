// Reads and writes the files of a test, and runs programs on its state directory.

import Foundation
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

extension TemporaryDirectory {
    /// The sorted names in a folder.
    func names(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(folder))) ?? []).sorted()
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    }

    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The contents of the quarantined copies of a state file.
    func quarantined(_ name: String) -> [String?] {
        names("state").filter { $0.hasPrefix("\(name).unreadable-") }.map { read("state/\($0)") }
    }

    /// The lines of a file; none if it is missing.
    func lines(_ name: String) -> [String] { (read(name) ?? "").split(separator: "\n").map { String($0) } }

    /// The lines of an audit file without their links.
    func auditLines(_ name: String) -> [String] {
        lines(name).map(\.withoutLink)
    }

    /// Creates a folder, with the missing ones above it.
    func makeFolder(_ name: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }

    /// The permissions of a file or folder.
    func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    /// Runs a program on the folder `state` and closes its storage.
    @discardableResult
    func withRun<Result>(
        time: any StorageTime = SystemTime(), _ body: (ProgramRun) throws -> Result
    ) rethrows -> Result {
        let run = ProgramRun(file("state"), time: time)
        defer { run.store.close() }
        return try body(run)
    }
}
