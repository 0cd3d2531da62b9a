// Starts a real etcd that speaks TLS, and sends it requests.

import FleetTLS
import Foundation
import NeighborsTestSupport
import Testing
import TweaksFleet

extension Trait where Self == ConditionTrait {
    /// Runs only where etcd and openssl are installed; always in CI.
    static var needsEtcd: Self {
        let isThere = ["etcd", "openssl"].allSatisfy { (try? run(["sh", "-c", "command -v \($0)"])) != nil }
        return .enabled(
            if: isThere || ProcessInfo.processInfo.environment["CI"] == "true",
            "etcd or openssl is not installed: apt-get install etcd-server openssl")
    }
}

/// An etcd of one member that ends with this object.
final class SecureEtcd: Sendable {
    private let directory: TemporaryDirectory
    private let process: Running
    let port: Int

    /// Starts it; returns when it serves.
    /// - Parameters:
    ///   - own: Its certificate; nil for an etcd without TLS.
    ///   - clients: The authority of client certificates, if it asks for one.
    static func start(_ own: Authority.Signed?, clients: Authority? = nil) async throws -> SecureEtcd {
        var flags: [String] = ["--bcrypt-cost=4"]
        if let own { flags += ["--cert-file=\(own.certificate)", "--key-file=\(own.key)"] }
        if let clients { flags += ["--client-cert-auth", "--trusted-ca-file=\(clients.file)"] }
        // Another program may take a port before etcd does.
        var attempts = 0
        while true {
            attempts += 1
            let etcd = try SecureEtcd(flags, scheme: own == nil ? "http" : "https")
            do {
                // The message of etcd 3.4 to 3.6.
                try await etcd.process.wait(for: "serving client traffic")
                return etcd
            } catch let error as Ended where attempts < 3 && error.output.contains("address already in use") {}
        }
    }

    private init(_ flags: [String], scheme: String) throws {
        directory = try TemporaryDirectory()
        let (client, peer) = try Self.freePorts()
        port = client
        let (own, others) = ("\(scheme)://127.0.0.1:\(client)", "http://127.0.0.1:\(peer)")
        process = try Running(
            [
                "etcd", "--data-dir=\(directory.file("data"))", "--logger=zap", "--log-outputs=stdout",
                "--unsafe-no-fsync", "--listen-client-urls=\(own)", "--advertise-client-urls=\(own)",
                "--listen-peer-urls=\(others)", "--initial-advertise-peer-urls=\(others)",
                "--initial-cluster=default=\(others)",
            ] + flags)
    }

    /// Before its directory goes.
    deinit { process.stop() }

    /// Both sockets are open at once, so that the ports differ.
    private static func freePorts() throws -> (Int, Int) {
        let sockets = try [BoundPort(), BoundPort()]
        return (sockets[0].number, sockets[1].number)
    }

    /// The URL by the name that the certificates are for.
    var url: String { "https://localhost:\(port)" }

    /// Sends a request of etcd's JSON over a connection of a connector; returns the reply with its head.
    func post(_ path: String, _ body: String, _ connector: TLSConnector) throws -> String {
        let connection = Connection(try connector.connect(host: "localhost", port: port))
        try connection.send(
            """
            POST /v3/\(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """)
        return String(decoding: try connection.rest(), as: UTF8.self)
    }
}

/// A port that no other program has while this object lives.
final class BoundPort {
    private let socket: Int32
    let number: Int

    init() throws {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
            }
        }
        (self.socket, number) = (socket, Int(UInt16(bigEndian: address.sin_port)))
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(socket) }
}

/// A socket that waits, closed with this object.
final class Connection: Sendable {
    let socket: Int32

    init(_ socket: Int32) { self.socket = socket }

    deinit { close(socket) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns what is there, at most 64 KiB; empty at the end.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return Array(buffer.prefix(count))
    }

    /// Returns everything up to the end.
    func rest() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let bytes = try receive(), !bytes.isEmpty { all += bytes }
        return all
    }
}
