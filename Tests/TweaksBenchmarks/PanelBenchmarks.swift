// Measures the panel: delays in both directions, a thousand event streams, page sizes, and the cost of an unused panel.

import Dispatch
import Foundation
import Tweaks
import TweaksPanel
import TweaksServer

enum PanelBenchmarks {
    static func run() throws {
        DescriptorLimit.raise()
        try toTheObserver()
        try toTheStreams()
        try sizes()
        try unused()
    }

    // MARK: From the page to the program

    /// Measures from the request to the observer, which is in this process.
    private static func toTheObserver() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Bench", "Wire", "Number0", 0.0, registry: registry)
        let server = TweakServer(
            panel: .on, name: "bench", registry: registry, listeners: [.tcp(port: 0)], limits: ServedTweaks.limits)
        try server.start()
        defer { server.stop() }
        let seen = DispatchSemaphore(value: 0)
        let token = tweak.observe { _ in seen.signal() }
        let panel = try PanelConnection(server.addressWithToken)
        let lines = try Connection(port: UInt16(server.port ?? 0))
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 1...5_000 {
            ours.append(
                try Measure.nanoseconds {
                    try panel.patch(value: 2 * round)
                    seen.wait()
                })
            try panel.receiveBody()
            theirs.append(
                try Measure.nanoseconds {
                    try lines.send(Array("set Bench/Wire/Number0 \(2 * round + 1)\n".utf8))
                    seen.wait()
                })
            try lines.receive(1, linesBeginningWith: "o")
        }
        withExtendedLifetime(token) {}
        Table.row("PATCH → observer, p50 / set over lines", ours: ours, theirs: theirs, 0.5, goal: "")
        Table.row("PATCH → observer, p99 / set over lines", ours: ours, theirs: theirs, 0.99, goal: "< 20,000 µs")
    }

    // MARK: From the program to the pages

    private static let flood = 2_000

    /// Measures from a set to the last of many streams, first with all of them reading, then with ten stalled.
    private static func toTheStreams() throws {
        let peer = try Peer.panel(tweaks: 100)
        let setter = try Connection(port: peer.port)
        let count = min(1_000, DescriptorLimit.raise() - 200)
        let before = peer.residentBytes
        let streams = try (0..<count).map { _ in try PanelConnection.stream(peer.panel) }
        let bytes = Double(peer.residentBytes - before) / Double(count)
        Table.row("memory of an event stream, of \(count)", value: bytes, unit: "bytes", goal: "bounded")
        let reading = Array(streams.dropFirst(10))
        let all = try delays(setter, streams, rounds: 200)
        // The server keeps only the newest change of each tweak for the ten stalled streams.
        let lines = (0..<flood).map { "set Bench/Wire/Number\(1 + $0 % 99) \($0)\n" }.joined()
        try setter.ask(lines, replies: flood)
        for stream in reading {
            try stream.receive(through: "Number\(1 + (flood - 1) % 99)\",\"kind\":\"number\",\"value\":\(flood - 1)")
        }
        let some = try delays(setter, reading, rounds: 200)
        Table.row(
            "set → last of \(count) streams, 10 of them stalled, p99 / none", ours: some, theirs: all, 0.99,
            goal: "≈ 1")
        let after = peer.residentBytes - before
        Table.row(
            "memory of \(count) streams after \(flood) changes, 10 stalled", value: Double(after) / 1_048_576,
            unit: "MiB", goal: "bounded")
    }

    private static func delays(_ setter: Connection, _ streams: [PanelConnection], rounds: Int) throws -> [Double] {
        try (0..<rounds).map { _ in
            let value = Int.random(in: 1_000_000..<1_000_000_000)
            return try Measure.nanoseconds {
                try setter.send(Array("set Bench/Wire/Number0 \(value)\n".utf8))
                for stream in streams { try stream.receive(through: "\"value\":\(value)") }
                try setter.receive(1, linesBeginningWith: "o")
            }
        }
    }

    // MARK: Sizes

    /// Prints the bytes that a browser loads to show 500 tweaks: the markup each time, its files once per version.
    private static func sizes() throws {
        let peer = try Peer.panel(tweaks: 500)
        let page = try PanelConnection(peer.panel)
        let markup = try page.body("/")
        let files = try markup.matches(of: /"(\/panel\/[^"]+)"/).map { try page.sizeOfBody(String($0.1)) }
        let stream = try PanelConnection(peer.panel)
        try stream.ask("GET", "/api/events")
        let snapshot = try stream.receive(through: "Number499\"") + 200
        Table.row(
            "markup and data for 500 tweaks", value: Double(markup.utf8.count + snapshot) / 1_000, unit: "kB",
            goal: "< 100 kB")
        Table.row(
            "the page's \(files.count) files, which browsers keep", value: Double(files.reduce(0, +)) / 1_000,
            unit: "kB", goal: "< 200 kB")
    }

    // MARK: Unused

    private static func unused() throws {
        let (with, without) = (try Peer.panel(tweaks: 100), try Peer.tweaks())
        sleep(1)
        let bytes = [with, without].map(\.residentBytes)
        Table.row(
            "memory with the panel on, nobody looking, beyond without", value: Double(bytes[0] - bytes[1]) / 1_024,
            unit: "KiB", goal: "< 1,024 KiB")
        let switches = with.switches
        sleep(2)
        Table.row(
            "wake-ups in 2 s with the panel on, nobody looking", value: Double(with.switches - switches), unit: "",
            goal: "0")
    }
}

