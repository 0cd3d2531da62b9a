// Describes storage events for the log.

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
