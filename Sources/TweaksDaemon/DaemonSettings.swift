// What the program and the environment say, put together; the environment wins.

import Foundation
import Tweaks
import TweaksServer

/// Where a daemon will listen, and how.
struct DaemonSettings {
    /// Where to listen, best first: a later one is tried when something of an earlier one is taken.
    private(set) var attempts: [[TweakListener]] = []
    private(set) var warnings: [String] = []
    let isFrozen: Bool

    private static let known = ["TWEAKS_SOCKET", "TWEAKS_PORT", "TWEAKS_FROZEN"]

    init(name: String, tcp: TweakDaemon.TCP, environment: [String: String]) throws(ServerError) {
        guard (1...64).contains(name.utf8.count), Quoting.isBareWord(name), !name.hasPrefix(".") else {
            throw ServerError("daemon name \(name): use 1–64 letters, digits, “.”, “_” and “-”")
        }
        isFrozen = try Self.flag("TWEAKS_FROZEN", environment)
        warnings = environment.keys.sorted().filter { $0.hasPrefix("TWEAKS_") && !Self.known.contains($0) }.map {
            let near = Spelling.nearest(to: $0, among: Self.known)
            return "\($0) is not used by this version; \(near.map { "did you mean \($0)?" } ?? "unset it")"
        }
        let sockets = try Self.sockets(name, environment)
        let ports = try Self.ports(tcp, environment)
        for socket in sockets {
            for port in ports { attempts.append([socket, port].compactMap { $0 }) }
        }
    }

    private static func flag(_ name: String, _ environment: [String: String]) throws(ServerError) -> Bool {
        guard let text = environment[name], !text.isEmpty else { return false }
        guard case .bool(let value)? = TweakValue(parsing: text, as: .bool) else {
            throw ServerError("\(name)=\(text): write 1 or 0")
        }
        return value
    }

    // MARK: Sockets

    private static func sockets(
        _ name: String, _ environment: [String: String]
    ) throws(ServerError) -> [TweakListener?] {
        switch environment["TWEAKS_SOCKET"] {
        case "off"?: return [nil]
        case let path? where !path.isEmpty: return [.unix(path: path)]
        default:
            let directory = defaultDirectory(environment)
            let processID = ProcessInfo.processInfo.processIdentifier
            // A second instance of a name is found beside the first.
            return ["\(name).sock", "\(name)-\(processID).sock"].map { .unix(path: "\(directory)/\($0)") }
        }
    }

    private static func defaultDirectory(_ environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"),
            FileManager.default.isWritableFile(atPath: runtime)
        {
            return runtime + "/tweaks"
        }
        let temporary = FileManager.default.temporaryDirectory.path
        return temporary + "/tweaks-\(Platform.userID)"
    }

    // MARK: Ports

    private static func ports(
        _ tcp: TweakDaemon.TCP, _ environment: [String: String]
    ) throws(ServerError) -> [TweakListener?] {
        let text = environment["TWEAKS_PORT"].flatMap { $0.isEmpty ? nil : $0 }
        guard case .open(let port) = tcp else {
            guard let text else { return [nil] }
            throw ServerError(
                "TWEAKS_PORT=\(text): this program has not opened TCP, and without a token nobody else can; "
                    + "unset it, or open TCP in the code: tcp: .open(port: \(text))")
        }
        guard let text else { return [.tcp(port: port), .tcp(port: 0)] }
        guard let moved = UInt16(text) else {
            throw ServerError(
                "TWEAKS_PORT=\(text): a port is 0…65535, 0 for a free one; other addresses than loopback are refused")
        }
        return [.tcp(port: Int(moved))]
    }

    // MARK: Starting

    /// The first attempt that nobody is in the way of.
    func startFirst(_ start: ([TweakListener]) throws(ServerError) -> TweakServer) throws(ServerError) -> TweakServer {
        var lastError = ServerError("nothing to listen on")
        for listeners in attempts {
            do throws(ServerError) {
                return try start(listeners)
            } catch {
                guard error.isTaken else { throw error }
                lastError = error
            }
        }
        throw lastError
    }
}
