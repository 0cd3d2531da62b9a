// Wraps Linux file watching: inotify, an eventfd for wakeups, and the names of file times.

#if os(Linux) || os(Android)
    import TweaksSystem

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

        init() throws(WatchFailure) {
            descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            if descriptor < 0 { throw WatchFailure(code: errno) }
        }

        deinit { close(descriptor) }

        func isFollowing(_ directories: [ResolvedPath.Directory]) -> Bool { followed == Set(directories) }

        /// Replaces the set of watched directories.
        /// - Returns: The paths that this process may not watch.
        func follow(_ directories: [ResolvedPath.Directory]) throws(WatchFailure) -> [String] {
            var refused: [String] = []
            let before = watches
            (watches, followed) = ([:], [])
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
                case let code: throw WatchFailure(code: code)
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

        /// Reads pending events; returns 0 if there are none.
        func readEvents(into buffer: inout [UInt8]) throws(WatchFailure) -> Int {
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count > 0 { return count }
                if count == 0 || errno == EAGAIN { return 0 }
                if errno != EINTR { throw WatchFailure(code: errno) }
            }
        }
    }

    extension WakeSignal {
        /// Opens the descriptors for waking; nil if none are left.
        static func openWakeDescriptors() -> (writeEnd: Int32, readEnd: Int32)? {
            let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            return number < 0 ? nil : (number, number)
        }
    }

    extension stat {
        var modified: timespec { st_mtim }
        var changed: timespec { st_ctim }
    }
#endif
