// Stores a registry's overrides and history on disk.

package import Tweaks
package import TweaksSystem

/// Stores a registry's overrides in a file. One thread writes; changes during a write share the next one.
///
/// ```swift
/// let store = OverrideStore(directory: .success("/var/lib/bounce"), program: "bounce") { log("\($0)") }
/// store.open(.shared)
/// ```
/// A store opens once, and a closed store stays closed.
package final class OverrideStore: TweakStore {
    /// Whether changes from clients must be on disk before they take effect.
    package let isRequired: Bool

    private let settings: OverrideSettings
    private let mailbox: OverrideMailbox

    /// Creates a store without touching any file.
    /// - Parameters:
    ///   - directory: The directory of the file, or why there is none.
    ///   - program: The program name written to the file.
    ///   - isRequired: Whether changes from clients must be on disk before they take effect.
    ///   - keepsHistory: Whether the registry's history is saved too.
    ///   - retry: The delay before the first retry, and the longest delay.
    ///   - onEvent: Receives events worth a log line, on the storage thread.
    package init(
        directory: Result<String, StateLocation.Problem>, program: String, isRequired: Bool = false,
        fileSystem: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, retry: (first: Duration, longest: Duration) = (.milliseconds(100), .seconds(30)),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.isRequired = isRequired
        settings = OverrideSettings(
            place: directory, program: program, keepsHistory: keepsHistory, files: fileSystem, firstRetry: retry.first,
            lastRetry: retry.longest,
            time: time, onEvent: onEvent)
        mailbox = OverrideMailbox(time: time)
    }

    deinit { mailbox.worker.close() }

    /// Reads the files, and takes the lock of the directory; ``open(_:)`` applies what was read.
    /// - Returns: False if another store is attached to this registry; then no file or directory is touched.
    @discardableResult
    package func load(for registry: TweakRegistry) -> Bool {
        guard registry.store == nil || registry.store === self else { return false }
        _ = mailbox.worker.start { [settings, mailbox] in
            var writer = OverrideWriter(settings, mailbox)
            writer.open()
            return writer
        }
        return true
    }

    /// Loads the stored overrides into the registry and follows its changes. Never fails: read and write errors are
    /// events, and the process runs with the rest.
    /// - Returns: False if another store is attached to this registry; then this one is closed.
    @discardableResult
    package func open(_ registry: TweakRegistry) -> Bool {
        guard load(for: registry) else { return false }
        guard let loaded = mailbox.takeLoaded() else { return true }
        let follower = registry.attach(
            self, overrides: loaded.entries, revision: loaded.revision, records: keepsHistory ? loaded.records : nil
        ) { [worker = mailbox.worker] in worker.wake() }
        guard let follower else {
            // Another store was opened meanwhile.
            close()
            return false
        }
        mailbox.follow(registry, follower)
        return true
    }

    /// Writes unsaved changes, once, and ends the thread: after this nothing runs, and no file is open. Does not wait
    /// if called on the storage thread.
    package func close() {
        mailbox.registry?.detach(self)
        mailbox.worker.close()
        mailbox.worker.waitForEnd()
    }

    // MARK: Status

    /// How far changes are saved.
    package var status: SaveStatus { mailbox.status.value }

    /// Information for `stats`.
    package var info: Info { mailbox.info }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        mailbox.status.observe(body)
    }

    package func propose(_ changes: OverrideChanges, then body: @escaping @Sendable (_ failure: String?) -> Void) {
        mailbox.post(.propose(changes, body))
    }

    package func withdraw(_ changes: OverrideChanges) { mailbox.post(.withdraw(changes)) }

    package func flush() { mailbox.post(.flush) }

    package func beginRound() { mailbox.worker.pauseTurns() }

    package func endRound() { mailbox.worker.resumeTurns() }

    package func storeLast(_ last: OverrideUpdate) { mailbox.storeLast(StoreBatch(last)) }

    package var keepsHistory: Bool { settings.keepsHistory }
}

