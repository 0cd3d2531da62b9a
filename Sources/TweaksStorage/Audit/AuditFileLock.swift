// Locks an audit file against other processes by a file beside it, which no reader of the audit can hold.

import Dispatch
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
    /// The lock file, once it was opened.
    private var opened: OpenFile?
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
    /// - Returns: False if the lock file was replaced or moved meanwhile; the next call opens it anew.
    mutating func lock(orElse file: OpenFile, _ directory: Folder) throws(StorageFailure) -> Bool {
        let target = try open(directory) ?? file
        if held !== target {
            unlock()
            try acquire(target)
        }
        guard target !== file else { return true }
        if let info = try? directory.info(name), info.isSameFile(as: target.info) { return true }
        unlock()
        opened = nil
        return false
    }

    mutating func unlock() {
        if let held { files.unlock(held.descriptor) }
        held = nil
    }

    private mutating func open(_ directory: Folder) throws(StorageFailure) -> OpenFile? {
        if let opened { return opened }
        do throws(FileProblem) {
            opened = try directory.open(name, for: .locking, rules)
        } catch {
            guard error.isResourceShortage else { return nil }
            throw StorageFailure(
                error.reason,
                sentence: "the audit is not written to \(auditPath): \(error.reason) (opening \(path)); \(error.remedy)"
            )
        }
        return opened
    }

    private mutating func acquire(_ target: OpenFile) throws(StorageFailure) {
        let end = time.now.advanced(by: Self.patience)
        let never = DispatchSemaphore(value: 0)
        var delay = Duration.milliseconds(1)
        while true {
            do throws(FileError) {
                try files.retrying(try files.lock(target.descriptor))
                held = target
                return
            } catch {
                // Not all file systems support locks.
                if !error.isLocked { return }
            }
            if time.now >= end { throw isHeldElsewhere(target) }
            time.wait(for: never, until: min(end, time.now.advanced(by: delay)))
            delay = min(delay * 2, .milliseconds(64))
        }
    }

    private func isHeldElsewhere(_ target: OpenFile) -> StorageFailure {
        let file = target === opened ? path : auditPath
        return StorageFailure(
            "another process has locked \(file)",
            sentence: "the audit is not written to \(auditPath): another process has locked \(file) for 5s; end that "
                + "process, which fuser \(file) names; the lines are written then")
    }
}
