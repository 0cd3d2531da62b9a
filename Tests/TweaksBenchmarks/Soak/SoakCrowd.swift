// The process of the soak's clients: started, told when to live and when to rest, and asked how it went.

import Foundation

/// The clients, seen from the server's process.
final class SoakCrowd {
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

    /// Lets them live.
    func go() throws { _ = try ask("go") }

    /// Lets them all leave.
    func pause() throws { _ = try ask("pause") }

    /// Ends the process.
    /// - Returns: What they did.
    func end() throws -> String {
        let account = try ask("end")
        process.waitUntilExit()
        return account
    }

    private func ask(_ word: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(word)\n".utf8))
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
