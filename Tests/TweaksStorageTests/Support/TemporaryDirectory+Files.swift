// Reads the files of a storage, and runs programs on its state directory.

import Foundation
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

extension TemporaryDirectory {
    /// The contents of the quarantined copies of a state file.
    func quarantined(_ name: String) -> [String?] {
        names("state").filter { $0.hasPrefix("\(name).unreadable-") }.map { read("state/\($0)") }
    }

    /// The lines of an audit file without their links.
    func auditLines(_ name: String) -> [String] {
        lines(name).map(\.withoutLink)
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
