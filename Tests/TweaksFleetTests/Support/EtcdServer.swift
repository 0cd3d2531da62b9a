// Starts members of a real etcd for a test, and treats them badly.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension Trait where Self == ConditionTrait {
    /// Runs where there is an etcd, and in CI in any case.
    static var needsEtcd: Self {
        .enabled(
            if: EtcdServer.isInstalled || ProcessInfo.processInfo.environment["CI"] == "true",
            "etcd is not installed: apt-get install etcd-server")
    }
}

/// One or more members of a cluster of their own, which end with this object.
final class EtcdServer: Sendable {
    static let program = ["/usr/bin/etcd", "/usr/local/bin/etcd", "/opt/homebrew/bin/etcd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isInstalled: Bool { program != nil }

    private struct Ports {
        let client: Int
        let peer: Int
    }

    private let directory: TemporaryDirectory
    private let ports: [Ports]
    private let flags: [String]
    private let members: Mutex<[EtcdMember]>

    /// Starts them, and returns when all serve.
    /// - Parameter flags: More of etcd's flags, such as `--quota-backend-bytes=…`.
    static func start(members count: Int = 1, flags: [String] = []) async throws -> EtcdServer {
        // Another program may take a port in between.
        for _ in 0..<3 {
            let server = try EtcdServer(count, flags)
            do {
                try await server.waitUntilServing()
                return server
            } catch let error as EtcdMemberError where error.output.contains("address already in use") {
                server.close()
            }
        }
        throw EtcdMemberError(output: "address already in use, three times")
    }

    private init(_ count: Int, _ flags: [String]) throws {
        directory = try TemporaryDirectory()
        ports = try Self.freePorts(count)
        self.flags = flags
        members = Mutex([])
        let started = try ports.indices.map(run)
        members.withLock { $0 = started }
    }

    /// Held all at once, so that they differ.
    private static func freePorts(_ count: Int) throws -> [Ports] {
        let sockets = try (0..<(2 * count)).map { _ in try BoundSocket(loopback: .version4) }
        return (0..<count).map { Ports(client: sockets[2 * $0].port, peer: sockets[2 * $0 + 1].port) }
    }

    deinit { close() }

    private func run(_ index: Int) throws -> EtcdMember {
        let (client, peer) = ("http://127.0.0.1:\(ports[index].client)", "http://127.0.0.1:\(ports[index].peer)")
        let cluster = ports.enumerated().map { "m\($0)=http://127.0.0.1:\($1.peer)" }.joined(separator: ",")
        return try EtcdMember(
            try #require(Self.program, "etcd is not installed: apt-get install etcd-server"),
            [
                "--name=m\(index)", "--data-dir=\(data(index))", "--logger=zap", "--log-outputs=stdout",
                "--unsafe-no-fsync",
                "--listen-client-urls=\(client)", "--advertise-client-urls=\(client)",
                "--listen-peer-urls=\(peer)", "--initial-advertise-peer-urls=\(peer)",
                "--initial-cluster=\(cluster)", "--initial-cluster-token=\(ports[0].peer)",
            ] + flags)
    }

    private func data(_ index: Int) -> String { directory.file("m\(index)") }
    private func member(_ index: Int) -> EtcdMember { members.withLock { $0[index] } }

    private func waitUntilServing() async throws {
        for index in ports.indices { try await member(index).waitUntilServing() }
    }

    // MARK: Addresses

    /// Each member's, in the order of their indices.
    var endpoints: [String] { ports.map { "http://127.0.0.1:\($0.client)" } }

    func url(_ index: Int) -> String { endpoints[index] }

    /// A client of all members, or of one.
    func client(_ index: Int? = nil, user: String? = nil, passwordFile: String? = nil) throws -> EtcdClient {
        EtcdClient(
            try EtcdConfiguration(
                endpoints: index.map(url) ?? endpoints.joined(separator: ","), user: user,
                passwordFile: passwordFile))
    }

    /// The index of the member that leads; nil where there is none now.
    func leader() async throws -> Int? {
        for index in ports.indices {
            guard let status = try? await post("maintenance/status", "{}", member: index).body else { continue }
            if let id = status["header"]?["member_id"]?.string, id == status["leader"]?.string { return index }
        }
        return nil
    }

    /// Asks a member in etcd's JSON, for what the client does not do, such as users and roles.
    @discardableResult func post(
        _ path: String, _ body: String, member: Int = 0, headers: [String: String] = [:]
    ) async throws -> (status: Int, body: JSON) {
        let transport = SocketTransport()
        defer { transport.close() }
        let answer = try await transport.post(
            "\(url(member))/v3/\(path)", Array(body.utf8), headers: headers, timeout: .seconds(5))
        return (answer.status, try JSON(answer.body))
    }

    /// Waits until a member knows its leader. etcd announces that to no client, so the member is asked until it answers.
    func waitUntilLed(_ index: Int) async throws {
        let client = try client(index)
        defer { client.close() }
        while true {
            let read = await etcdResult { () throws(EtcdError) in try await client.range(EtcdRange(.key([0x61]))) }
            // Whom it does not know, it has understood.
            if case .failure(let error) = read, error.kind != "unauthenticated" {
                try await Task.sleep(for: .milliseconds(20))
            } else {
                return
            }
        }
    }

    // MARK: Bad weather

    /// SIGKILL, as a crash.
    func kill(_ index: Int = 0) { member(index).kill() }

    /// It says nothing, and its connections stay.
    func stop(_ index: Int = 0) { member(index).signal(SIGSTOP) }
    func resume(_ index: Int = 0) { member(index).signal(SIGCONT) }

    /// Starts a member again with its data, and returns when it serves.
    func restart(_ index: Int = 0) async throws {
        kill(index)
        let fresh = try run(index)
        members.withLock { $0[index] = fresh }
        try await fresh.waitUntilServing()
    }

    /// Starts anew with an empty store, on the same ports.
    func wipe() async throws {
        for index in ports.indices { kill(index) }
        for index in ports.indices { try FileManager.default.removeItem(atPath: data(index)) }
        try await restartAll()
    }

    /// Keeps a copy of all data, for `restoreData`. The members are restarted.
    func saveData() async throws {
        for index in ports.indices { kill(index) }
        for index in ports.indices {
            try? FileManager.default.removeItem(atPath: data(index) + ".saved")
            try FileManager.default.copyItem(atPath: data(index), toPath: data(index) + ".saved")
        }
        try await restartAll()
    }

    /// Goes back to the copy: the same cluster, at a lower revision.
    func restoreData() async throws {
        for index in ports.indices { kill(index) }
        for index in ports.indices {
            try FileManager.default.removeItem(atPath: data(index))
            try FileManager.default.copyItem(atPath: data(index) + ".saved", toPath: data(index))
        }
        try await restartAll()
    }

    private func restartAll() async throws {
        let fresh = try ports.indices.map(run)
        members.withLock { $0 = fresh }
        try await waitUntilServing()
    }

    func close() {
        for member in members.withLock({ $0 }) { member.kill() }
    }
}
