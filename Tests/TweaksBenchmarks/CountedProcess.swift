// Counts the user-space instructions of a process with callgrind, from one mark to the next.

import Foundation

/// A process under callgrind, which records how many instructions all threads have executed since the last mark.
///
/// A mark is a call of `nanosleep`, which nothing else in these processes calls: Redis calls it in `DEBUG SLEEP`, this
/// program in ``mark()``. So many measurements share one process, which has to start only once.
final class CountedProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = "callgrind: \(description)" }
    }

    let port: UInt16
    /// The path of its Unix socket.
    let socket: String
    private let peer: Peer
    private let output: CallgrindOutput
    private let control: Connection
    private let request: WireBenchmarks.Dialect
    private var marks = 0

    private init(
        _ output: CallgrindOutput, _ request: WireBenchmarks.Dialect,
        _ start: (_ callgrind: [String], _ socket: String) throws -> Peer?
    ) throws {
        socket = output.path("socket")
        guard let peer = try start(output.callgrind, socket) else {
            throw Failure("the process to be counted did not start")
        }
        self.peer = peer
        port = peer.port
        self.output = output
        self.request = request
        control = try Connection(port: peer.port)
    }

    deinit {
        peer.end()
        output.remove()
    }

    /// The required programs that are not installed.
    static var missing: [String] { ["valgrind", "redis-server"].filter { Peer.path(of: $0) == nil } }

    /// A daemon with the defaults of `TweakDaemon.start`, but without state directory and commit limit.
    static func daemon() throws -> CountedProcess {
        let mark = WireBenchmarks.Dialect(request: { _ in "run Bench/Count/Mark\r\n" }, mark: "o")
        return try CountedProcess(CallgrindOutput(), mark) { try Peer.tweaks(["serve-default", $1], under: $0) }
    }

    /// A Redis without persistence.
    static func redis() throws -> CountedProcess {
        let mark = WireBenchmarks.Dialect(request: { _ in "DEBUG SLEEP 0\r\n" }, mark: "+")
        return try CountedProcess(CallgrindOutput(), mark) {
            try Peer.redis(["--enable-debug-command", "local", "--unixsocket", $1], under: $0)
        }
    }

    /// The instructions that this program executes with some arguments between the marks of each pair: first to second,
    /// third to fourth, and so on.
    static func pairs(_ arguments: [String]) throws -> [Double] {
        let output = try CallgrindOutput()
        defer { output.remove() }
        let process = Peer.process(output.callgrind + [CommandLine.arguments[0]] + arguments)
        try process.run()
        process.waitUntilExit()
        var totals: [Double] = []
        while let total = try? output.total(2 * totals.count + 2) { totals.append(total) }
        return totals
    }

    /// Makes callgrind record the instructions of this process since the last mark.
    static func mark() {
        var nothing = timespec()
        nanosleep(&nothing, nil)
    }

    /// The instructions that the process executes for the requests of `body`, including the second mark.
    func instructions(_ body: () throws -> Void) throws -> Double {
        try mark()
        try body()
        try mark()
        return try output.total(marks)
    }

    private func mark() throws {
        try control.ask(request.request(0), linesBeginningWith: request.mark)
        marks += 1
    }
}

/// The directory of callgrind's output files.
private struct CallgrindOutput {
    private let directory: WorkDirectory

    init() throws { directory = try WorkDirectory("callgrind-\(UUID())") }

    func path(_ name: String) -> String { directory.path(name) }

    /// The arguments before a command that run it under callgrind.
    var callgrind: [String] {
        [
            Peer.path(of: "valgrind") ?? "valgrind", "--tool=callgrind", "--quiet", "--vgdb=no",
            "--dump-before=nanosleep", "--callgrind-out-file=\(directory.path("mark"))",
        ]
    }

    /// The instructions from the previous mark to this one; the first mark is 1.
    func total(_ mark: Int) throws -> Double {
        let text = try String(contentsOfFile: directory.path("mark.\(mark)"), encoding: .utf8)
        let line = text.split(separator: "\n").last { $0.hasPrefix("totals:") }
        guard let total = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw CountedProcess.Failure("mark \(mark) has no total")
        }
        return total
    }

    func remove() { directory.remove() }
}