extension TweakServer {
    /// The address of the panel's page, with the panel's token.
    var addressWithToken: String {
        let page = (panelAddress ?? "").prefix { $0 != "#" }
        return "\(page)#token=\(panelToken ?? "")"
    }
}

/// A connection to a panel, from its address with the token.
final class PanelConnection {
    private let connection: Connection
    private let authority: String
    private let token: String
    private var unread: [UInt8] = []

    init(_ address: String) throws {
        let parts = address.split(separator: "/")
        guard let host = parts.dropFirst().first, let port = host.split(separator: ":").last.flatMap({ UInt16($0) }),
            let mark = address.firstIndex(of: "=")
        else { throw Connection.Failure() }
        authority = String(host)
        token = String(address[address.index(after: mark)...])
        connection = try Connection(port: port, buffer: 16_384)
    }

    /// Opens an event stream and reads its snapshot.
    static func stream(_ address: String) throws -> PanelConnection {
        let stream = try PanelConnection(address)
        try stream.ask("GET", "/api/events?pattern=Bench")
        try stream.receive(through: "\"path\":\"Bench/Wire/Number99\"")
        return stream
    }

    func ask(_ method: String, _ target: String, body: String? = nil) throws {
        let content = body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: \(authority)\r\nAuthorization: Bearer \(token)\r\n"
        try connection.send(Array((head + (content ?? "\r\n")).utf8))
    }

    func patch(value: Int) throws {
        let body = "{\"changes\":[{\"path\":\"Bench/Wire/Number0\",\"value\":\(value)}]}"
        try ask("PATCH", "/api/tweaks", body: body)
    }

    func receiveBody() throws { try connection.receiveBody() }

    /// Reads up to and including a text.
    /// - Returns: The number of bytes read.
    @discardableResult
    func receive(through text: String) throws -> Int {
        let wanted = Array(text.utf8)
        var (count, start) = (0, 0)
        while true {
            if let found = unread[start...].firstRange(of: wanted) {
                count += found.upperBound
                unread.removeFirst(found.upperBound)
                return count
            }
            let kept = min(unread.count, wanted.count)
            count += unread.count - kept
            unread.removeFirst(unread.count - kept)
            start = 0
            unread += try connection.receiveSome()
        }
    }

    /// The body of a response, as text.
    func body(_ target: String) throws -> String {
        let count = try sizeOfBody(target)
        try ask("GET", target)
        try receive(through: "\r\n\r\n")
        while unread.count < count { unread += try connection.receiveSome() }
        defer { unread.removeFirst(count) }
        return String(decoding: unread.prefix(count), as: UTF8.self)
    }

    /// The length that a response announces.
    func sizeOfBody(_ target: String) throws -> Int {
        try ask("HEAD", target)
        try receive(through: "Content-Length: ")
        while !unread.contains(UInt8(ascii: "\r")) { unread += try connection.receiveSome() }
        defer { _ = try? receive(through: "\r\n\r\n") }
        return Int(String(decoding: unread.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)) ?? 0
    }
}
