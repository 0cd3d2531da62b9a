// Provides facts about this process: its identity, its environment and its working directory.

/// This process as the system sees it.
package enum ThisProcess {
    package static var id: Int32 { getpid() }
    package static var user: UInt32 { UInt32(geteuid()) }
    package static var group: UInt32 { UInt32(getegid()) }

    /// Whether a user is this process's own user or root.
    package static func trusts(_ uid: UInt32) -> Bool { uid == user || uid == 0 }

    /// The time of day, in milliseconds since 1970.
    package static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// All environment variables with their values.
    package static var environment: [String: String] {
        var variables: [String: String] = [:]
        guard var next = environmentTable else { return [:] }
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, !parts[0].isEmpty { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }

    private static var environmentTable: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        #if canImport(Darwin)
            _NSGetEnviron().pointee
        #else
            tweaks_environment()
        #endif
    }

    /// An absolute path, which stays valid when the program changes its working directory later.
    package static func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }

    /// The working directory; empty if it cannot be determined, in which case a relative path starts at the root.
    private static var directory: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&bytes, bytes.count) != nil else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
