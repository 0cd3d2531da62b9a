// A process whose instructions in user space are counted by callgrind, from one mark to the next.

import Foundation

/// A process under callgrind, which writes down what all threads have executed since the last mark.
///
/// A mark is a call of `nanosleep`, which nothing else in these processes calls: Redis does in `DEBUG SLEEP`, and this
/// program in ``mark()``. What lies between two marks can so be counted in one process, and its start costs time only once.
final class Counted {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = "callgrind: \(description)" }
    }

    let port: UInt16
    private let peer: Peer
    private let place: Place
    private let control: Connection
    private let request: WireBenchmarks.Dialect
    private var marks = 0

    private init(_ place: Place, _ request: WireBenchmarks.Dialect, _ start: ([String]) throws -> Peer?) throws {
        guard let peer = try start(place.callgrind) else { throw Failure("what is to be counted has not started") }
        (self.peer, port, self.place, self.request) = (peer, peer.port, place, request)
        control = try Connection(port: peer.port)
    }

    deinit {
        peer.end()
        place.remove()
    }

    /// What is not installed.
    static var missing: [String] { ["valgrind", "redis-server"].filter { Peer.path(of: $0) == nil } }

    /// A daemon as `TweakDaemon.start` gives it by default, but for a state directory and a limit of commits.
    static func daemon() throws -> Counted {
        let mark = WireBenchmarks.Dialect(request: { _ in "run Bench/Count/Mark\r\n" }, mark: "o")
        return try Counted(Place(), mark) { try Peer.tweaks(["serve-default"], under: $0) }
    }

    /// A Redis without persistence.
    static func redis() throws -> Counted {
        let mark = WireBenchmarks.Dialect(request: { _ in "DEBUG SLEEP 0\r\n" }, mark: "+")
        return try Counted(Place(), mark) { try Peer.redis(["--enable-debug-command", "local"], under: $0) }
    }

    /// The instructions that this very program executes between its first mark and each later one but the next to that:
    /// one figure for each pair of marks.
    static func pairs(_ arguments: [String]) throws -> [Double] {
        let place = try Place()
        defer { place.remove() }
        let process = Peer.process(place.callgrind + [CommandLine.arguments[0]] + arguments)
        try process.run()
        process.waitUntilExit()
        var figures: [Double] = []
        while let figure = try? place.total(2 * figures.count + 2) { figures.append(figure) }
        return figures
    }

    /// Makes callgrind write down what this process has executed since the last mark.
    static func mark() {
        var nothing = timespec()
        nanosleep(&nothing, nil)
    }

    /// The instructions that it executes for what `body` asks of it; those of the second mark are among them.
    func instructions(_ body: () throws -> Void) throws -> Double {
        try mark()
        try body()
        try mark()
        return try place.total(marks)
    }

    private func mark() throws {
        try control.send(Array(request.request(0).utf8))
        try control.receive(1, linesBeginningWith: request.mark)
        marks += 1
    }
}

/// A directory for what callgrind writes.
private struct Place {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "tweaks-callgrind-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    /// The words before a command that run it under callgrind.
    var callgrind: [String] {
        [
            Peer.path(of: "valgrind") ?? "valgrind", "--tool=callgrind", "--quiet", "--vgdb=no",
            "--dump-before=nanosleep", "--callgrind-out-file=\(directory.appending(path: "mark").path)",
        ]
    }

    /// What was executed from the mark before one to that one; the first is 1.
    func total(_ mark: Int) throws -> Double {
        let text = try String(contentsOf: directory.appending(path: "mark.\(mark)"), encoding: .utf8)
        let line = text.split(separator: "\n").last { $0.hasPrefix("totals:") }
        guard let total = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw Counted.Failure("mark \(mark) has no total")
        }
        return total
    }

    func remove() { try? FileManager.default.removeItem(at: directory) }
}
