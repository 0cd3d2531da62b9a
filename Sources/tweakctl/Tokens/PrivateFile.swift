// Reads and writes files that no other user can read, write or redirect.

import TweaksSystem

/// A file of mode 0600, never reached through a symbolic link, in a directory that no other user can write.
/// A file that a service reads may have mode 0640 and the group of that service.
///
/// Changes replace the file atomically: a reader sees the old or the new content whole. A lock serializes writers.
struct PrivateFile {
    let path: String
    /// The maximum size; a larger file is refused.
    let sizeLimit: Int
    /// The group of the service that reads it, if it is written for a service.
    var sharedWith: UInt32?

    /// The content; nil where there is no file.
    func read() throws(Failure) -> [UInt8]? {
        guard let (folder, name) = try openFolder() else { return nil }
        return try rethrowing(try folder.content(of: name, limit: sizeLimit, Self.rules)?.bytes)
    }

    /// Replaces the content.
    /// - Parameters:
    ///   - creates: Whether a missing file is created; otherwise the call does nothing then.
    ///   - body: Returns the new content for the old one; nil to leave it unchanged.
    func change(
        creates: Bool = true, _ body: ([UInt8]) throws(Failure) -> [UInt8]?
    ) throws(Failure) {
        if creates { createFolder() }
        guard let (folder, name) = try openFolder() else {
            if creates { throw failure("there is no directory \(directory); make it") }
            return
        }
        guard let old = try rethrowing(try lock(name, in: folder, creates: creates)) else { return }
        defer { withExtendedLifetime(old) {} }
        guard let new = try body(try rethrowing(try old.content(limit: sizeLimit))) else { return }
        try rethrowing(try folder.replace(name, with: new, prepare: keepOwner(of: old.info)))
        // So that a removal survives a power failure; not every file system supports it.
        try? folder.flush()
    }

    // MARK: Opening

    /// Group read permission is not checked: the owner decides it.
    private static let rules = FileRules(.userOrRootOrAnyoneForRoot, forbidden: 0o037)

    private var directory: String { Folder.split(path).directory }

    private func createFolder() {
        let directory = directory
        for slash in directory.indices.dropFirst() where directory[slash] == "/" {
            mkdir(String(directory[..<slash]), sharedWith == nil ? 0o700 : 0o755)
        }
        guard mkdir(directory, 0o700) == 0, let sharedWith else { return }
        chown(directory, geteuid(), sharedWith)
        chmod(directory, 0o750)
    }

    private func openFolder() throws(Failure) -> (folder: Folder, name: String)? {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            try folder.validate(Self.rules)
            return (folder, name)
        } catch {
            switch error.fault {
            case .owner(let uid): throw failure("its directory belongs to uid \(uid); use one of your own")
            case .mode: throw failure("its directory can be written by others; chmod go-w \(directory)")
            default: if error.isPathMissing { return nil } else { throw failure(error.reason) }
            }
        }
    }

    /// Opens the file with an exclusive lock.
    private func lock(_ name: String, in folder: Folder, creates: Bool) throws(FileProblem) -> OpenFile? {
        do throws(FileProblem) {
            return try folder.lock(name, for: creates ? .readingOrCreating : .reading, Self.rules, waits: true)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Keeps owner and group, so that the process that reads the file still can after root has changed it.
    private func keepOwner(of old: FileInfo) -> (Int32) throws(FileProblem) -> Void {
        { new throws(FileProblem) in
            let mode = sharedWith == nil ? old.mode & 0o777 : 0o640
            guard fchown(new, old.owner, sharedWith ?? old.group) == 0, fchmod(new, mode_t(mode)) == 0 else {
                throw FileProblem(path, "writing it", .failed(FileError(errno)))
            }
        }
    }

    // MARK: Failing

    private func rethrowing<Result>(_ body: @autoclosure () throws(FileProblem) -> Result) throws(Failure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link): throw failure("\(error.reason); \(error.remedy)")
            case .mode: throw failure("\(error.reason); chmod 600 \(path), or 640 for a service's group")
            case .size(_, let limit): throw failure("it is too large; it may have at most \(limit) bytes")
            default: throw failure(error.reason)
            }
        }
    }

    private func failure(_ reason: String) -> Failure { Failure(.refused, "\(path): \(reason)") }
}
