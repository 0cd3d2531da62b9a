// Reads the events of watched directories: inotify on Linux, none elsewhere.

import TweaksSystem

/// An event in a watched directory (inotify(7)).
package struct DirectoryEvent: Equatable, Sendable {
    /// The event type; the values are the kernel's.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let modify = Flags(rawValue: 0x2)
        package static let attributes = Flags(rawValue: 0x4)
        package static let closeWrite = Flags(rawValue: 0x8)
        package static let movedFrom = Flags(rawValue: 0x40)
        package static let movedTo = Flags(rawValue: 0x80)
        package static let create = Flags(rawValue: 0x100)
        package static let delete = Flags(rawValue: 0x200)
        package static let deleteSelf = Flags(rawValue: 0x400)
        package static let moveSelf = Flags(rawValue: 0x800)
        /// Events were lost.
        package static let overflow = Flags(rawValue: 0x4000)
        /// The watch was removed: its directory was deleted or unmounted, or the watch was canceled.
        package static let ignored = Flags(rawValue: 0x8000)
        /// Option: only watch a directory.
        package static let onlyDirectory = Flags(rawValue: 0x0100_0000)
        /// Option: do not follow a symbolic link.
        package static let noLink = Flags(rawValue: 0x0200_0000)
    }

    /// The watch it belongs to; -1 for an overflow.
    package let watch: Int32
    package let flags: Flags
    /// The directory entry; empty for the directory itself.
    package let name: String

    /// Creates an event with these values.
    package init(watch: Int32, flags: Flags, name: String = "") {
        self.watch = watch
        self.flags = flags
        self.name = name
    }

    /// The fixed part: watch, mask, cookie and name length, four bytes each in native byte order.
    private static let headSize = 16

    /// Parses all complete events; an incomplete one at the end is ignored.
    package static func parse(_ bytes: ArraySlice<UInt8>) -> [DirectoryEvent] {
        var rest = bytes
        var events: [DirectoryEvent] = []
        while rest.count >= headSize {
            let length = Int(number(rest, 12))
            guard rest.count - headSize >= length else { break }
            let name = rest.dropFirst(headSize).prefix(length).prefix { $0 != 0 }
            events.append(
                DirectoryEvent(
                    watch: Int32(bitPattern: number(rest, 0)), flags: Flags(rawValue: number(rest, 4)),
                    name: String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(headSize + length)
        }
        return events
    }

    /// Four bytes at an offset that the caller has checked.
    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}

#if os(Linux) || os(Android)
    /// An inotify instance and its watched directories.
    package final class DirectoryEvents {
        /// Whether the system reports directory events.
        package static let isSupported = true

        private static let directoryMask: DirectoryEvent.Flags = [.deleteSelf, .moveSelf, .onlyDirectory, .noLink]
        private static let entriesMask: DirectoryEvent.Flags = directoryMask.union([
            .modify, .attributes, .closeWrite, .movedFrom, .movedTo, .create, .delete,
        ])

        let descriptor: Int32
        private var watches: [Int32: ResolvedPath.Directory] = [:]
        /// The watched directories that existed, including those the kernel refused to watch.
        private var followed: Set<ResolvedPath.Directory> = []
        private lazy var buffer = [UInt8](repeating: 0, count: 65_536)

        init() throws(FileError) {
            descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            if descriptor < 0 { throw FileError(errno) }
        }

        deinit { close(descriptor) }

        func isFollowing(_ directories: [ResolvedPath.Directory]) -> Bool { followed == Set(directories) }

        /// Replaces the set of watched directories.
        /// - Returns: The paths that this process may not watch.
        func follow(_ directories: [ResolvedPath.Directory]) throws(FileError) -> [String] {
            var refused: [String] = []
            let before = watches
            watches = [:]
            followed = []
            for directory in directories {
                let mask = directory.watchesEntries ? Self.entriesMask : Self.directoryMask
                let watch = inotify_add_watch(descriptor, directory.path, mask.rawValue)
                if watch >= 0 { watches[watch] = directory }
                switch watch < 0 ? errno : 0 {
                case 0: followed.insert(directory)
                case ENOENT, ENOTDIR, ELOOP: break  // It was removed since; the caller resolves the path again.
                case EACCES, EPERM:
                    followed.insert(directory)
                    if directory.watchesEntries { refused.append(directory.path) }
                case let code: throw FileError(code)
                }
            }
            for watch in before.keys where watches[watch] == nil { inotify_rm_watch(descriptor, watch) }
            return refused
        }

        /// The directory of an event.
        func directory(of event: DirectoryEvent) -> ResolvedPath.Identity? { watches[event.watch]?.identity }

        /// Forgets a watch that the kernel has removed.
        func drop(_ watch: Int32) {
            if let directory = watches.removeValue(forKey: watch) { followed.remove(directory) }
        }

        /// Forgets all directories, because the state of the watches is unknown.
        func forgetAll() { followed = [] }

        /// Reads pending events.
        func read() throws(FileError) -> [DirectoryEvent] {
            while true {
                let count = systemRead(descriptor, &buffer)
                if count >= 0 { return DirectoryEvent.parse(buffer[..<count]) }
                if errno == EAGAIN { return [] }
                if errno != EINTR { throw FileError(errno) }
            }
        }
    }

    /// read(2), under a name that no method shadows.
    private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
        read(descriptor, &buffer, buffer.count)
    }
#elseif canImport(Darwin)
    /// A placeholder for directory events; never instantiated.
    package final class DirectoryEvents {
        /// Whether the system reports directory events.
        package static let isSupported = false

        let descriptor: Int32 = -1

        init() throws(FileError) { throw FileError(ENOSYS) }

        func isFollowing(_ directories: [ResolvedPath.Directory]) -> Bool { true }
        func follow(_ directories: [ResolvedPath.Directory]) throws(FileError) -> [String] { [] }
        func directory(of event: DirectoryEvent) -> ResolvedPath.Identity? { nil }
        func drop(_ watch: Int32) {}
        func forgetAll() {}
        func read() throws(FileError) -> [DirectoryEvent] { [] }
    }
#endif
