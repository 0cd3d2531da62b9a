// Finds the files of declarations in folders of sources, and replaces them.

package import TweaksSystem

/// A file in which a declaration may be.
package struct SourceFile: Sendable {
    /// Its path as messages and diffs show it.
    package let path: String
    fileprivate let folder: Folder
    fileprivate let name: String
    /// The folders that it is in, outermost first.
    fileprivate let folders: [String]
    /// Whether it was named itself, and not found in a folder.
    fileprivate let isNamed: Bool

    /// A longer file is no source that a person writes.
    private static let maxBytes = 8 << 20

    func read() throws(FileProblem) -> [UInt8] {
        try folder.open(name, for: .reading, FileRules(.anyone)).content(limit: Self.maxBytes)
    }

    /// Replaces the content in one step; mode and owner stay.
    /// - Parameter old: What was read, and must still be there.
    /// - Returns: False, and nothing has changed, if something else is there.
    func replace(_ old: [UInt8], with new: [UInt8]) throws(FileProblem) -> Bool {
        let file = try folder.open(name, for: .reading, FileRules(.anyone))
        guard try file.content(limit: Self.maxBytes) == old else { return false }
        let info = file.info
        let path = path
        try folder.replace(name, with: new) { descriptor throws(FileProblem) in
            // Before the mode: a change of the owner removes bits of it.
            let isOwned = fchown(descriptor, info.owner, info.group) == 0
            if !isOwned || fchmod(descriptor, mode_t(info.mode)) != 0 {
                throw FileProblem(path, "keeping the owner of \(name)", .failed(FileError(errno)))
            }
        }
        try? folder.flush()
        return true
    }
}

/// The Swift files in some folders, as far as declarations name them.
package struct SourceFiles: Sendable {
    package private(set) var files: [SourceFile] = []
    /// The number of directory entries that are left to look at.
    private var budget = 500_000
    private static let maxDepth = 64

    /// Looks for files with these names.
    /// - Parameters:
    ///   - roots: Folders and files.
    ///   - names: The names of the files that declarations name; files that a root names have to have one, too.
    /// - Throws: The reason why a root cannot be read.
    package init(_ roots: [String], named names: Set<String>) throws(FileProblem) {
        for root in roots.map(Self.relative) {
            let isFolder = (try? PosixFileSystem().info(path: root))?.kind == .directory
            if isFolder {
                try walk(try Folder(root), root == "." ? "" : root, Self.names(of: root), names)
            } else {
                try addNamed(root, names)
            }
        }
    }

    private mutating func addNamed(_ path: String, _ names: Set<String>) throws(FileProblem) {
        let (directory, name) = Folder.split(path)
        let folder = try Folder(directory)
        let kind = try folder.info(name).kind
        if kind != .regular { throw FileProblem(path, "reading \(name)", .kind(kind)) }
        if names.contains(name) { try add(folder, name, path, Self.names(of: directory), isNamed: true) }
    }

    /// A path as seen from the working directory, where it is in there: git applies a diff to such paths only.
    private static func relative(_ path: String) -> String {
        var rest = path[...]
        if path.hasPrefix("/"), let real = realpath(".", nil) {
            defer { free(real) }
            let folder = String(cString: real) + "/"
            if rest.hasPrefix(folder) { rest = rest.dropFirst(folder.count) }
            if path == folder.dropLast() { rest = "" }
        }
        while rest.hasPrefix("./") { rest = rest.dropFirst(2).drop { $0 == "/" } }
        while rest.count > 1, rest.hasSuffix("/") { rest.removeLast() }
        return rest.isEmpty ? "." : String(rest)
    }

    private mutating func add(
        _ folder: Folder, _ name: String, _ path: String, _ folders: [String], isNamed: Bool = false
    ) throws(FileProblem) {
        guard let info = try Self.ifReachable({ () throws(FileProblem) in try folder.info(name) }),
            info.kind == .regular
        else { return }
        for file in files {
            // Roots may overlap.
            let known = try Self.ifReachable { () throws(FileProblem) in try file.folder.info(file.name) }
            if known?.isSameFile(as: info) == true { return }
        }
        files.append(SourceFile(path: path, folder: folder, name: name, folders: folders, isNamed: isNamed))
    }

    /// Nil for what is gone, or closed to this user: it holds none of their sources. With any other error a second file of
    /// the same name could be missed, so that the first one looks like the only one.
    static func ifReachable<Value>(_ body: () throws(FileProblem) -> Value) throws(FileProblem) -> Value? {
        do throws(FileProblem) {
            return try body()
        } catch {
            guard case .failed(let failure) = error.fault, ![EACCES, EPERM, ENOENT].contains(failure.code) else {
                return nil
            }
            throw error
        }
    }

    /// The names of a folder and of those that it is in.
    private static func names(of folder: String) -> [String] {
        guard let real = realpath(folder, nil) else { return [] }
        defer { free(real) }
        return String(cString: real).split(separator: "/").map { String($0) }
    }

    /// Symbolic links are not followed: what they lead to may be outside of the folder.
    private mutating func walk(
        _ folder: Folder, _ path: String, _ folders: [String], _ names: Set<String>
    ) throws(FileProblem) {
        for name in try folder.names().sorted() where Self.isSource(name) {
            budget -= 1
            if budget < 0 { throw FileProblem(path, "looking through it", .failed(FileError(E2BIG))) }
            let below = path.isEmpty ? name : path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            if names.contains(name) { try add(folder, name, below, folders) }
            guard folders.count < Self.maxDepth,
                try Self.ifReachable({ () throws(FileProblem) in try folder.info(name) })?.kind == .directory,
                let inner = try Self.ifReachable({ () throws(FileProblem) in try folder.folder(name) })
            else { continue }
            try walk(inner, below, folders + [name], names)
        }
    }

    /// Whether a folder or file may be one of the program's: not hidden, as `.build` and `.git` are.
    private static func isSource(_ name: String) -> Bool {
        !name.hasPrefix(".") && !["", "node_modules", "DerivedData"].contains(name)
    }

    /// The file of a declaration: of its name, and in a folder with the name of its module, or the only one that was named.
    func file(_ place: SourcePlace) throws(BakeRefusal) -> SourceFile {
        let found = files.filter { file in
            file.name == place.file && (file.isNamed || file.folders.contains { Self.moduleName($0) == place.module })
        }
        if found.count == 1 { return found[0] }
        guard found.count > 1 else {
            throw BakeRefusal(
                "is declared in a file that is not in these folders; name it, or a folder \(place.module) with "
                    + "\(place.file) in it")
        }
        let paths = found.prefix(10).map(\.path).joined(separator: ", ") + (found.count > 10 ? ", …" : "")
        throw BakeRefusal("is declared in one of several files: \(paths); name the right one")
    }

    /// The name that the compiler makes of a target's: `my_app` of `my-app`.
    private static func moduleName(_ name: String) -> String {
        String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
    }
}
