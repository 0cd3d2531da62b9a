// What happens to stored overrides that people should know of.

extension OverrideStore {
    /// Something worth a line in a log.
    package enum Event: Sendable, Equatable {
        /// The overrides file was read, or there is none yet.
        case opened(path: String, entries: Int)
        /// A file that could not be read at the start was read now; its overrides are kept for the next start.
        case foundLate(path: String, entries: Int)
        /// Another process has the directory; nothing is written in this run.
        case locked(reason: String)
        /// There is no place to write to; if that may change, it is tried again.
        case unusable(reason: String)
        /// A file that could not be read was given another name.
        case setAside(file: String, as: String, reason: String)
        /// An entry that cannot be taken stays in the file, and does not count.
        case entrySetAside(file: String, reason: String)
        /// The file is left alone; nothing is written in this run.
        case newerVersion(file: String, reason: String)
        /// Overrides are in effect and not on disk. Once for each reason.
        case failed(reason: String)
        /// A history that could not be read was given another name.
        case historySetAside(file: String, as: String, reason: String)
        /// The history is not saved. Once for each reason.
        case historyFailed(reason: String)
        /// The history is saved again.
        case historyRecovered(path: String)
        /// Everything is on disk again.
        case recovered(path: String)
    }
}

extension OverrideStore.Event: CustomStringConvertible {
    /// One line: the subject, what is wrong, and the remedy.
    package var description: String {
        switch self {
        case .opened(let path, let entries): "overrides are kept in \(path), \(Self.count(entries)) read"
        case .foundLate(let path, let entries):
            "\(path) can be read again; \(Self.count(entries)) found there, in effect from the next start"
        case .locked(let reason), .unusable(let reason), .failed(let reason), .historyFailed(let reason): reason
        case .setAside(let file, let name, let reason):
            "\(file) cannot be taken: \(reason); it is kept as \(name), mend it and move it back while the program is "
                + "stopped"
        case .entrySetAside(let file, let reason):
            "\(file): \(reason); the entry does not count and is kept in the file under “setAside”: mend it, and move it "
                + "back to “overrides” while the program is stopped"
        case .newerVersion(let file, let reason):
            "\(file) is left alone, and overrides are not saved: \(reason); run that version, or move the file away"
        case .historySetAside(let file, let name, let reason):
            "\(file) cannot be taken: \(reason); it is kept as \(name), and history begins anew"
        case .historyRecovered(let path): "history is saved again in \(path)"
        case .recovered(let path): "overrides are saved again in \(path)"
        }
    }

    private static func count(_ entries: Int) -> String { entries == 1 ? "1 override" : "\(entries) overrides" }
}
