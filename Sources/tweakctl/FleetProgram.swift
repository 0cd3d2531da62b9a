// Runs `tweakctl-fleet` for `tweakctl fleet`; this program does not know etcd.

import Tweaks
import TweaksSystem

/// The fleet client, `tweakctl-fleet`: next to this program, or in PATH.
enum FleetProgram {
    static let name = "tweakctl-fleet"

    /// Replaces this process by the fleet client.
    /// - Returns: The error; it does not return on success.
    static func run(_ arguments: [String]) -> Failure {
        guard let path else {
            return Failure(
                .unreachable,
                "fleet: \(name) is neither next to tweakctl nor in PATH; install it there "
                    + "(swift build --product \(name))")
        }
        return Failure(.unreachable, "\(path): \(errorText(execute(path, arguments))); reinstall \(name)")
    }

    /// Completions for a partial line of it; empty where the program is missing.
    static func candidates(_ words: some Sequence<String>) -> [String] {
        if let path { _ = execute(path, [Verb.complete.rawValue] + words) }
        return []
    }

    /// The path of the fleet client; nil where it is not installed.
    private static var path: String? {
        let folders = [ownFolder] + (System.variable("PATH") ?? "").split(separator: ":").map { String($0) }
        return folders.compactMap(\.self).map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The directory of this program, with symbolic links resolved.
    private static var ownFolder: String? {
        #if canImport(Darwin)
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            var count = UInt32(bytes.count)
            guard _NSGetExecutablePath(&bytes, &count) == 0 else { return nil }
            let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            let name = "/proc/self/exe"
        #endif
        guard let real = realpath(name, nil) else { return nil }
        defer { free(real) }
        let path = String(cString: real)
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(path[..<slash])
    }

    /// Calls execv(3); returns an error number, or not at all.
    private static func execute(_ path: String, _ arguments: [String]) -> Int32 {
        var pointers = ([path] + arguments).map { strdup($0) }
        pointers.append(nil)
        execv(path, pointers)
        let code = errno
        for pointer in pointers { free(pointer) }
        return code
    }
}
