// The kernel's part of watching where there is no inotify: nothing but a pipe to be woken by.

#if canImport(Darwin)
    import TweaksSystem

    /// Stands for the events that this system does not give; none is ever made.
    package final class DirectoryEvents {
        /// Whether the kernel tells about directories at all.
        package static let isSupported = false

        let descriptor: Int32 = -1

        init() throws(WatchFailure) { throw WatchFailure(code: ENOSYS) }

        func isFollowing(_ directories: [PathTrail.Directory]) -> Bool { true }
        func follow(_ directories: [PathTrail.Directory]) throws(WatchFailure) -> [String] { [] }
        func directory(of event: DirectoryEvent) -> PathTrail.Identity? { nil }
        func drop(_ watch: Int32) {}
        func forgetAll() {}
        func take(into buffer: inout [UInt8]) throws(WatchFailure) -> Int { 0 }
    }

    extension WakeSignal {
        /// What is rung and what is waited for; nil when there are no descriptors left.
        static func openEnds() -> (rung: Int32, heard: Int32)? {
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
