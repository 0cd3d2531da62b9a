// The way to a file, through every directory and symbolic link: what to watch, and what it looked like.

import TweaksSystem

/// What lies on the way to a file at one moment.
package struct PathTrail: Equatable {
    /// Which file, whatever it is called.
    package struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    /// What a file or a link looks like from outside. The time of the last change of the inode is the one that nobody
    /// can set back.
    package struct Mark: Hashable, Sendable {
        package let identity: Identity
        package let size: Int64
        package let modified: Time
        package let changed: Time
    }

    /// A time of a file.
    package struct Time: Hashable, Sendable {
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// What is at the end of the way.
    package enum Target: Hashable, Sendable {
        case file(Mark)
        /// With the error number.
        case missing(Int32)
    }

    /// A directory on the way.
    package struct Directory: Hashable, Sendable {
        let identity: Identity
        /// Without links.
        package let path: String
        /// Whether its entries matter; else only whether it stays where it is.
        package fileprivate(set) var isWhole = false
    }

    /// The name of the file, or of a link on the way, in the directory where it stands.
    package struct Entry: Hashable, Sendable {
        let directory: Identity
        package let name: String
    }

    /// The symbolic links, in order.
    package private(set) var links: [Mark] = []
    package private(set) var target: Target
    package private(set) var directories: [Directory] = []
    package private(set) var entries: Set<Entry> = []
    /// Everything that is passed, from the root to the target, by paths without links but for their last part.
    private var steps: [String] = ["/"]

    /// Goes an absolute path.
    package init(_ path: String) {
        // The kernel's own word, which holds also for what cannot be followed by name, as /dev/fd/3.
        target = Self.target(path)
        guard let root = Mark.ofEntry("/") else { return }
        follow(path, from: Directory(identity: root.identity, path: "/"))
    }

    /// What is passed on the way to a file, itself the last.
    static func steps(to path: String) -> [String] { PathTrail(path).steps }

    /// Whether a file or link looks different.
    package func differs(from other: PathTrail) -> Bool { links != other.links || target != other.target }

    /// Whether the same file is there by the same way, so that a difference was made in place.
    package func isSameFile(as other: PathTrail) -> Bool {
        guard case .file(let mine) = target, case .file(let theirs) = other.target else { return false }
        return mine.identity == theirs.identity && links == other.links
    }

    // MARK: - Following

    /// As many links as the kernel follows before it gives up (path_resolution(7)).
    private static let linkLimit = 40

    private mutating func follow(_ path: String, from root: Directory) {
        var stack = [root]
        var rest = Self.parts(path)
        directories = [root]
        while let name = rest.popLast(), let here = stack.last {
            if name == ".." {
                if stack.count > 1 { stack.removeLast() }
                continue
            }
            let place = here.path == "/" ? "/\(name)" : "\(here.path)/\(name)"
            steps.append(place)
            let isLast = rest.isEmpty
            if isLast { entries.insert(Entry(directory: here.identity, name: name)) }
            guard let (mark, kind) = Mark.andKindOfEntry(place) else { return watchEntries(of: here) }
            switch kind {
            case .link:
                watchEntries(of: here)
                entries.insert(Entry(directory: here.identity, name: name))
                links.append(mark)
                guard links.count <= Self.linkLimit, let goal = Self.goal(of: place) else { return }
                if goal.hasPrefix("/") { stack = [root] }
                rest += Self.parts(goal)
            case .directory:
                if isLast { watchEntries(of: here) }
                stack.append(Directory(identity: mark.identity, path: place))
                pass(Directory(identity: mark.identity, path: place))
            case .other: return watchEntries(of: here)
            }
        }
    }

    /// The components that mean something, last first.
    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map { String($0) }
    }

    private mutating func pass(_ directory: Directory) {
        if !directories.contains(where: { $0.identity == directory.identity }) { directories.append(directory) }
    }

    private mutating func watchEntries(of directory: Directory) {
        for index in directories.indices where directories[index].identity == directory.identity {
            directories[index].isWhole = true
        }
    }

    // MARK: - Asking the system

    private static func target(_ path: String) -> Target {
        var info = stat()
        return stat(path, &info) == 0 ? .file(Mark(info)) : .missing(errno)
    }

    /// What a symbolic link says.
    private static func goal(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension PathTrail.Mark {
    fileprivate enum Kind {
        case directory
        case link
        case other
    }

    fileprivate init(_ info: stat) {
        identity = .init(device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino))
        size = Int64(info.st_size)
        modified = .init(info.modified)
        changed = .init(info.changed)
    }

    /// What is at a path, itself and not what it points to.
    fileprivate static func andKindOfEntry(_ path: String) -> (Self, Kind)? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: return (Self(info), .directory)
        case S_IFLNK: return (Self(info), .link)
        default: return (Self(info), .other)
        }
    }

    fileprivate static func ofEntry(_ path: String) -> Self? { andKindOfEntry(path)?.0 }
}

extension PathTrail.Time {
    fileprivate init(_ time: timespec) {
        seconds = Int64(time.tv_sec)
        nanoseconds = Int64(time.tv_nsec)
    }
}
