// A private file keeps secrets that no other user can read, write or redirect.

import TweaksSystem
import TweaksTerminal

/// A file of mode 0600, never reached through a symbolic link in its place, in a directory that nobody else can write.
/// One that a service reads may have mode 0640 and the group of that service.
///
/// It is changed by a new file that takes its place in one step: whoever reads it sees the old or the new one whole.
/// Two that change it at once come one after the other.
struct PrivateFile {
    let path: String
    /// A larger one is something else.
    let sizeLimit: Int
    /// The group that reads it, where it is made or changed for a service.
    var sharedWith: UInt32?

    /// Its content; nil where there is none.
    func read() throws(Failure) -> [UInt8]? {
        guard let (folder, name) = try openFolder() else { return nil }
        return try doing(try folder.content(of: name, limit: sizeLimit, Self.rules)?.bytes)
    }

    /// Replaces its content.
    /// - Parameters:
    ///   - makes: Whether it is made where there is none; else nothing happens then.
    ///   - body: Turns the old content into the new one; nil for leaving it as it is.
    func change(
        makes: Bool = true, _ body: ([UInt8]) throws(Failure) -> [UInt8]?
    ) throws(Failure) {
        if makes { makeFolder() }
        guard let (folder, name) = try openFolder() else {
            if makes { throw failure("there is no directory \(directory); make it") }
            return
        }
        guard let old = try doing(try lock(name, in: folder, makes: makes)) else { return }
        defer { withExtendedLifetime(old) {} }
        guard let new = try body(try doing(try old.content(limit: sizeLimit))) else { return }
        try doing(try folder.replace(name, with: new, prepare: keepOwner(of: old.facts)))
        // So that what was taken away stays away when the power goes; not every file system can do it.
        try? folder.flush()
    }

    // MARK: Opening

    /// Which group may read it, is for the one who reads it to judge.
    private static let rules = FileRules(.userOrRootOrAnyoneForRoot, forbidden: 0o037)

    private var directory: String { Folder.split(path).directory }

    private func makeFolder() {
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
            try folder.judge(Self.rules)
            return (folder, name)
        } catch {
            switch error.fault {
            case .owner(let uid): throw failure("its directory belongs to uid \(uid); use one of your own")
            case .mode: throw failure("its directory can be written by others; chmod go-w \(directory)")
            default: if error.leadsNowhere { return nil } else { throw failure(error.reason) }
            }
        }
    }

    /// Opens it for us alone.
    private func lock(_ name: String, in folder: Folder, makes: Bool) throws(FileProblem) -> OpenFile? {
        do throws(FileProblem) {
            return try folder.lock(name, for: makes ? .readingOrMaking : .reading, Self.rules, waits: true)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// The process that reads it shall be able to go on reading it when root has changed it.
    private func keepOwner(of old: FileFacts) -> (Int32) throws(FileProblem) -> Void {
        { new throws(FileProblem) in
            let mode = sharedWith == nil ? old.mode & 0o777 : 0o640
            guard fchown(new, old.owner, sharedWith ?? old.group) == 0, fchmod(new, mode_t(mode)) == 0 else {
                throw FileProblem(path, "writing it", .failed(FileError(errno)))
            }
        }
    }

    // MARK: Failing

    private func doing<Result>(_ body: @autoclosure () throws(FileProblem) -> Result) throws(Failure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link): throw failure("\(error.reason); \(error.remedy)")
            case .mode: throw failure("\(error.reason); chmod 600 \(path), or 640 for a service's group")
            case .size(_, let limit): throw failure("it is larger than \(limit) bytes, as no such file is")
            default: throw failure(error.reason)
            }
        }
    }

    private func failure(_ reason: String) -> Failure { Failure(.refused, "\(path): \(reason)") }
}
