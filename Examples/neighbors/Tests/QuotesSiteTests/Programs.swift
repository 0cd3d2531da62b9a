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

/// Runs a program to its end, which must be a success, and returns what it prints.
func run(_ words: [String]) throws -> String {
    let process = process(words, [:])
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    // None of these programs prints more to its errors than a pipe holds.
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let error = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let code = process.terminationStatus
    guard code == 0 else { throw Ended(code: code, output: text, errors: error) }
    return text
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

    /// Waits for a line, and returns it; the lines before it are gone. Throws them if the program ends without it.
    @discardableResult func wait(for text: String) async throws -> String {
        var skipped: [String] = []
        for await line in lines {
            if line.contains(text) { return line }
            skipped.append(line)
        }
        throw Ended(code: -1, output: skipped.suffix(20).joined(separator: "\n"), errors: "no line with “\(text)”")
    }

    /// Waits for a line with a text, and returns the number after it.
    func number(after text: String) async throws -> Int {
        let line = try await wait(for: text)
        let rest = line.ranges(of: text).last.map { line[$0.upperBound...].prefix { $0.isNumber } }
        guard let number = rest.flatMap({ Int($0) }) else { throw Ended(code: -1, output: line, errors: "no number") }
        return number
    }

    /// Asks the program to end, and waits until it has.
    @discardableResult func stop() -> Int32 {
        try? input.fileHandleForWriting.close()
        shell.waitUntilExit()
        return shell.terminationStatus
    }
}

/// A directory for one test, which is removed with this object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "quotes-site-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
