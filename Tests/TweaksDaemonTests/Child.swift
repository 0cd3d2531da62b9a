// Runs the daemon of Tests/TweaksCrashProbe as a child process.

import Foundation
import Testing
import TweaksTestSupport

/// One run of the probe.
typealias Child = RunningProgram

extension RunningProgram {
    static let exists = BuiltProgram.exists("TweaksCrashProbe")

    /// A wrapper that lowers a limit first, such as `-n 1024`.
    static func limited(_ limit: String) -> [String] {
        [Tool.sh.path, "-c", "ulimit \(limit) && exec \"$0\" \"$@\""]
    }

    /// Starts the probe with its socket and its overrides in a directory.
    /// - Parameters:
    ///   - wrapper: A program that runs the probe, with the arguments before its path.
    ///   - program: Another program than the probe.
    convenience init(
        in directory: String, _ words: [String] = [], _ environment: [String: String] = [:],
        through wrapper: [String] = [], program: String = "TweaksCrashProbe"
    ) throws {
        let paths = [
            "HOME": directory, "TWEAKS_SOCKET": "\(directory)/probe.sock", "TWEAKS_STATE_DIR": "\(directory)/state",
        ]
        let command = wrapper + [BuiltProgram.path(program)] + words
        let variables = BuiltProgram.environment.merging(paths) { $1 }.merging(environment) { $1 }
        try self.init(command[0], Array(command.dropFirst()), environment: variables, errors: .logged)
    }

    /// Waits until clients can connect; false when the probe ended before.
    @discardableResult
    func waitUntilReady() throws -> Bool {
        do {
            _ = try line()
            return true
        } catch ClientError.ended {
            return false
        }
    }

    func connect() throws -> TestClient { try TestClient(unix: environment["TWEAKS_SOCKET"] ?? "", owner: self) }

    /// Closes standard input, at which the probe stops its daemon and exits.
    func stop() throws {
        endInput()
        let status = try waitForEnd()
        #expect(status == 0, "\(log.all)")
    }
}
