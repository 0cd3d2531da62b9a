// Runs an etcd, an operator that writes to it, and processes that follow it.

import Foundation
import Synchronization
import Tweaks
import TweaksFleet

/// One etcd, an operator of the fleet “bench”, and any number of processes that follow it.
final class FleetHarness {
    static let keys = FleetKeys(name: "bench")
    /// The paths of the values that change.
    static let paths = (0..<20).compactMap { try? TweakPath("Bench/Fleet/Number\($0)") }

    let etcd: Peer
    let fleet: FleetOperator
    private let directory: WorkDirectory
    private let client: EtcdClient
    private let lines = FleetLines()
    private(set) var processes: [Process] = []

    /// Nil where no etcd is installed.
    init?() throws {
        directory = try WorkDirectory("fleet")
        guard let etcd = try Peer.etcd(in: directory.path("etcd")) else { return nil }
        self.etcd = etcd
        client = EtcdClient(try EtcdConfiguration(endpoints: "http://127.0.0.1:\(etcd.port)"))
        fleet = FleetOperator(client, Self.keys, by: "bench", now: { Int64(Date().timeIntervalSince1970 * 1_000) })
    }

    deinit {
        for process in processes { process.terminate() }
        for process in processes { process.waitUntilExit() }
        client.close()
        etcd.end()
        directory.remove()
    }

    var endpoint: String { "http://127.0.0.1:\(etcd.port)" }

    /// etcd's revision, which counts its writes.
    func revision() throws -> Int64 {
        let client = client
        return try wait { try await client.status().header.revision }
    }

    /// The size of etcd's store in bytes.
    func size() throws -> Int64 {
        let client = client
        return try wait { try await client.status().size }
    }

    /// Sets values of the fleet as an operator.
    func set(_ values: [(path: TweakPath, value: Double)]) throws {
        let fleet = fleet
        let assignments = values.map { FleetAssignment($0.path, .number($0.value)) }
        try wait { _ = try await fleet.set(assignments) }
    }

    /// Puts values of the fleet by hand, a hundred at once.
    func put(_ paths: [TweakPath]) throws {
        let value = DesiredValue(value: .number(1), by: "bench", at: 0).bytes
        for start in stride(from: 0, to: paths.count, by: 100) {
            let some = paths[start..<min(start + 100, paths.count)]
            let put = EtcdTransaction(then: some.map { .put(key: Self.keys.value($0), value: value) })
            let client = client
            try wait { _ = try await client.commit(put) }
        }
    }

    /// Runs an asynchronous body and waits for its result.
    func wait<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let ended = DispatchSemaphore(value: 0)
        let result = Mutex<Swift.Result<Result, any Error>?>(nil)
        Task {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            ended.signal()
        }
        ended.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    // MARK: Processes

    /// Starts this program as a follower whose lines are collected here.
    /// - Parameter id: Its instance and the name of its directory.
    @discardableResult
    func start(_ id: String, _ arguments: [String], _ environment: [String: String] = [:]) throws -> Process {
        let process = Peer.process([CommandLine.arguments[0]] + arguments)
        let state = directory.url.appendingPathComponent(id)
        try FileManager.default.createDirectory(
            at: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let own = ["TWEAKS_FLEET": endpoint, "TWEAKS_FLEET_INSTANCE": id, "TWEAKS_STATE_DIR": state.path]
        process.environment = (process.environment ?? [:]).merging(own) { $1 }.merging(environment) { $1 }
        process.standardOutput = lines.writer
        try process.run()
        processes.append(process)
        return process
    }

    /// Kills processes and removes them from the list.
    func end(_ ended: [Process]) {
        for process in ended { kill(process.processIdentifier, SIGKILL) }
        for process in ended { process.waitUntilExit() }
        processes.removeAll { ended.contains($0) }
    }

    /// The next line of any process.
    func nextLine(within seconds: Double = 120) throws -> FleetLine { try lines.next(within: seconds) }

    /// Waits for a number of lines with a mark, and returns the latest time in nanoseconds.
    @discardableResult
    func lines(_ count: Int, with mark: String, within seconds: Double = 120) throws -> UInt64 {
        var (seen, last): (Int, UInt64) = (0, 0)
        while seen < count {
            let line = try nextLine(within: seconds)
            guard line.mark == mark else { continue }
            (seen, last) = (seen + 1, max(last, line.time))
        }
        return last
    }
}

/// A line of a following process: its id, the value it has, the time it got it, and details.
struct FleetLine {
    let id: String
    let mark: String
    /// In nanoseconds of the monotonic clock, which all processes of a machine share.
    let time: UInt64
    let text: String

    static func write(_ id: String, _ mark: String, _ text: String = "") {
        // Shorter than a pipe's atomic write: the lines of many processes do not mix.
        writeLine("\(id)\t\(mark)\t\(DispatchTime.now().uptimeNanoseconds)\t\(text)")
    }

    fileprivate init?(_ bytes: [UInt8]) {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
        guard parts.count == 4, let time = UInt64(parts[2]) else { return nil }
        (id, mark, self.time, text) = (String(parts[0]), String(parts[1]), time, String(parts[3]))
    }
}

/// The lines of many processes, through one pipe.
private final class FleetLines {
    struct TimedOut: Error {}

    private let pipe = Pipe()
    private var rest: [UInt8] = []

    var writer: FileHandle { pipe.fileHandleForWriting }

    func next(within seconds: Double) throws -> FleetLine {
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = FleetLine(Array(rest[..<end]))
                rest.removeSubrange(...end)
                if let line { return line }
                continue
            }
            var wanted = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(seconds * 1_000)) == 1 else { throw TimedOut() }
            rest += pipe.fileHandleForReading.readAvailable()
        }
    }
}
