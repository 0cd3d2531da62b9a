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
        guard let directory else { return .nothing }
        let descriptor: Int32
        do throws(FileError) {
            descriptor = try retrying { () throws(FileError) in
                try files.open(Self.fileName, in: directory.descriptor, for: .reading)
            }
        } catch {
            if error.isMissing { return .nothing }
            if error.isShortage { throw StorageFailure(error, "reading \(Self.fileName)", in: path) }
            return .unreadable(error.isLink ? "it is a symbolic link" : error.text)
        }
        defer { files.close(descriptor) }
        do throws(FileError) {
            return try read(descriptor)
        } catch {
            if error.isShortage { throw StorageFailure(error, "reading \(Self.fileName)", in: path) }
            return .unreadable(error.text)
        }
    }

    private func read(_ descriptor: Int32) throws(FileError) -> Present {
        let facts = try files.facts(descriptor)
        if facts.kind != .regular { return .unreadable("it is no regular file") }
        guard facts.owner == ThisProcess.user || facts.owner == 0 else {
            return .unreadable("it belongs to uid \(facts.owner), and this process to uid \(ThisProcess.user)")
        }
        let limit = OverridesFile.sizeLimit
        let bytes = facts.size > Int64(limit) ? nil : try files.readAll(descriptor, limit: limit + 1)
        guard let bytes, bytes.count <= limit else { return .unreadable("it has more than \(limit) bytes") }
        return .file(facts, bytes)
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
        guard let directory, let facts = try? files.facts(Self.fileName, in: directory.descriptor) else { return }
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
        guard let directory, mayMove else {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read: \(reason); overrides start empty, and are not saved "
                    + "while the file cannot be set aside")
        }
        let name = unusedName(for: Self.fileName, directory.descriptor)
        do throws(FileError) {
            try retrying { () throws(FileError) in
                try files.rename(Self.fileName, to: name, in: directory.descriptor)
            }
        } catch {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(Self.fileName) cannot be read (\(reason)) nor set aside (\(error.text)), so overrides "
                    + "are not saved; move it away, and start again", isFinal: true)
        }
        known = []
        lastSetAside = name
        try? files.sync(directory.descriptor)
        report(.setAside(file: "\(path)/\(Self.fileName)", as: name, reason: reason))
    }

    /// What a file is called that is set aside.
    func unusedName(for name: String, _ directory: Int32) -> String {
        let first = "\(name).unreadable-\(TimeText.compact(time.wall))"
        var (name, count) = (first, 1)
        while (try? files.facts(name, in: directory)) != nil {
            count += 1
            name = "\(first)-\(count)"
        }
        return name
    }

    // MARK: Writing

    /// Replaces the file as a whole: whatever happens, there is the old one or the new one.
    /// - Parameter isProposal: What it says happens only when it is on disk: where that fails, the old one is put back,
    ///   so that the next run does not find what was refused.
    mutating func write(_ bytes: [UInt8], isProposal: Bool = false) throws(StorageFailure) {
        guard let directory else { return }
        let previous = known.first?.bytes
        try put(bytes, directory.descriptor)
        do throws(StorageFailure) {
            try doing("flushing the directory") { () throws(FileError) in try files.sync(directory.descriptor) }
        } catch {
            if isProposal { try takeBack(previous, directory.descriptor, error) }
            throw error
        }
    }

    /// Writes a file beside the old one, and gives it its name.
    private mutating func put(_ bytes: [UInt8], _ directory: Int32) throws(StorageFailure) {
        let temporary = temporaryName(for: Self.fileName)
        do throws(StorageFailure) {
            let facts = try writeTemporary(for: Self.fileName, bytes, directory)
            // From here on the file may be this one, even if the call says that it failed; or still the one before.
            known = known.prefix(1) + [(facts, bytes)]
            try doing("replacing \(Self.fileName)") { () throws(FileError) in
                try files.rename(temporary, to: Self.fileName, in: directory)
            }
        } catch {
            try? files.remove(temporary, in: directory)
            throw error
        }
        known = known.suffix(1)
    }

    /// Puts back what the file said before; nil: there was none. A kill finds that; a power cut may find either.
    private mutating func takeBack(
        _ previous: [UInt8]?, _ directory: Int32, _ failure: StorageFailure
    ) throws(StorageFailure) {
        do throws(StorageFailure) {
            if let previous {
                try put(previous, directory)
            } else {
                try doing("removing \(Self.fileName)") { () throws(FileError) in
                    try files.remove(Self.fileName, in: directory)
                }
                known = []
            }
            try? files.sync(directory)
        } catch {
            let both = "\(failure.reason), and it cannot be taken back: \(error.reason)"
            throw StorageFailure(
                both,
                sentence: "overrides are not saved in \(path): \(both); what was refused is in effect after a crash "
                    + "unless a later write succeeds; \(failure.remedy)", remedy: failure.remedy)
        }
    }

    func temporaryName(for name: String) -> String { "\(name).\(ThisProcess.id).tmp" }

    /// Writes a file beside the one that it will replace.
    func writeTemporary(
        for fileName: String, _ bytes: [UInt8], _ directory: Int32
    ) throws(StorageFailure) -> FileFacts {
        let name = temporaryName(for: fileName)
        let descriptor = try doing("writing \(fileName)") { () throws(FileError) in
            do throws(FileError) {
                return try files.open(name, in: directory, for: .creating)
            } catch {
                // Left behind by an attempt whose removal failed, too.
                guard error.isThereAlready else { throw error }
                try files.remove(name, in: directory)
                return try files.open(name, in: directory, for: .creating)
            }
        }
        defer { files.close(descriptor) }
        try doing("writing \(fileName)") { () throws(FileError) in try files.writeAll(bytes, to: descriptor) }
        return try doing("flushing \(fileName)") { () throws(FileError) in
            try files.sync(descriptor)
            return try files.facts(descriptor)
        }
    }
}
