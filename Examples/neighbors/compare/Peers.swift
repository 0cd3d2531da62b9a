// Starts the servers that are compared, each on a free port with files in a directory of its own.

import Foundation
import TweaksDaemon

/// How a server is asked; each text ends a request, each mark is the first character of a line that ends its reply.
struct Dialect: Sendable {
    let set: @Sendable (Int) -> String
    let setMark: Character
    var get = ""
    var getMark: Character = "o"
    /// What makes a connection a watcher, and the mark of its answer.
    var watch: (request: String, mark: Character) = ("", " ")
    /// A change that reaches watchers, if that is not a set.
    var publish: (@Sendable (Int) -> String)?
    var publishMark: Character?
    var eventMark: Character = " "
    /// What a connection sends first; its answer has the mark of sets.
    var hello: String?

    static let tweaks = Dialect(
        set: { "set Compare/Wire/Number \($0)\n" }, setMark: "o", get: "get Compare/Wire/Number\n",
        watch: ("watch Compare/Wire/Number\n", "o"), eventMark: "e")
    static let redis = Dialect(
        set: { redis("SET", "number", "\($0)") }, setMark: "+", get: redis("GET", "number"), getMark: "$",
        watch: (redis("SUBSCRIBE", "number"), ":"), publish: { redis("PUBLISH", "number", "\($0)") }, publishMark: ":",
        eventMark: "m")
    static let memcached = Dialect(
        set: { "set number 0 0 \("\($0)".utf8.count)\r\n\($0)\r\n" }, setMark: "S", get: "get number\r\n", getMark: "E")
    static let haproxy = Dialect(
        set: { "set weight b/s \($0 % 256)\n" }, setMark: ">", get: "get weight b/s\n", getMark: ">", hello: "prompt\n")
    static let etcd = Dialect(
        set: { etcd("kv/put", #"{"key":"\#(base64("number"))","value":"\#(base64("\($0)"))"}"#) }, setMark: "{",
        watch: (etcd("watch", #"{"create_request":{"key":"\#(base64("number"))"}}"#), "{"), eventMark: "{")

    private static func redis(_ words: String...) -> String {
        "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    }

    private static func etcd(_ path: String, _ body: String) -> String {
        "POST /v3/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}

/// A running server, which ends with this object.
final class Peer {
    let name: String
    let dialect: Dialect
    private let process: Process
    private let port: UInt16

    private init(_ name: String, _ dialect: Dialect, _ process: Process, _ port: UInt16) {
        (self.name, self.dialect, self.process, self.port) = (name, dialect, process, port)
    }

    deinit {
        // Not SIGTERM: a child of a process that blocks it, such as a runner of tests, does so, too.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func connect() throws -> Client {
        let client = try Client(port)
        if let hello = dialect.hello { try client.ask(hello, dialect.setMark) }
        return client
    }

    // MARK: Ours

    /// This program as a daemon; it stores overrides if there is a directory for them.
    static func tweaks(_ directory: String? = nil) throws -> Peer {
        let pipe = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--serve", directory ?? ""]
        process.standardOutput = pipe
        try process.run()
        let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.filter(\.isNumber)) else { throw Failure(description: "the daemon did not start") }
        return Peer("Tweaks", .tweaks, process, port)
    }

    /// Serves until it is killed, and prints its port.
    static func serve(_ directory: String) throws -> Never {
        let number = Tweak("Compare", "Wire", "Number", 0.0)
        var configuration = TweakDaemon.Configuration()
        configuration.tcp = .open(port: 0)
        configuration.storage = directory.isEmpty ? .off : .directory(directory)
        configuration.limits.commitsPerSecond = nil
        // Connections wait for their turn.
        configuration.limits.timeToFirstLine = .seconds(3_600)
        configuration.onEvent = { _ in }
        let daemon = try TweakDaemon.start("compare-\(getpid())", configuration, tweaks: number)
        FileHandle.standardOutput.write(Data("\(daemon.port ?? 0)\n".utf8))
        while true { pause() }
    }

    // MARK: Others

    static func redis(_ directory: String, isDurable: Bool = false) throws -> Peer? {
        let durable = isDurable ? ["--appendonly", "yes", "--appendfsync", "always"] : []
        return try installed("redis-server", isDurable ? "Redis, appendfsync always" : "Redis", .redis) { port in
            ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--dir", directory] + durable
        }
    }

    static func memcached() throws -> Peer? {
        try installed("memcached", "memcached", .memcached) { port in
            ["-p", "\(port)", "-l", "127.0.0.1", "-U", "0", "-u", NSUserName()]
        }
    }

    static func haproxy(_ directory: String) throws -> Peer? {
        try installed("haproxy", "HAProxy, runtime socket", .haproxy) { port in
            let file = "\(directory)/haproxy.cfg"
            let text = """
                global
                    stats socket ipv4@127.0.0.1:\(port) level admin
                    stats timeout 1h
                defaults
                    timeout connect 1s
                    timeout client 1s
                    timeout server 1s
                backend b
                    server s 127.0.0.1:9 weight 10

                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            return ["-db", "-q", "-f", file]
        }
    }

    static func etcd(_ directory: String) throws -> Peer? {
        try installed("etcd", "etcd, JSON gateway", .etcd) { port in
            let (client, peer) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(try freePort())")
            return [
                "--data-dir", "\(directory)/etcd", "--log-level", "error", "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", "default=\(peer)",
            ]
        }
    }

    /// Starts a program of the search path; nil if it is not installed.
    private static func installed(
        _ program: String, _ name: String, _ dialect: Dialect, _ arguments: (UInt16) throws -> [String]
    ) throws -> Peer? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = folders.map { "\($0)/\(program)" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else { return nil }
        // Another program may take a port before the server does.
        for _ in 1...3 {
            if let peer = try started(path, name, dialect, arguments) { return peer }
        }
        throw Failure(description: "\(program) does not start")
    }

    /// Starts a server; nil if it ends, or does not answer within half a minute.
    private static func started(
        _ path: String, _ name: String, _ dialect: Dialect, _ arguments: (UInt16) throws -> [String]
    ) throws -> Peer? {
        let port = try freePort()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = try arguments(port)
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        let peer = Peer(name, dialect, process, port)
        for _ in 0..<1_500 where process.isRunning {
            // A server that listens may not be ready: etcd elects a leader first.
            if let answer = try? peer.connect().answer(dialect.set(1)), !answer.isEmpty, !answer.contains("error") {
                return peer
            }
            usleep(20_000)
        }
        return nil
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        if !isBound { throw Failure(description: "no port is free") }
        return UInt16(bigEndian: address.sin_port)
    }
}
