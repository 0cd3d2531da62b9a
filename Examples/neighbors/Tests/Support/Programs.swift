// Runs programs: to their end, or while a test lasts, and neither for longer than a test may take.

import Foundation
import Testing

/// The end of a program, with what it has printed.
package struct Ended: Error {
    /// 137 if it took too long.
    package let code: Int32
    package let output: String
    package let errors: String
}

/// A program of the search path, with the variables of a user who has set none of this package's.
private final class Child: Sendable {
    let process = Process()
    /// Counts one when it has ended. `waitUntilExit` would spin.
    private let isOver = DispatchSemaphore(value: 0)

    init(_ words: [String], _ variables: [String: String]) {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TWEAKS_") }
        process.environment = inherited.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.terminationHandler = { [isOver] _ in isOver.signal() }
    }

    /// Starts it with no signal blocked, as threads of tests have them: a shell waits for its children by one of them.
    func start() throws {
        var (none, old) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &old)
        defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
        try process.run()
    }

    /// Waits for its end, and kills it after a time.
    /// - Returns: Its exit code; 128 and the number of the signal that has ended it.
    func end(within seconds: Int) -> Int32 {
        if isOver.wait(timeout: .now() + .seconds(seconds)) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            isOver.wait()
        }
        // For the next one who asks.
        isOver.signal()
        return process.terminationStatus + (process.terminationReason == .exit ? 0 : 128)
    }
}

/// Runs a program to its end, which must be a success, and returns what it prints.
package func run(_ words: [String]) throws -> String {
    let ended = try end(of: words)
    guard ended.code == 0 else { throw ended }
    return ended.output
}

/// Runs a program to its end, for two minutes at most.
package func end(of words: [String], _ variables: [String: String] = [:]) throws -> Ended {
    let child = Child(words, variables)
    let directory = try TemporaryDirectory()
    func file(_ name: String) throws -> FileHandle {
        try FileHandle(forWritingTo: URL(fileURLWithPath: directory.write(name, "")))
    }
    // Files, since one of two pipes might be full while the other is read.
    (child.process.standardOutput, child.process.standardError) = (try file("output"), try file("errors"))
    try child.start()
    let code = child.end(within: 120)
    func text(_ name: String) throws -> String { try String(contentsOfFile: directory.file(name), encoding: .utf8) }
    return Ended(code: code, output: try text("output"), errors: try text("errors"))
}

/// The path of a program of this package.
package func built(_ name: String) -> String {
    // The tests are a bundle beside the programs.
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appending(path: name).path
}

/// A program that runs until this object ends, or the tests do.
package final class Running: Sendable {
    /// Runs a program, sends it the signals whose names it reads, kills it when there are no more, and exits with its
    /// code. Only the program has the output, which ends with it.
    private static let script = """
        "$@" </dev/null &
        exec >/dev/null 2>&1
        while read -r signal; do kill -s "$signal" $!; done
        kill -KILL $!
        wait $!
        """
    private let child: Child
    private let input = Pipe()
    private let words: [String]
    /// The lines of its output, each once; they end with it.
    private let lines: AsyncStream<String>
    /// Counts one when they have ended.
    private let isSilent = DispatchSemaphore(value: 0)

    /// Starts a program; its standard error goes where its output does.
    package init(_ words: [String], _ variables: [String: String] = [:]) throws {
        let child = Child(["sh", "-c", Self.script, "sh"] + words, variables)
        let (process, pipe) = (child.process, Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, pipe, pipe)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        self.child = child
        self.words = words
        try child.start()
        try pipe.fileHandleForWriting.close()
        let output = pipe.fileHandleForReading
        Thread.detachNewThread { [isSilent] in
            var rest = Data()
            while case let data = output.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
            isSilent.signal()
        }
    }

    deinit { stop() }

    /// Waits until each text was in a line, in any order, and returns the last of these lines; the lines before it are
    /// gone. Throws what is missing and the last lines if the program ends without it, or the time of the test is over.
    @discardableResult package func wait(for texts: String...) async throws -> String {
        var (missing, skipped) = (texts, [String]())
        for await line in lines {
            missing.removeAll { line.contains($0) }
            if missing.isEmpty { return line }
            skipped.append(line)
        }
        let end = Task.isCancelled ? "the time is over" : "the program has ended"
        let error = Ended(
            code: -1, output: skipped.suffix(20).joined(separator: "\n"),
            errors: "\(end), and no line of \(words.last ?? "") had \(missing)")
        // What a test throws after its time is not shown.
        if Task.isCancelled { Issue.record(error) }
        throw error
    }

    /// Waits for a line with a text, and returns the number after it.
    package func number(after text: String) async throws -> Int {
        let line = try await wait(for: text)
        let rest = line.ranges(of: text).last.map { line[$0.upperBound...].prefix { $0.isNumber } }
        guard let number = rest.flatMap({ Int($0) }) else { throw Ended(code: -1, output: line, errors: "no number") }
        return number
    }

    /// Sends a signal by its name: `HUP`.
    package func send(_ signal: String) { try? input.fileHandleForWriting.write(contentsOf: Data("\(signal)\n".utf8)) }

    /// Asks the program to end, and waits until it has; kills it after half a minute.
    /// - Returns: Its exit code; 137 if it was killed.
    @discardableResult package func stop() -> Int32 {
        send("TERM")
        _ = isSilent.wait(timeout: .now() + 30)
        isSilent.signal()
        try? input.fileHandleForWriting.close()
        return child.end(within: 30)
    }
}

/// A directory for one test, which is removed with this object.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        // A short one: sockets are in it.
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        path = "\(base)/neighbors-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file that only its owner can read.
    package func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file(name))
        return file(name)
    }
}
