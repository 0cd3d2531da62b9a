// Compares Tweaks with its neighbors on this machine: swift run -c release compare

import Foundation

@main struct Program {
    private static let usage = """
        usage: compare [--builds | --quick]
          --builds  compare builds and sizes instead, which takes minutes
          --quick   do each thing a few times, to see whether it works; the figures mean nothing
        """

    static func main() {
        // A server that ends early is an error of a write.
        signal(SIGPIPE, SIG_IGN)
        do {
            switch Array(CommandLine.arguments.dropFirst()) {
            case []:
                try refuseDebugBuild()
                try compare(Scale())
            case ["--quick"]: try compare(.quick)
            case ["--builds"]: try inDirectory { try Report(scale: Scale(rounds: 1)).builds($0) }
            case let words where words.count == 2 && words[0] == "--serve": try Peer.serve(words[1])
            default:
                print(usage)
                exit(2)
            }
        } catch {
            FileHandle.standardError.write(Data("compare: \(error)\n".utf8))
            exit(1)
        }
    }

    /// The figures of a debug build mean nothing.
    private static func refuseDebugBuild() throws {
        #if DEBUG
            throw Failure(description: "this is a debug build; use swift run -c release compare, or --quick")
        #endif
    }

    private static func compare(_ scale: Scale) throws {
        let report = Report(scale: scale)
        try report.header()
        try report.reads()
        try inDirectory { try report.requests($0) }
        try inDirectory { try report.watching($0) }
        try inDirectory { try report.durable($0) }
    }

    /// Runs with a directory that is removed afterwards.
    private static func inDirectory(_ body: (String) throws -> Void) throws {
        let name = "compare-\(UUID().uuidString.prefix(8))"
        let directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }
}
