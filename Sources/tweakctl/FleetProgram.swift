// Runs the program of `tweakctl fleet`, which is another one: this one knows nothing of etcd.

import Tweaks
import TweaksSystem
import TweaksTerminal

/// The operator's client of a fleet, `tweakctl-fleet`: beside this program, or on the path.
enum FleetProgram {
    static let name = "tweakctl-fleet"

    /// Becomes that program.
    /// - Returns: Why it could not; otherwise it does not return.
    static func run(_ arguments: [String]) -> Failure {
        guard let path else {
            return Failure(
                .unreachable,
                "fleet: \(name) is neither beside tweakctl nor on the path; install it there "
                    + "(swift build --product \(name))")
        }
        return Failure(.unreachable, "\(path): \(errorText(become(path, arguments))); install \(name) anew")
    }

    /// How a line of it could go on; nothing where the program is missing.
    static func candidates(_ words: some Sequence<String>) -> [String] {
        if let path { _ = become(path, [Verb.complete.rawValue] + words) }
        return []
    }

    /// Where it is; nil where it is nowhere.
    private static var path: String? {
        let folders = [ownFolder] + (System.variable("PATH") ?? "").split(separator: ":").map { String($0) }
        return folders.compactMap(\.self).map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The folder of this program, with links followed.
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

    /// execv(3); it returns an error number or not at all.
    private static func become(_ path: String, _ arguments: [String]) -> Int32 {
        var pointers = ([path] + arguments).map { strdup($0) }
        pointers.append(nil)
        execv(path, pointers)
        let code = errno
        for pointer in pointers { free(pointer) }
        return code
    }
}
