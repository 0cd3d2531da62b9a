// Starts and controls the process of the soak's clients.

import Foundation

/// The process of the clients.
final class SoakClientProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    struct Failure: Error {
        let text: String
    }

    init(_ served: SoakServer, sessions: Int, seed: UInt64) throws {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["soak-clients", served.socketPath, "\(served.port)", "\(sessions)", "\(seed)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Starts the sessions.
    func resume() throws { _ = try send("go") }

    /// Ends all sessions.
    func pause() throws { _ = try send("pause") }

    /// Ends the process.
    /// - Returns: A summary of the sessions.
    func end() throws -> String {
        let account = try send("end")
        process.waitUntilExit()
        return account
    }

    private func send(_ command: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            guard let more = try output.fileHandleForReading.read(upToCount: 1), !more.isEmpty else {
                throw Failure(text: "the clients' process has ended")
            }
            answer += more
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }
}
