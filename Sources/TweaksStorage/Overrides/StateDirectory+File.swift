// Reads, replaces and quarantines the overrides file in the state directory.

import Tweaks
import TweaksSystem

extension StateDirectory {
    /// The state of the overrides file on disk.
    private enum Present {
        case nothing
        case file(FileInfo, [UInt8])
        /// The reason.
        case unreadable(String)
    }

    // MARK: Reading

    /// Reads the file. An unreadable file is quarantined, and there are no overrides then.
    mutating func load(_ anchor: TimeAnchor, mayMove: Bool) throws(StorageFailure) -> OverridesFile? {
        switch try present() {
        case .nothing: break
        case .unreadable(let reason): try quarantine(reason, mayMove: mayMove)
        case .file(let info, let bytes):
            do throws(OverridesFile.Refusal) {
                let file = try OverridesFile(bytes, anchor)
                knownVersions = [(info, bytes)]
                isLoaded = true
                return file
            } catch {
                switch error {
                case .malformed(let reason): try quarantine(reason, mayMove: mayMove)
                case .newerVersion(let version): throw newerVersion(version)
                }
            }
        }
        isLoaded = true
        return nil
    }

    private func present() throws(StorageFailure) -> Present {
        guard let folder else { return .nothing }
        do throws(FileProblem) {
            let file = try folder.content(of: Self.fileName, limit: OverridesFile.sizeLimit)
            return file.map(Present.file) ?? .nothing
        } catch {
            if error.isResourceShortage { throw StorageFailure(error, in: path) }
            guard case .owner(let uid) = error.fault else { return .unreadable(error.reason) }
            return .unreadable("it belongs to uid \(uid), and this process to uid \(ThisProcess.user)")
        }
    }

    private mutating func newerVersion(_ version: Int64) -> StorageFailure {
        let reason = "it was written by a newer version (format \(version), and this is \(OverridesFile.version))"
        let failure = StorageFailure(
            "\(Self.fileName) was written by a newer version",
            sentence:
                "\(path)/\(Self.fileName) is left alone, and overrides are not saved: \(reason); run that version, "
                + "or move the file away", isFinal: true)
        report(.newerVersion(file: "\(path)/\(Self.fileName)", reason: reason))
        announcedFailure = failure
        return failure
    }

    // MARK: Quarantine

    /// Ensures that only a file written or read by this process is replaced.
    mutating func quarantineIfChanged() throws(StorageFailure) {
        guard let info = try? folder?.info(Self.fileName) else { return }
        if let own = knownVersions.first(where: { $0.info == info }) {
            knownVersions = [own]
            return
        }
        // Some file systems report a different inode for the same file each time.
        if case .file(let info, let bytes) = try present(), knownVersions.contains(where: { $0.bytes == bytes }) {
            knownVersions = [(info, bytes)]
            return
        }
        try quarantine("another program changed it while this process ran", mayMove: true)
    }

    /// Renames the file so that it is not overwritten.
    private mutating func quarantine(_ reason: String, mayMove: Bool) throws(StorageFailure) {
        guard let folder, mayMove else {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read: \(reason); overrides start empty, and are not saved "
                    + "while the file cannot be renamed")
        }
        let name: String
        do throws(FileProblem) {
            name = try rename(Self.fileName, in: folder)
        } catch {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read (\(reason)) nor renamed (\(error.reason)), so overrides "
                    + "are not saved; move it away, and start again", isFinal: true)
        }
        knownVersions = []
        lastQuarantined = name
        try? folder.flush()
        report(.quarantined(file: "\(path)/\(Self.fileName)", as: name, reason: reason))
    }

    /// Quarantines a file by renaming it.
    /// - Returns: The new name.
    func rename(_ name: String, in folder: Folder) throws(FileProblem) -> String {
        let first = "\(name).unreadable-\(TimeText.compact(time.wall))"
        var (unused, count) = (first, 1)
        while (try? folder.info(unused)) != nil {
            count += 1
            unused = "\(first)-\(count)"
        }
        try folder.rename(name, to: unused)
        return unused
    }

    // MARK: Writing

    /// Replaces the file atomically: a crash leaves either the old file or the new one.
    /// - Parameters:
    ///   - isProposal: The changes take effect only when they are on disk; if flushing fails, the old file is restored,
    ///     so that the next run does not load refused changes.
    ///   - meanwhile: Runs while the disk writes the new file, and completes before that replaces the old one.
    mutating func write(
        _ bytes: [UInt8], isProposal: Bool = false, meanwhile: () -> Void = {}
    ) throws(StorageFailure) {
        guard let folder else { return }
        let previous = knownVersions.first?.bytes
        do throws(FileProblem) {
            try writeFile(bytes, folder, meanwhile: meanwhile)
        } catch {
            throw StorageFailure(error, in: path)
        }
        do throws(FileProblem) {
            try folder.flush()
        } catch {
            let failure = StorageFailure(error, in: path)
            if isProposal { try restore(previous, folder, failure) }
            throw failure
        }
    }

    private mutating func writeFile(
        _ bytes: [UInt8], _ folder: Folder, meanwhile: () -> Void = {}
    ) throws(FileProblem) {
        let temporary = Self.temporaryName(for: Self.fileName)
        try folder.replace(
            Self.fileName, with: bytes, temporary: temporary,
            isFilled: {
                files.beginSync($0)
                meanwhile()
            },
            isWritten: { knownVersions = knownVersions.prefix(1) + [($0, bytes)] })
        knownVersions = knownVersions.suffix(1)
    }

    /// Restores the previous file; nil if there was none. The restored file survives a kill; a power cut can leave
    /// either.
    private mutating func restore(
        _ previous: [UInt8]?, _ folder: Folder, _ failure: StorageFailure
    ) throws(StorageFailure) {
        do throws(FileProblem) {
            if let previous {
                try writeFile(previous, folder)
            } else {
                try folder.remove(Self.fileName)
                knownVersions = []
            }
            try? folder.flush()
        } catch {
            let both = "\(failure.reason), and the old file cannot be restored: \(error.reason) (\(error.operation))"
            throw StorageFailure(
                both,
                sentence: "overrides are not saved in \(path): \(both); what was refused is in effect after a crash "
                    + "unless a later write succeeds; \(failure.remedy)", remedy: failure.remedy)
        }
    }

    /// The name of a temporary file, which is removed once its writer has died.
    static func temporaryName(for name: String) -> String { "\(name).\(ThisProcess.id).tmp" }
}
