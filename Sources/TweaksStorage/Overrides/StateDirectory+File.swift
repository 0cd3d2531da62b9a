// The overrides file in its directory: read once, replaced as a whole, and set aside where it is not ours to replace.

import Tweaks
import TweaksSystem

extension StateDirectory {
    /// What is there where the overrides file belongs.
    private enum Present {
        case nothing
        case file(FileFacts, [UInt8])
        /// Why it cannot be read.
        case unreadable(String)
    }

    // MARK: Reading

    /// Reads the file. One that cannot be read is set aside, and there are no overrides then.
    mutating func load(_ anchor: TimeAnchor, mayMove: Bool) throws(StorageFailure) -> OverridesFile? {
        switch try present() {
        case .nothing: break
        case .unreadable(let reason): try setAside(reason, mayMove: mayMove)
        case .file(let facts, let bytes):
            do throws(OverridesFile.Refusal) {
                let file = try OverridesFile(bytes, anchor)
                known = [(facts, bytes)]
                isLoaded = true
                return file
            } catch {
                switch error {
                case .malformed(let reason): try setAside(reason, mayMove: mayMove)
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
            if error.isShortage { throw StorageFailure(error, in: path) }
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
        announced = failure
        return failure
    }

    // MARK: Setting aside

    /// Sees to it that only a file of ours is replaced.
    mutating func makeWay() throws(StorageFailure) {
        guard let facts = try? folder?.facts(Self.fileName) else { return }
        if let own = known.first(where: { $0.facts == facts }) {
            known = [own]
            return
        }
        // Some file systems give the same file another number each time.
        if case .file(let facts, let bytes) = try present(), known.contains(where: { $0.bytes == bytes }) {
            known = [(facts, bytes)]
            return
        }
        try setAside("somebody else changed it while this process ran", mayMove: true)
    }

    /// Gives the file a name under which nobody overwrites it.
    private mutating func setAside(_ reason: String, mayMove: Bool) throws(StorageFailure) {
        guard let folder, mayMove else {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read: \(reason); overrides start empty, and are not saved "
                    + "while the file cannot be set aside")
        }
        let name: String
        do throws(FileProblem) {
            name = try rename(Self.fileName, in: folder)
        } catch {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read (\(reason)) nor set aside (\(error.reason)), so overrides "
                    + "are not saved; move it away, and start again", isFinal: true)
        }
        known = []
        lastSetAside = name
        try? folder.flush()
        report(.setAside(file: "\(path)/\(Self.fileName)", as: name, reason: reason))
    }

    /// Sets a file aside.
    /// - Returns: What it is called now.
    func rename(_ name: String, in folder: Folder) throws(FileProblem) -> String {
        let first = "\(name).unreadable-\(TimeText.compact(time.wall))"
        var (unused, count) = (first, 1)
        while (try? folder.facts(unused)) != nil {
            count += 1
            unused = "\(first)-\(count)"
        }
        try folder.rename(name, to: unused)
        return unused
    }

    // MARK: Writing

    /// Replaces the file as a whole: whatever happens, there is the old one or the new one.
    /// - Parameters:
    ///   - isProposal: What it says happens only when it is on disk: where that fails, the old one is put back,
    ///   so that the next run does not find what was refused.
    ///   - meanwhile: Runs while the disk has begun with the new one; what it does is done before that is in place.
    mutating func write(
        _ bytes: [UInt8], isProposal: Bool = false, meanwhile: () -> Void = {}
    ) throws(StorageFailure) {
        guard let folder else { return }
        let previous = known.first?.bytes
        do throws(FileProblem) {
            try put(bytes, folder, meanwhile: meanwhile)
        } catch {
            throw StorageFailure(error, in: path)
        }
        do throws(FileProblem) {
            try folder.flush()
        } catch {
            let failure = StorageFailure(error, in: path)
            if isProposal { try takeBack(previous, folder, failure) }
            throw failure
        }
    }

    private mutating func put(
        _ bytes: [UInt8], _ folder: Folder, meanwhile: () -> Void = {}
    ) throws(FileProblem) {
        let temporary = Self.temporaryName(for: Self.fileName)
        try folder.replace(
            Self.fileName, with: bytes, temporary: temporary,
            isFilled: {
                files.beginSync($0)
                meanwhile()
            },
            isWritten: { known = known.prefix(1) + [($0, bytes)] })
        known = known.suffix(1)
    }

    /// Puts back what the file said before; nil: there was none. A kill finds that; a power cut may find either.
    private mutating func takeBack(
        _ previous: [UInt8]?, _ folder: Folder, _ failure: StorageFailure
    ) throws(StorageFailure) {
        do throws(FileProblem) {
            if let previous {
                try put(previous, folder)
            } else {
                try folder.remove(Self.fileName)
                known = []
            }
            try? folder.flush()
        } catch {
            let both = "\(failure.reason), and it cannot be taken back: \(error.reason) (\(error.doing))"
            throw StorageFailure(
                both,
                sentence: "overrides are not saved in \(path): \(both); what was refused is in effect after a crash "
                    + "unless a later write succeeds; \(failure.remedy)", remedy: failure.remedy)
        }
    }

    /// One of these is removed once its writer is dead.
    static func temporaryName(for name: String) -> String { "\(name).\(ThisProcess.id).tmp" }
}
