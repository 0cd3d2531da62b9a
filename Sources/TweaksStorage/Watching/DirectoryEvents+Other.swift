// Replaces inotify on systems without it: no events, and a pipe for wakeups.

#if canImport(Darwin)
    import TweaksSystem

    /// A placeholder for directory events; never instantiated.
    package final class DirectoryEvents {
        /// Whether the system reports directory events.
        package static let isSupported = false

        let descriptor: Int32 = -1

        init() throws(WatchFailure) { throw WatchFailure(code: ENOSYS) }

        func isFollowing(_ directories: [ResolvedPath.Directory]) -> Bool { true }
        func follow(_ directories: [ResolvedPath.Directory]) throws(WatchFailure) -> [String] { [] }
        func directory(of event: DirectoryEvent) -> ResolvedPath.Identity? { nil }
        func drop(_ watch: Int32) {}
        func forgetAll() {}
        func readEvents(into buffer: inout [UInt8]) throws(WatchFailure) -> Int { 0 }
    }

    extension WakeSignal {
        /// Opens the descriptors for waking; nil if none are left.
        static func openWakeDescriptors() -> (writeEnd: Int32, readEnd: Int32)? {
            var numbers: [Int32] = [-1, -1]
            guard pipe(&numbers) == 0 else { return nil }
            for number in numbers {
                _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            }
            return (numbers[1], numbers[0])
        }
    }

    extension stat {
        var modified: timespec { st_mtimespec }
        var changed: timespec { st_ctimespec }
    }
#endif
