// Locks an audit file against other processes by a file beside it, which no reader of the audit can hold.

import Dispatch
import Tweaks
import TweaksSystem

/// The lock of one audit file: `PATH.lock`, which only its owner can open.
///
/// The file is empty, and stays: it hinders no start, and if it were removed, one process could lock the old one and
/// another the new one. It is made only once the audit itself could be opened.
struct AuditFileLock {
    let path: String
    private let auditPath: String
    private let name: String
    private let rules: FileRules
    private let files: any FileSystem
    private let time: any StorageTime
    /// The locked file.
    private var held: OpenFile?

    /// How long another process may hold the lock: it does so while it writes some lines, or until it has ended.
    static let patience = Duration.seconds(5)

    init(_ auditPath: String, isStrict: Bool, _ files: any FileSystem, _ time: any StorageTime) {
        self.auditPath = auditPath
        path = auditPath + ".lock"
        name = Folder.split(path).name
        // A process that can open it can hold it.
        rules = FileRules(isStrict ? .userOrRoot : .anyone, forbidden: 0o077)
        self.files = files
        self.time = time
    }

    /// Takes the lock, and waits for a process that holds it.
    /// - Parameter file: The open audit. It is locked itself where the directory allows no file beside it.
    /// - Returns: False if the lock file is replaced all the time.
    mutating func lock(orElse file: OpenFile, _ directory: Folder) throws(StorageFailure) -> Bool {
        if let held, held === file || (try? directory.info(name))?.isSameFile(as: held.info) == true { return true }
        unlock()
        let end = time.now.advanced(by: Self.patience)
        let never = DispatchSemaphore(value: 0)
        var delay = Duration.milliseconds(1)
        while true {
            let holder: String
            do throws(FileProblem) {
                held = try directory.lock(name, rules)
                return true
            } catch {
                if error.error?.code == ESTALE { return false }
                if error.isResourceShortage { throw failure(error.reason, "(opening \(path)); \(error.remedy)") }
                holder = error.isLocked ? path : auditPath
            }
            if holder == auditPath, tryToLock(file) { return true }
            if time.now >= end {
                throw failure(
                    "another process has locked \(holder)",
                    "for 5s; end that process, which fuser \(holder) names; the lines are written then")
            }
            time.wait(for: never, until: min(end, time.now.advanced(by: delay)))
            delay = min(delay * 2, .milliseconds(64))
        }
    }

    /// - Returns: False if another process holds the lock. Not all file systems support locks.
    private mutating func tryToLock(_ file: OpenFile) -> Bool {
        do throws(FileError) {
            try files.retrying(try files.lock(file.descriptor))
            held = file
        } catch {
            return !error.isLocked
        }
        return true
    }

    mutating func unlock() {
        if let held { files.unlock(held.descriptor) }
        held = nil
    }

    private func failure(_ reason: String, _ rest: String) -> StorageFailure {
        StorageFailure(reason, sentence: "the audit is not written to \(auditPath): \(reason) \(rest)")
    }
}
