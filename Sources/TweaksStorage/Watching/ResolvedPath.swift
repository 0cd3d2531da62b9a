// Resolves a path through every directory and symbolic link, to find what to watch and to detect changes.

import TweaksSystem

/// The directories, links and target of a path at one moment.
package struct ResolvedPath: Equatable {
    /// Identifies a file independently of its name.
    package struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64

        package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
    }

    /// The metadata of a file or link, for comparison. Users cannot set back the inode's change time.
    package struct Metadata: Hashable, Sendable {
        package let identity: Identity
        package let size: Int64
        /// Nanoseconds since 1970.
        package let modified: Int64
        package let changed: Int64
        fileprivate let kind: FileInfo.Kind
    }

    /// The end of the path.
    package enum Target: Hashable, Sendable {
        case file(Metadata)
        /// With the error number.
        case missing(Int32)
    }

    /// A directory on the path.
    package struct Directory: Hashable, Sendable {
        let identity: Identity
        /// Without symbolic links.
        package let path: String
        /// Whether its entries are watched; otherwise only its own removal or renaming.
        package fileprivate(set) var watchesEntries = false
    }

    /// The name of the file, or of a link on the path, in its directory.
    package struct Entry: Hashable, Sendable {
        let directory: Identity
        package let name: String
    }

    /// The symbolic links, in order.
    package private(set) var links: [Metadata] = []
    package private(set) var target: Target
    package private(set) var directories: [Directory] = []
    package private(set) var entries: Set<Entry> = []
    /// All paths visited from the root to the target, with links resolved except for the last component.
    private(set) var steps: [String] = ["/"]

    /// Resolves an absolute path.
    package init(_ path: String) {
        // Taken from the kernel, which also resolves paths that cannot be followed by name, such as /dev/fd/3.
        target = Self.target(path)
        guard let root = Metadata(at: "/") else { return }
        follow(path, from: Directory(identity: root.identity, path: "/"))
    }

    /// Whether a file or link has changed.
    package func differs(from other: ResolvedPath) -> Bool { links != other.links || target != other.target }

    /// Whether both resolve to the same file through the same links, so that a difference is a change in place.
    package func isSameFile(as other: ResolvedPath) -> Bool {
        guard case .file(let mine) = target, case .file(let theirs) = other.target else { return false }
        return mine.identity == theirs.identity && links == other.links
    }

    // MARK: - Following

    /// The kernel's limit of followed links (path_resolution(7)).
    private static let linkLimit = 40

    private mutating func follow(_ path: String, from root: Directory) {
        var stack = [root]
        var rest = Self.parts(path)
        directories = [root]
        while let name = rest.popLast(), let current = stack.last {
            if name == ".." {
                if stack.count > 1 { stack.removeLast() }
                continue
            }
            let entryPath = current.path == "/" ? "/\(name)" : "\(current.path)/\(name)"
            steps.append(entryPath)
            let isLast = rest.isEmpty
            if isLast { entries.insert(Entry(directory: current.identity, name: name)) }
            guard let metadata = Metadata(at: entryPath) else { return watchEntries(of: current) }
            switch metadata.kind {
            case .link:
                watchEntries(of: current)
                entries.insert(Entry(directory: current.identity, name: name))
                links.append(metadata)
                guard links.count <= Self.linkLimit, let destination = Self.destination(of: entryPath) else { return }
                if destination.hasPrefix("/") { stack = [root] }
                rest += Self.parts(destination)
            case .directory:
                if isLast { watchEntries(of: current) }
                stack.append(Directory(identity: metadata.identity, path: entryPath))
                addDirectory(Directory(identity: metadata.identity, path: entryPath))
            case .regular, .socket, .other: return watchEntries(of: current)
            }
        }
    }

    /// The components without empty ones and `.`, last first.
    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map { String($0) }
    }

    private mutating func addDirectory(_ directory: Directory) {
        if !directories.contains(where: { $0.identity == directory.identity }) { directories.append(directory) }
    }

    private mutating func watchEntries(of directory: Directory) {
        for index in directories.indices where directories[index].identity == directory.identity {
            directories[index].watchesEntries = true
        }
    }

    // MARK: - System calls

    private static func target(_ path: String) -> Target {
        var info = stat()
        return stat(path, &info) == 0 ? .file(Metadata(info)) : .missing(errno)
    }

    /// The destination of a symbolic link.
    private static func destination(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension ResolvedPath.Metadata {
    fileprivate init(_ info: stat) {
        let file = FileInfo(info)
        identity = .init(device: file.device, inode: file.inode)
        size = file.size
        modified = file.modified
        #if canImport(Darwin)
            let time = info.st_ctimespec
        #else
            let time = info.st_ctim
        #endif
        changed = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        kind = file.kind
    }

    /// The metadata of a path's last component; a link is not followed.
    fileprivate init?(at path: String) {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        self.init(info)
    }
}
