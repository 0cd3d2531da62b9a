// A folder opens, reads, appends to, replaces and locks files that others may have tampered with.

/// A directory that is open; letting go of it closes it. Files in it are not reached through links, unless that is asked
/// for, and opening them never waits.
package final class Folder: Sendable {
    package let path: String
    package let descriptor: Int32
    package let files: any FileSystem

    /// The one whose names are whole paths; what they lead through is not judged.
    package static let anywhere = Folder("", AT_FDCWD, PosixFileSystem())

    private init(_ path: String, _ descriptor: Int32, _ files: any FileSystem) {
        (self.path, self.descriptor, self.files) = (path, descriptor, files)
    }

    deinit { if descriptor >= 0 { files.close(descriptor) } }

    // MARK: Directories

    /// Opens a directory; links to it are followed.
    /// - Parameter makes: It and those above it are made where they are missing.
    package convenience init(
        _ path: String, _ files: any FileSystem = PosixFileSystem(), makes: Bool = false
    ) throws(FileProblem) {
        self.init(path, try Self.open(path, files, makes: makes), files)
    }

    private static func open(_ path: String, _ files: any FileSystem, makes: Bool) throws(FileProblem) -> Int32 {
        do throws(FileProblem) {
            return try attempt(opening, path, files, try files.openDirectory(path))
        } catch {
            guard makes, error.leadsNowhere else { throw error }
        }
        try attempt("making the directory", path, files, try files.makeDirectories(path))
        return try open(path, files, makes: false)
    }

    /// The directory of a file, and the name that the file has there.
    package static func of(_ path: String) throws(FileProblem) -> (folder: Folder, name: String) {
        let (directory, name) = split(path)
        return (try Folder(directory), name)
    }

    /// The directory of a path, and the name in it.
    package static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.utf8.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    /// Opens a directory in this one; a link is not followed.
    package func folder(_ name: String, makes: Bool = false) throws(FileProblem) -> Folder {
        do throws(FileProblem) {
            let number = try attempt(Self.opening, of: name, try files.openDirectory(name, in: descriptor))
            return Folder(place(name), number, files)
        } catch {
            // The error is that of a file.
            if (try? facts(name))?.kind == .link { throw FileProblem(place(name), Self.opening, .kind(.link)) }
            guard makes, error.isMissing else { throw error }
        }
        do throws(FileProblem) {
            try attempt(Self.opening, of: name, try files.makeDirectory(name, in: descriptor))
        } catch {
            // Another process was faster.
            if !error.isThereAlready { throw error }
        }
        try flush()
        return try folder(name)
    }

    /// Refuses a directory in which others can put a file of theirs in the place of ours.
    /// - Returns: What it is.
    @discardableResult
    package func judge(_ rules: FileRules = FileRules()) throws(FileProblem) -> FileFacts {
        let facts = try attempt(Self.opening, try files.facts(descriptor))
        if let fault = rules.fault(ofFolder: facts) { throw FileProblem(path, Self.opening, fault) }
        return facts
    }

    private static let opening = "opening the directory"

    /// Has the disk know which files there are.
    package func flush() throws(FileProblem) {
        try attempt("flushing the directory", try files.sync(descriptor))
    }

    // MARK: Names

    /// What a name stands for, and not what it leads to.
    package func facts(_ name: String) throws(FileProblem) -> FileFacts {
        try attempt("looking at \(name)", of: name, try files.facts(name, in: descriptor))
    }

    /// The names in it, in any order.
    package func names() throws(FileProblem) -> [String] {
        try attempt("reading the directory", try files.names(in: descriptor))
    }

    /// Gives a file another name; one that has it already is replaced.
    package func rename(_ name: String, to newName: String) throws(FileProblem) {
        try attempt("renaming \(name)", of: name, try files.rename(name, to: newName, in: descriptor))
    }

    package func remove(_ name: String) throws(FileProblem) {
        try attempt("removing \(name)", of: name, try files.remove(name, in: descriptor))
    }

    // MARK: Files

    /// Opens a file and judges it.
    package func open(
        _ name: String, for purpose: FilePurpose, _ rules: FileRules = FileRules()
    ) throws(FileProblem) -> OpenFile {
        let isWritten = [.creating, .locking, .appending].contains(purpose)
        let doing = "\(isWritten ? "writing" : "reading") \(name)"
        let number: Int32
        do throws(FileError) {
            number = try files.retrying(try files.open(name, in: descriptor, for: purpose))
        } catch {
            throw FileProblem(place(name), doing, Self.fault(error, purpose))
        }
        let facts: FileFacts
        do throws(FileProblem) {
            facts = try attempt(doing, of: name, try files.facts(number))
        } catch {
            files.close(number)
            throw error
        }
        let file = OpenFile(number, facts, place(name), name, files)
        if let fault = rules.fault(facts) { throw FileProblem(place(name), doing, fault) }
        return file
    }

    /// Some files cannot even be opened, for what they are.
    private static func fault(_ error: FileError, _ purpose: FilePurpose) -> FileProblem.Fault {
        switch error.code {
        case ELOOP where purpose != .readingThroughLinks: .kind(.link)
        case EISDIR: .kind(.directory)
        case ENXIO: .kind(.other)
        default: .failed(error)
        }
    }

    /// Reads a file whole; nil where there is none.
    package func content(
        of name: String, limit: Int, _ rules: FileRules = FileRules()
    ) throws(FileProblem) -> (facts: FileFacts, bytes: [UInt8])? {
        do throws(FileProblem) {
            let file = try open(name, for: .reading, rules)
            return (file.facts, try file.content(limit: limit))
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Takes the lock of a file, until that is let go of.
    /// - Parameter waits: Where another has it; else that is an error, `isHeld`.
    package func lock(
        _ name: String, for purpose: FilePurpose = .locking, _ rules: FileRules = FileRules(), waits: Bool = false
    ) throws(FileProblem) -> OpenFile {
        while true {
            let file = try open(name, for: purpose, rules)
            try attempt(
                "locking \(name)", of: name,
                waits ? try files.waitForLock(file.descriptor) : try files.lock(file.descriptor))
            do throws(FileProblem) {
                if try facts(name).isSameFile(as: file.facts) { return file }
            } catch {
                if !error.isMissing { throw error }
            }
            // Its last holder removed or replaced it between our calls: what is held is no longer the lock.
        }
    }

    // MARK: Replacing

    /// Puts a file in place as a whole: whatever happens, there is the old one or the new one.
    /// - Parameters:
    ///   - temporary: What the new one is called until then.
    ///   - prepare: Is given the new file, which is empty.
    ///   - isFilled: Is given it when it has the bytes, and the disk may not.
    ///   - isWritten: From here on the file may be the new one, even if this fails; or still the old one.
    package func replace(
        _ name: String, with bytes: [UInt8], temporary: String? = nil,
        prepare: (_ descriptor: Int32) throws(FileProblem) -> Void = { _ in },
        isFilled: (_ descriptor: Int32) -> Void = { _ in }, isWritten: (FileFacts) -> Void = { _ in }
    ) throws(FileProblem) {
        let temporary = temporary ?? ".\(name).\(ThisProcess.id).tmp"
        do throws(FileProblem) {
            let new = try attempt("writing \(name)", of: name, try create(temporary))
            defer { files.close(new) }
            try prepare(new)
            try attempt("writing \(name)", of: name, try files.writeAll(bytes, to: new))
            isFilled(new)
            try attempt("flushing \(name)", of: name, try files.sync(new))
            isWritten(try attempt("flushing \(name)", of: name, try files.facts(new)))
            try attempt("replacing \(name)", of: name, try files.rename(temporary, to: name, in: descriptor))
        } catch {
            try? files.remove(temporary, in: descriptor)
            throw error
        }
    }

    private func create(_ name: String) throws(FileError) -> Int32 {
        do throws(FileError) {
            return try files.open(name, in: descriptor, for: .creating)
        } catch {
            guard error.isThereAlready else { throw error }
        }
        // Left behind by an attempt whose removal failed, too.
        try files.remove(name, in: descriptor)
        return try files.open(name, in: descriptor, for: .creating)
    }

    /// Puts a file in place that only this user reads, and has the disk know of it if it can.
    package static func replace(_ path: String, with text: String) throws(FileProblem) {
        let (folder, name) = try of(path)
        try folder.replace(name, with: Array(text.utf8))
        try? folder.flush()
    }

    // MARK: Failing

    private func place(_ name: String) -> String {
        switch path {
        case "": name
        case "/": "/\(name)"
        default: "\(path)/\(name)"
        }
    }

    private func attempt<Result>(
        _ doing: String, of name: String? = nil, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        try Self.attempt(doing, name.map(place) ?? path, files, try body())
    }

    private static func attempt<Result>(
        _ doing: String, _ path: String, _ files: any FileSystem, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        do throws(FileError) {
            return try files.retrying(try body())
        } catch {
            throw FileProblem(path, doing, .failed(error))
        }
    }
}