extension OverrideStore {
    /// Creates a store for a known directory.
    package convenience init(
        directory: String, program: String, isRequired: Bool = false,
        fileSystem: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, retry: (first: Duration, longest: Duration) = (.milliseconds(100), .seconds(30)),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.init(
            directory: .success(directory), program: program, isRequired: isRequired, fileSystem: fileSystem,
            keepsHistory: keepsHistory, retry: retry, time: time, onEvent: onEvent)
    }

    /// The state of a store.
    package struct Info: Sendable, Equatable {
        /// The path of the overrides file.
        package var path = ""
        /// `saved`, `waiting: …` during a drag, `unsaved: …` while it retries, or `off: …` if it has given up.
        package var state = "saved"
        /// The number of overrides in the file.
        package var entries = 0
        package var writes = 0
        package var failures = 0
        /// The last failure, even if later attempts succeeded.
        package var lastFailure: String?
        /// The last file that was quarantined in this run.
        package var lastQuarantined: String?
        /// The number of invalid entries kept in the file.
        package var entriesQuarantined = 0
        /// The process that holds the directory, which prevents writing.
        package var holder: String?
        package var history = HistoryInfo(state: "off")
    }

    /// The state of the stored history.
    package struct HistoryInfo: Sendable, Equatable {
        /// `saved`, `unsaved: …` while it retries, `off: …` if it has given up, or `off`.
        package var state: String
        /// The number of lines in the file.
        package var lines = 0
        package var failures = 0
    }
}

/// The settings of a store.
struct OverrideSettings: Sendable {
    let place: Result<String, StateLocation.Problem>
    let program: String
    let keepsHistory: Bool
    let files: any FileSystem
    let firstRetry: Duration
    let lastRetry: Duration
    let time: any StorageTime
    let onEvent: @Sendable (OverrideStore.Event) -> Void
}

extension OverrideStore {
    /// An event worth a line in the log.
    package enum Event: Sendable, Equatable {
        /// The overrides file was read, or does not exist yet.
        case opened(path: String, entries: Int)
        /// A file that was unreadable at the start was read now; its overrides are kept for the next start.
        case foundLate(path: String, entries: Int)
        /// Another process holds the directory; this run writes nothing.
        case locked(reason: String)
        /// The directory cannot be used; if that can change, it is retried.
        case unusable(reason: String)
        /// An unreadable file was renamed.
        case quarantined(file: String, as: String, reason: String)
        /// An invalid entry stays in the file and has no effect.
        case entryQuarantined(file: String, reason: String)
        /// A newer version wrote the file; this run writes nothing.
        case newerVersion(file: String, reason: String)
        /// Overrides are in effect but not on disk. Once per reason.
        case failed(reason: String)
        /// An unreadable history file was renamed.
        case historyQuarantined(file: String, as: String, reason: String)
        /// The history is not saved. Once per reason.
        case historyFailed(reason: String)
        /// The history is saved again.
        case historyRecovered(path: String)
        /// Everything is on disk again.
        case recovered(path: String)
    }
}

extension OverrideStore.Event: CustomStringConvertible {
    /// One line: the subject, the problem, and the remedy.
    package var description: String {
        switch self {
        case .opened(let path, let entries): "overrides are kept in \(path), \(Self.count(entries)) read"
        case .foundLate(let path, let entries):
            "\(path) can be read again; \(Self.count(entries)) found there, in effect from the next start"
        case .locked(let reason), .unusable(let reason), .failed(let reason), .historyFailed(let reason): reason
        case .quarantined(let file, let name, let reason):
            "\(file) cannot be used: \(reason); it is kept as \(name); correct it and move it back while the program "
                + "is stopped"
        case .entryQuarantined(let file, let reason):
            "\(file): \(reason); the entry is ignored and kept in the file under “setAside”: correct it, and move it "
                + "back to “overrides” while the program is stopped"
        case .newerVersion(let file, let reason):
            "\(file) is left alone, and overrides are not saved: \(reason); run that version, or move the file away"
        case .historyQuarantined(let file, let name, let reason):
            "\(file) cannot be used: \(reason); it is kept as \(name), and the history starts empty"
        case .historyRecovered(let path): "history is saved again in \(path)"
        case .recovered(let path): "overrides are saved again in \(path)"
        }
    }

    private static func count(_ entries: Int) -> String { entries == 1 ? "1 override" : "\(entries) overrides" }
}
