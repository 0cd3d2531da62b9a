// Runs a program under callgrind, and reads how many instructions it has executed in user space.

import Foundation

/// A server whose instructions are counted until it ends.
final class Counted {
    let port: UInt16
    private let peer: Peer
    private let output: URL

    private init(_ peer: Peer, _ output: URL) { (port, self.peer, self.output) = (peer.port, peer, output) }

    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/valgrind")

    /// This very program, as a daemon with a hundred numbers and one observer, as `TweakDaemon.start` gives it by default,
    /// but for a state directory and a limit of commits.
    static func daemon() throws -> Counted {
        let output = place()
        return Counted(try Peer.tweaks(["serve-default"], under: wrapper(output)), output)
    }

    /// A Redis without persistence; nil where none is installed.
    static func redis() throws -> Counted? {
        let output = place()
        return try Peer.redis(under: wrapper(output)).map { Counted($0, output) }
    }

    /// The instructions of this very program, run to its end.
    static func run(_ arguments: [String]) throws -> Double {
        let output = place()
        let process = Process()
        let words = wrapper(output) + [CommandLine.arguments[0]] + arguments
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = Peer.environment
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return try total(output)
    }

    /// Ends it, and returns what it has executed.
    func end() throws -> Double {
        peer.end()
        return try Self.total(output)
    }

    private static func place() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "tweaks-callgrind-\(UUID().uuidString)")
    }

    private static func wrapper(_ output: URL) -> [String] {
        ["/usr/bin/valgrind", "--tool=callgrind", "--callgrind-out-file=\(output.path)", "--quiet"]
    }

    struct NoCount: Error {}

    private static func total(_ output: URL) throws -> Double {
        defer { try? FileManager.default.removeItem(at: output) }
        let text = try String(contentsOf: output, encoding: .utf8)
        let line = text.split(separator: "\n").last { $0.hasPrefix("totals:") || $0.hasPrefix("summary:") }
        guard let count = line?.split(separator: " ").last.flatMap({ Double($0) }) else { throw NoCount() }
        return count
    }
}
