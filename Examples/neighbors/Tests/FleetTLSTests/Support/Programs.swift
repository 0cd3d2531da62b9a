// Runs programs: to their end, or while a test lasts.

import Foundation
import Synchronization

/// The end of a program, with what it has printed.
struct Ended: Error {
    let code: Int32
    let output: String
    let errors: String
}

/// Returns a process with the variables of a user who has set none of this package's.
private func process(_ words: [String], _ variables: [String: String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TWEAKS_") }
    process.environment = inherited.merging(variables) { $1 }
    process.standardInput = FileHandle.nullDevice
    return process
}

/// Runs a program to its end, which must be a success.
func run(_ words: [String]) throws -> String {
    let ended = try end(of: words)
    guard ended.code == 0 else { throw ended }
    return ended.output
}

/// Runs a program to its end.
func end(of words: [String], _ variables: [String: String] = [:]) throws -> Ended {
    let process = process(words, variables)
    let directory = try TemporaryDirectory()
    func file(_ name: String) throws -> FileHandle {
        try FileHandle(forWritingTo: URL(fileURLWithPath: directory.write(name, "")))
    }
    // Files, since one of two pipes might be full while the other is read.
    (process.standardOutput, process.standardError) = (try file("output"), try file("errors"))
    try process.run()
    process.waitUntilExit()
    func text(_ name: String) throws -> String { try String(contentsOfFile: directory.file(name), encoding: .utf8) }
    return Ended(code: process.terminationStatus, output: try text("output"), errors: try text("errors"))
}

/// The path of a program of this package.
func built(_ name: String) -> String {
    // The tests are a bundle beside the programs.
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appending(path: name).path
}

/// A program that runs until this object ends, or the tests do.
final class Running: Sendable {
    /// Runs a program until the standard input ends, and exits with its code. Only the program has the output, which ends
    /// with it.
    private static let script = """
        "$@" </dev/null &
        exec >/dev/null 2>&1
        cat
        kill $!
        wait $!
        """
    private let shell: Process
    private let input = Pipe()
    /// The lines of its output, each once; they end with it.
    let lines: AsyncStream<String>

    /// Starts a program; its standard error goes where its output does.
    init(_ words: [String], _ variables: [String: String] = [:]) throws {
        let shell = process(["sh", "-c", Self.script, "sh"] + words, variables)
        let pipe = Pipe()
        (shell.standardInput, shell.standardOutput, shell.standardError) = (input, pipe, pipe)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        self.shell = shell
        try shell.run()
        try pipe.fileHandleForWriting.close()
        let output = pipe.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let data = output.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
        }
    }

    deinit { stop() }

    /// Waits for a line; the lines before it are gone. Throws them if the program ends without it.
    func wait(for text: String) async throws {
        var skipped: [String] = []
        for await line in lines {
            if line.contains(text) { return }
            skipped.append(line)
        }
        throw Ended(code: -1, output: skipped.suffix(20).joined(separator: "\n"), errors: "no line with “\(text)”")
    }

    /// Asks the program to end, and waits until it has.
    @discardableResult func stop() -> Int32 {
        try? input.fileHandleForWriting.close()
        shell.waitUntilExit()
        return shell.terminationStatus
    }
}
