// Starts etcd for a test: one member or three, on free ports, in a temporary directory.

import Foundation
import Synchronization
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// Real members of a cluster, which end with this object. Its test says `.enabled(if: EtcdCluster.isInstalled, …)`.
final class EtcdCluster: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static let isInstalled = path != nil
    private static let path = ["/usr/bin/etcd", "/usr/local/bin/etcd", "/opt/homebrew/bin/etcd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let members: Int
    private let directory: TemporaryDirectory
    private let clientPorts: [UInt16]
    private let peerPorts: [UInt16]
    private let options: [String]
    private let processes: Mutex<[Int: EtcdProcess]> = Mutex([:])

    /// Starts it, and waits until each member answers and has a leader.
    /// - Parameter options: Further arguments of each member.
    init(members: Int = 1, options: [String] = []) async throws {
        (self.members, self.options) = (members, options)
        directory = try TemporaryDirectory()
        let ports = try FreePorts.take(2 * members)
        (clientPorts, peerPorts) = (Array(ports.prefix(members)), Array(ports.suffix(members)))
        for member in 0..<members { try start(member) }
        for member in 0..<members { try await waitUntilHealthy(member) }
    }

    deinit { close() }

    /// `http://127.0.0.1:PORT` of each member.
    var urls: [String] { (0..<members).map(url) }
    /// All of them, as a configuration has them.
    var endpoints: String { urls.joined(separator: ",") }
    func url(_ member: Int) -> String { "http://127.0.0.1:\(clientPorts[member])" }

    /// A client of all members, or of one.
    func client(_ member: Int? = nil, user: String? = nil, passwordFile: String? = nil) throws -> EtcdClient {
        EtcdClient(
            try EtcdConfiguration(
                endpoints: member.map(url) ?? endpoints, user: user, passwordFile: passwordFile))
    }

    /// The member that leads.
    func leader() async throws -> Int {
        for member in 0..<members {
            let client = try client(member)
            defer { client.close() }
            guard let status = try? await client.status(), status.leader != 0 else { continue }
            if status.leader == (try await memberID(member)) { return member }
        }
        throw Failure(description: "no member leads")
    }

    /// Ends a member at once, as a power cut would.
    func kill(_ member: Int) { processes.withLock { $0.removeValue(forKey: member) }?.kill() }

    /// Starts a member that was killed, with the data it has.
    func restart(_ member: Int) async throws {
        kill(member)
        try start(member)
        try await waitUntilHealthy(member)
    }

    /// Starts a member that was killed, and does not wait.
    func start(_ member: Int) throws {
        guard let path = Self.path else { throw Failure(description: "etcd is not installed") }
        let process = try EtcdProcess(path, arguments(member), log: directory.file("log\(member)"))
        processes.withLock { $0[member] = process }
    }

    /// Keeps a member from running, with its connections open: it says nothing.
    func stop(_ member: Int) { processes.withLock { $0[member] }?.signal(SIGSTOP) }
    func resume(_ member: Int) { processes.withLock { $0[member] }?.signal(SIGCONT) }

    /// Ends all members.
    func close() {
        let ending = processes.withLock { processes in
            defer { processes = [:] }
            return processes
        }
        for process in ending.values { process.kill() }
    }

    // MARK: Members

    private func arguments(_ member: Int) -> [String] {
        let peers = peerPorts.map { "http://127.0.0.1:\($0)" }
        let cluster = peers.enumerated().map { "m\($0)=\($1)" }.joined(separator: ",")
        return [
            "--name", "m\(member)", "--data-dir", directory.file("data\(member)"),
            "--listen-client-urls", url(member), "--advertise-client-urls", url(member),
            "--listen-peer-urls", peers[member], "--initial-advertise-peer-urls", peers[member],
            "--initial-cluster", cluster, "--initial-cluster-token", directory.path,
            "--heartbeat-interval", "50", "--election-timeout", "500", "--unsafe-no-fsync",
        ] + options
    }

    private func memberID(_ member: Int) async throws -> UInt64 {
        let (_, body) = try await post("maintenance/status", "{}", member: member)
        return try EtcdAnswers.object(body)["header"]?.etcdUInt64("member_id") ?? 0
    }

    /// Asks a member for anything that its gateway has.
    @discardableResult
    func post(_ path: String, _ body: String, member: Int = 0) async throws -> (status: Int, body: [UInt8]) {
        let transport = SocketTransport()
        defer { transport.close() }
        return try await transport.post(
            "\(url(member))/v3/\(path)", Array(body.utf8), headers: [:], timeout: .seconds(5))
    }

    private static func reads(_ client: EtcdClient) async -> Bool {
        do throws(EtcdError) {
            _ = try await client.range(EtcdRange(.key([0x61])))
            return true
        } catch {
            // It would, for somebody whom it knows.
            return error.kind == "unauthenticated"
        }
    }

    /// A member says nothing to anybody when it is ready: it has to be asked until it answers.
    func waitUntilHealthy(_ member: Int) async throws {
        let client = try client(member)
        defer { client.close() }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let status = try? await client.status(), status.leader != 0, await Self.reads(client) { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        let log = (try? String(contentsOfFile: directory.file("log\(member)"), encoding: .utf8)) ?? ""
        throw Failure(description: "member \(member) does not come up: \(log.suffix(1_000))")
    }
}
