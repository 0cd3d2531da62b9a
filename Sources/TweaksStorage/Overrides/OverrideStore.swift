// Overrides on disk, as the rest of the process sees it: opened, asked, closed.

package import Tweaks
package import TweaksSystem

/// Keeps a registry's overrides in a file. One thread writes; changes that come meanwhile share the next write.
///
/// ```swift
/// let store = OverrideStore(directory: .success("/var/lib/bounce"), program: "bounce") { log("\($0)") }
/// store.open(.shared)
/// ```
/// It is opened once, and a closed one stays closed.
package final class OverrideStore: TweakStore {
    /// Whether changes from the wire have to be on disk before they take effect.
    package let isRequired: Bool

    private let settings: OverrideSettings
    private let mailbox: OverrideMailbox

    /// A storage that is not opened yet; nothing is touched.
    /// - Parameters:
    ///   - directory: Where the file is, or why there is no place for it.
    ///   - program: What the file says whose it is.
    ///   - isRequired: Whether changes from the wire have to be on disk before they take effect.
    ///   - keepsHistory: Whether the registry's history is saved beside them.
    ///   - retry: How soon after a failure the next attempt is made, and how seldom in the end.
    ///   - onEvent: Is told what is worth a line in a log, on the storage's thread.
    package init(
        directory: Result<String, StatePlace.Problem>, program: String, isRequired: Bool = false,
        fileSystem: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, retry: (first: Duration, most: Duration) = (.milliseconds(100), .seconds(30)),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.isRequired = isRequired
        settings = OverrideSettings(
            place: directory, program: program, keepsHistory: keepsHistory, files: fileSystem, firstRetry: retry.first,
            lastRetry: retry.most,
            time: time, onEvent: onEvent)
        mailbox = OverrideMailbox(time: time)
    }

    deinit { mailbox.worker.close() }

    /// Reads what is stored, hands it to the registry, and follows that from now on. Never fails: what cannot be read or
    /// written is an event, and the process runs on what is left.
    /// - Returns: False when another storage keeps the overrides of this registry; then this one is closed.
    @discardableResult
    package func open(_ registry: TweakRegistry) -> Bool {
        // Before anything is touched, the directory among it.
        guard registry.store == nil || registry.store === self else { return false }
        let isFirst = mailbox.worker.start { [settings, mailbox] in
            var writer = OverrideWriter(settings, mailbox)
            writer.open()
            return writer
        }
        guard isFirst else { return true }
        let (entries, revision, records) = mailbox.takeFound()
        let follower = registry.attach(
            self, overrides: entries, revision: revision, records: keepsHistory ? records : nil
        ) { [worker = mailbox.worker] in worker.wake() }
        guard let follower else {
            // Another one was opened meanwhile.
            close()
            return false
        }
        mailbox.follow(registry, follower)
        return true
    }

    /// Writes what is not on disk yet, once, and ends the thread: after this nothing runs, and nothing is left open.
    /// On the storage's own thread it does not wait.
    package func close() {
        mailbox.registry?.detach(self)
        mailbox.worker.close()
        mailbox.worker.waitForEnd()
    }

    // MARK: Asking

    /// How far it is.
    package var status: SaveStatus { mailbox.status.value }

    /// Figures for people.
    package var facts: Facts { mailbox.facts }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        mailbox.status.observe(body)
    }

    package func propose(_ changes: OverrideChanges, then body: @escaping @Sendable (_ failure: String?) -> Void) {
        mailbox.post(.propose(changes, body))
    }

    package func withdraw(_ changes: OverrideChanges) { mailbox.post(.withdraw(changes)) }

    package func hurry() { mailbox.post(.hurry) }

    package func beginRound() { mailbox.worker.holdTurns() }

    package func endRound() { mailbox.worker.letTurnsGo() }

    package func keep(_ last: StoreBatch) { mailbox.keep(last) }

    package var keepsHistory: Bool { settings.keepsHistory }
}

extension OverrideStore {
    /// A storage in a directory that is known.
    package convenience init(
        directory: String, program: String, isRequired: Bool = false,
        fileSystem: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, retry: (first: Duration, most: Duration) = (.milliseconds(100), .seconds(30)),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.init(
            directory: .success(directory), program: program, isRequired: isRequired, fileSystem: fileSystem,
            keepsHistory: keepsHistory, retry: retry, time: time, onEvent: onEvent)
    }

    /// Figures about a storage.
    package struct Facts: Sendable, Equatable {
        /// The overrides file.
        package var path = ""
        /// `saved`, `waiting: …` while a drag goes on, `unsaved: …` while it tries again, or `off: …` when it has given up.
        package var state = "saved"
        /// Overrides in the file.
        package var entries = 0
        package var writes = 0
        package var failures = 0
        /// Why an attempt failed, even if later ones did not.
        package var lastFailure: String?
        /// The name of the last file that was set aside in this run.
        package var setAside: String?
        /// Entries in the file that cannot be taken, and are kept there.
        package var entriesSetAside = 0
        /// Who else has the directory, in which this process therefore writes nothing.
        package var holder: String?
        package var history = HistoryFacts(state: "off")
    }

    /// Figures about the history on disk.
    package struct HistoryFacts: Sendable, Equatable {
        /// `saved`, `unsaved: …` while it is tried again, `off: …` when it has been given up, or `off`.
        package var state: String
        /// Lines in its file.
        package var lines = 0
        package var failures = 0
    }
}

/// What a storage was made with.
struct OverrideSettings: Sendable {
    let place: Result<String, StatePlace.Problem>
    let program: String
    let keepsHistory: Bool
    let files: any FileSystem
    let firstRetry: Duration
    let lastRetry: Duration
    let time: any StorageTime
    let onEvent: @Sendable (OverrideStore.Event) -> Void
}
