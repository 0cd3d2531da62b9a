// The kernel's part of watching on Linux: inotify, an eventfd to be woken by, and how a file's times are called.

#if os(Linux) || os(Android)
    import TweaksSystem

    /// An inotify instance and the directories that it watches.
    package final class DirectoryEvents {
        /// Whether the kernel tells about directories at all.
        package static let isSupported = true

        private static let itself: DirectoryEvent.Flags = [.deleteSelf, .moveSelf, .onlyDirectory, .noLink]
        private static let whole: DirectoryEvent.Flags = itself.union([
            .modify, .attributes, .closeWrite, .movedFrom, .movedTo, .create, .delete,
        ])

        let descriptor: Int32
        private var watches: [Int32: PathTrail.Directory] = [:]
        /// Those that were asked for and had not gone; some may have been refused.
        private var followed: Set<PathTrail.Directory> = []

        init() throws(WatchFailure) {
            descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            if descriptor < 0 { throw WatchFailure(code: errno) }
        }

        deinit { close(descriptor) }

        func isFollowing(_ directories: [PathTrail.Directory]) -> Bool { followed == Set(directories) }

        /// Watches these directories and no others.
        /// - Returns: Those that this process may not watch, by their paths.
        func follow(_ directories: [PathTrail.Directory]) throws(WatchFailure) -> [String] {
            var refused: [String] = []
            let before = watches
            (watches, followed) = ([:], [])
            for directory in directories {
                let mask = directory.isWhole ? Self.whole : Self.itself
                let watch = inotify_add_watch(descriptor, directory.path, mask.rawValue)
                if watch >= 0 { watches[watch] = directory }
                switch watch < 0 ? errno : 0 {
                case 0: followed.insert(directory)
                case ENOENT, ENOTDIR, ELOOP: break  // It has gone since; the caller looks once more.
                case EACCES, EPERM:
                    followed.insert(directory)
                    if directory.isWhole { refused.append(directory.path) }
                case let code: throw WatchFailure(code: code)
                }
            }
            for watch in before.keys where watches[watch] == nil { inotify_rm_watch(descriptor, watch) }
            return refused
        }

        /// The directory that an event is about.
        func directory(of event: DirectoryEvent) -> PathTrail.Identity? { watches[event.watch]?.identity }

        /// The kernel has dropped a watch.
        func drop(_ watch: Int32) {
            if let directory = watches.removeValue(forKey: watch) { followed.remove(directory) }
        }

        /// Nobody knows what is still watched.
        func forgetAll() { followed = [] }

        /// Reads what has happened so far; nothing is a count of zero.
        func take(into buffer: inout [UInt8]) throws(WatchFailure) -> Int {
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count > 0 { return count }
                if count == 0 || errno == EAGAIN { return 0 }
                if errno != EINTR { throw WatchFailure(code: errno) }
            }
        }
    }

    extension WakeSignal {
        /// What is rung and what is waited for; nil when there are no descriptors left.
        static func openEnds() -> (rung: Int32, heard: Int32)? {
            let number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            return number < 0 ? nil : (number, number)
        }
    }

    extension stat {
        var modified: timespec { st_mtim }
        var changed: timespec { st_ctim }
    }
#endif
