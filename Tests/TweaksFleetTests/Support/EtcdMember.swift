// Runs one etcd process, whose output says when it serves and when it has ended.

import Foundation
import Synchronization
import TweaksTestSupport

/// A member that was started. It ends with the tests, however those end.
final class EtcdMember: Sendable {
    private let log = EtcdOutput()
    /// While it is open, the member lives.
    private let lifeline = Pipe()

    /// The shell ends etcd when its input ends: by `kill`, or because the tests have crashed. Of its output only etcd
    /// holds an end, so that the end of the output is the end of etcd.
    private static let script = """
        "$@" 2>&1 </dev/null & echo "pid $!"
        exec >/dev/null 2>&1
        cat
        kill -9 $!
        """

    init(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "sh", program] + arguments
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (lifeline, output)
        process.standardError = FileHandle.nullDevice
        output.fileHandleForReading.readabilityHandler = { [log] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            log.receive(String(decoding: data, as: UTF8.self), isEnd: data.isEmpty)
        }
        try process.run()
    }

    deinit { kill() }

    /// Returns when it serves.
    /// - Throws: ``EtcdMemberError`` where it ended instead.
    func waitUntilServing() async throws {
        await log.settled.wait()
        if !log.isServing { throw EtcdMemberError(output: String(log.text.suffix(2_000))) }
    }

    /// What it has printed.
    var output: String { log.text }

    /// Sends a signal: SIGSTOP, SIGCONT, SIGTERM.
    func signal(_ number: Int32) {
        if let identifier = log.identifier { _ = Foundation.kill(identifier, number) }
    }

    /// Ends it at once, and waits for that. Another child that was started at the same moment may have inherited the end of
    /// its output, and keeps it open.
    func kill() {
        signal(SIGKILL)
        try? lifeline.fileHandleForWriting.close()
        log.ended.waitBlocking(until: .now() + .seconds(10))
    }
}

/// A member that does not start.
struct EtcdMemberError: Error {
    let output: String
}

/// What a member prints.
private final class EtcdOutput: Sendable {
    private struct State {
        var text = ""
        var isServing = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    /// Open when it serves, or has ended.
    let settled = Gate()
    let ended = Gate()

    func receive(_ more: String, isEnd: Bool) {
        let isSettled = state.withLock { state in
            state.text += more
            // The words of 3.4 to 3.6.
            if state.text.contains("serving client traffic") { state.isServing = true }
            state.hasEnded = isEnd
            return state.isServing || isEnd
        }
        if isSettled { settled.open() }
        if isEnd { ended.open() }
    }

    var text: String { state.withLock { $0.text } }
    var isServing: Bool { state.withLock { $0.isServing && !$0.hasEnded } }

    /// Of the process while it runs.
    var identifier: pid_t? {
        let (text, hasEnded) = state.withLock { ($0.text, $0.hasEnded) }
        guard !hasEnded, text.hasPrefix("pid ") else { return nil }
        return text.dropFirst(4).split(separator: "\n").first.flatMap { pid_t($0) }
    }
}
