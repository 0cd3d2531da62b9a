// Starts members of a real etcd for a test, and injects faults: crashes, freezes, lost data.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension Trait where Self == ConditionTrait {
    /// Runs only if etcd is installed; always in CI.
    static var needsEtcd: Self {
        .enabled(
            if: EtcdServer.program != nil || ProcessInfo.processInfo.environment["CI"] == "true",
            "etcd is not installed: apt-get install etcd-server")
    }
}

/// One or more members of a separate cluster, which end with this object.
final class EtcdServer: Sendable {
    static let program = ["/usr/bin/etcd", "/usr/local/bin/etcd", "/opt/homebrew/bin/etcd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let directory: TemporaryDirectory
    private let ports: [(client: Int, peer: Int)]
    private let flags: [String]
    private let members: Mutex<[ChildProcess]> = Mutex([])

    /// Starts the members; returns when all serve.
    /// - Parameter flags: Additional flags of etcd, such as `--quota-backend-bytes=…`.
    static func start(members count: Int = 1, flags: [String] = []) async throws -> EtcdServer {
        // Another program may take a port before etcd does.
        for _ in 0..<3 {
            let server = try EtcdServer(count, flags)
            do {
                try await server.waitUntilServing()
                return server
            } catch let error as EtcdStartError where error.output.contains("address already in use") {
                server.close()
            }
        }
        throw EtcdStartError(output: "address already in use, three times")
    }

    private init(_ count: Int, _ flags: [String]) throws {
        directory = try TemporaryDirectory()
        ports = try Self.freePorts(count)
        self.flags = flags
        let started = try ports.indices.map(run)
        members.withLock { $0 = started }
    }

    deinit { close() }

    /// All sockets are open at once, so that the ports differ, and closed before etcd starts.
    private static func freePorts(_ count: Int) throws -> [(client: Int, peer: Int)] {
        let sockets = try (0..<(2 * count)).map { _ in try BoundSocket(loopback: .version4) }
        return (0..<count).map { (sockets[2 * $0].port, sockets[2 * $0 + 1].port) }
    }

    private func run(_ index: Int) throws -> ChildProcess {
        let (client, peer) = ("http://127.0.0.1:\(ports[index].client)", "http://127.0.0.1:\(ports[index].peer)")
        let cluster = ports.enumerated().map { "m\($0)=http://127.0.0.1:\($1.peer)" }.joined(separator: ",")
        return try ChildProcess(
            [
                try #require(Self.program, "etcd is not installed: apt-get install etcd-server"),
                "--name=m\(index)", "--data-dir=\(data(index))", "--logger=zap", "--log-outputs=stdout",
                "--unsafe-no-fsync", "--listen-client-urls=\(client)", "--advertise-client-urls=\(client)",
                "--listen-peer-urls=\(peer)", "--initial-advertise-peer-urls=\(peer)",
                "--initial-cluster=\(cluster)", "--initial-cluster-token=\(ports[0].peer)",
            ] + flags)
    }

    private func data(_ index: Int) -> String { directory.file("m\(index)") }
    private func member(_ index: Int) -> ChildProcess { members.withLock { $0[index] } }

    private func waitUntilServing() async throws { for index in ports.indices { try await waitUntilServing(index) } }

    private func waitUntilServing(_ index: Int) async throws {
        let log = member(index).log
        // The message of etcd 3.4 to 3.6.
        await log.wait(for: "serving client traffic", RunningProgram.end)
        if log.contains(RunningProgram.end) { throw EtcdStartError(output: log.all.suffix(20).joined(separator: "\n")) }
    }

    /// The URL of each member, by index.
    var endpoints: [String] { ports.map { "http://127.0.0.1:\($0.client)" } }

    func url(_ index: Int) -> String { endpoints[index] }

    /// Returns a client of all members, or of one.
    func client(_ index: Int? = nil, user: String? = nil, passwordFile: String? = nil) throws -> EtcdClient {
        let endpoints = index.map(url) ?? endpoints.joined(separator: ",")
        var configuration = try EtcdConfiguration(endpoints: endpoints, user: user, passwordFile: passwordFile)
        configuration.timeout = Self.patience(members: ports.count)
        return EtcdClient(configuration)
    }

    /// The timeout of requests: a member that is slow need not be frozen, and of several one may be.
    static func patience(members: Int) -> Duration { members == 1 ? .seconds(60) : .seconds(10) }

    /// Returns the index of the leader; during an election it waits for it, by polling, too.
    func leader() async throws -> Int {
        while true {
            for index in ports.indices {
                guard let status = try? await post("maintenance/status", "{}", member: index).body else { continue }
                if let id = status["header"]?["member_id"]?.string, id == status["leader"]?.string { return index }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends a request that the client does not implement, such as one for users and roles, in etcd's JSON.
    @discardableResult func post(
        _ path: String, _ body: String, member: Int = 0, headers: [String: String] = [:]
    ) async throws -> (status: Int, body: JSON) {
        let reply = try await SocketTransport().post(
            "\(url(member))/v3/\(path)", Array(body.utf8), headers: headers,
            timeout: Self.patience(members: ports.count))
        return (reply.status, try JSON(reply.body))
    }

    /// Waits until a member knows its leader, by polling: etcd does not notify clients of that.
    func waitUntilLed(_ index: Int) async throws {
        let client = try client(index)
        while true {
            let read = await etcdResult { () throws(EtcdError) in try await client.range(EtcdRange(.key([0x61]))) }
            // A member that rejects the client has a leader, too.
            guard case .failure(let error) = read, error.kind != "unauthenticated" else { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends SIGKILL and waits for the end.
    func kill(_ index: Int = 0) { member(index).kill() }

    /// Freezes a member: it does not reply, and its connections stay open.
    func stop(_ index: Int = 0) { member(index).signal(SIGSTOP) }
    func resume(_ index: Int = 0) { member(index).signal(SIGCONT) }

    /// Restarts a member with its data; returns when it serves.
    func restart(_ index: Int = 0) async throws {
        kill(index)
        let fresh = try run(index)
        members.withLock { $0[index] = fresh }
        try await waitUntilServing(index)
    }

    /// Restarts all members with an empty store, on the same ports.
    func wipe() async throws { try await restartAll { try FileManager.default.removeItem(atPath: $0) } }

    /// Restarts all members, and keeps a copy of their data for `restoreData`.
    func saveData() async throws {
        try await restartAll { data in
            try? FileManager.default.removeItem(atPath: data + ".saved")
            try FileManager.default.copyItem(atPath: data, toPath: data + ".saved")
        }
    }

    /// Restarts all members with the copy: the same cluster, at a lower revision.
    func restoreData() async throws {
        try await restartAll { data in
            try FileManager.default.removeItem(atPath: data)
            try FileManager.default.copyItem(atPath: data + ".saved", toPath: data)
        }
    }

    /// - Parameter change: Changes the data directory of a member between its end and its start.
    private func restartAll(_ change: (_ data: String) throws -> Void) async throws {
        for index in ports.indices { kill(index) }
        for index in ports.indices { try change(data(index)) }
        let fresh = try ports.indices.map(run)
        members.withLock { $0 = fresh }
        try await waitUntilServing()
    }

    /// Kills all members.
    func close() { for member in members.withLock({ $0 }) { member.kill() } }
}

/// The output of a member that ended instead of serving.
struct EtcdStartError: Error { let output: String }
