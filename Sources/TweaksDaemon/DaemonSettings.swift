// What the program and the environment say, put together; the environment wins.

import Foundation
import Tweaks
import TweaksServer
import TweaksStorage

/// Where a daemon will listen, and how.
struct DaemonSettings {
    /// Where to listen, best first: a later one is tried when something of an earlier one is taken.
    private(set) var attempts: [[TweakListener]] = []
    private(set) var warnings: [String] = []
    let name: String
    let isFrozen: Bool
    /// The config file and its rules; nil where none is named.
    let config: TweakDaemon.ConfigFile?
    /// The directory of the overrides, or why there is none; nil where they are not kept.
    let stateDirectory: Result<String, StatePlace.Problem>?
    /// Where commits are written down; nil for nowhere.
    let audit: AuditSettings?

    private static let known = [
        "TWEAKS_SOCKET", "TWEAKS_PORT", "TWEAKS_CONFIG", "TWEAKS_STATE_DIR", "TWEAKS_AUDIT", "TWEAKS_FROZEN",
    ]

    init(
        name: String, tcp: TweakDaemon.TCP, config: TweakDaemon.ConfigFile?, storage: TweakDaemon.Storage,
        audit: TweakDaemon.Audit? = nil, environment: [String: String]
    ) throws(ServerError) {
        guard (1...64).contains(name.utf8.count), Quoting.isBareWord(name), !name.hasPrefix(".") else {
            throw ServerError("daemon name \(name): use 1–64 letters, digits, “.”, “_” and “-”")
        }
        self.name = name
        isFrozen = try Self.flag("TWEAKS_FROZEN", environment)
        self.config = Self.configFile(config, environment)
        stateDirectory = Self.stateDirectory(storage, name, environment)
        self.audit = AuditSettings(audit, environment)
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

    private static func isOff(_ text: String?) -> Bool { text?.lowercased() == "off" }

    private static func flag(_ name: String, _ environment: [String: String]) throws(ServerError) -> Bool {
        guard let text = environment[name], !text.isEmpty else { return false }
        guard case .bool(let value)? = TweakValue(parsing: text, as: .bool) else {
            throw ServerError("\(name)=\(text): write 1 or 0")
        }
        return value
    }

    // MARK: Files

    private static func configFile(
        _ named: TweakDaemon.ConfigFile?, _ environment: [String: String]
    ) -> TweakDaemon.ConfigFile? {
        let path = environment["TWEAKS_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        if Self.isOff(path) { return nil }
        guard var file = path.map({ TweakDaemon.ConfigFile($0) }) ?? named else { return nil }
        // The rules are the program's, wherever the file is.
        if var rules = named {
            rules.path = file.path
            file = rules
        }
        // The program may change its directory later.
        if !file.path.hasPrefix("/") { file.path = FileManager.default.currentDirectoryPath + "/" + file.path }
        return file
    }

    private static func stateDirectory(
        _ storage: TweakDaemon.Storage, _ name: String, _ environment: [String: String]
    ) -> Result<String, StatePlace.Problem>? {
        switch storage {
        case .off where environment["TWEAKS_STATE_DIR"].map({ $0.isEmpty || isOff($0) }) ?? true: nil
        case .off, .standard: StatePlace.directory(named: nil, program: name, environment: environment)
        case .directory(let path): StatePlace.directory(named: path, program: name, environment: environment)
        }
    }

    // MARK: Sockets

    private static func sockets(
        _ name: String, _ environment: [String: String]
    ) throws(ServerError) -> [TweakListener?] {
        switch environment["TWEAKS_SOCKET"] {
        case let text? where isOff(text): return [nil]
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
