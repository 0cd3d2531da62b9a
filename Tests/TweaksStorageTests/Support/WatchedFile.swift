// Watches a file in its own directory and records the calls of the watcher.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

/// How a watcher notices changes. With events it polls so rarely that only an event can be the cause.
enum DetectionMode: CaseIterable, CustomTestStringConvertible {
    case events
    case polling

    static let available = FileWatcher.defaultPollInterval == .seconds(2) ? DetectionMode.allCases : [.polling]

    var backend: FileWatcher.Backend { self == .events ? .automatic : .polling }
    var interval: Duration { self == .events ? .seconds(3_600) : .milliseconds(20) }
    var testDescription: String { self == .events ? "events" : "polling" }
}

enum WatchError: Error {
    case nothingCame(wanted: String?, calls: [WatchedFile.Call])
    case scriptFailed(String)
}

/// Changes a file and waits for the calls of its watcher.
final class WatchedFile: Sendable {
    /// A call and the content of the file at that time, or nil if it was missing.
    struct Call: Equatable, Sendable {
        let reason: FileWatcher.Reason
        let content: String?
    }

    let directory: TemporaryDirectory
    let path: String
    let watcher: FileWatcher
    private let recordedCalls = Recorder<Call>()
    private let recordedProblems = Recorder<String>()

    /// Watches `name` in a new directory, which a script prepares first.
    init(
        _ name: String = "app.conf", after script: String = "echo old > app.conf",
        by mode: DetectionMode = .available[0], backend: FileWatcher.Backend? = nil,
        settle: FileWatcher.Settling = .init(), during: @escaping @Sendable (Call) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory()
        let path = directory.file(name)
        self.path = path
        try Shell.run(script, in: directory.path)
        var options = FileWatcher.Options()
        options.settle = settle
        options.poll = mode.interval
        options.backend = backend ?? mode.backend
        watcher = FileWatcher(
            path: path, options, onProblem: { [recordedProblems] in recordedProblems.note($0) },
            onChange: { [recordedCalls] reason in
                let call = Call(reason: reason, content: try? String(contentsOfFile: path, encoding: .utf8))
                recordedCalls.note(call)
                during(call)
            })
        watcher.start()
        try waitForFileTimeStep()
    }

    deinit { watcher.stop() }

    var calls: [Call] { recordedCalls.all }
    var contents: [String?] { calls.map(\.content) }
    var problems: [String] { recordedProblems.all }

    /// Waits for a call, after those already waited for, that finds this content.
    func wait(for content: String?) throws { try wait(content) { $0.content == content } }

    /// Waits for a call that fulfills a condition.
    func wait(_ wanted: String?, _ isWanted: (Call) -> Bool) throws {
        if recordedCalls.takeNext(where: isWanted) == nil {
            throw WatchError.nothingCame(wanted: wanted, calls: calls)
        }
    }

    /// Runs a script in the directory.
    func run(_ script: String) throws { try Shell.run(script, in: directory.path) }

    /// Replaces the file by another one with one rename.
    func replace(_ content: String) throws {
        try content.write(toFile: path + ".new", atomically: false, encoding: .utf8)
        rename(path + ".new", path)
    }

    /// Waits until the file system's clock, which advances in steps, gives a new file another time than an old one.
    func waitForFileTimeStep() throws {
        let other = try TemporaryDirectory()
        try "".write(toFile: other.file("first"), atomically: false, encoding: .utf8)
        let first = ResolvedPath(other.file("first")).target
        repeat {
            try "".write(toFile: other.file("next"), atomically: false, encoding: .utf8)
        } while ResolvedPath(other.file("next")).target.changed == first.changed
    }
}

extension ResolvedPath.Target {
    var metadata: ResolvedPath.Metadata? { if case .file(let metadata) = self { metadata } else { nil } }

    var changed: Int64? { metadata?.changed }
}

/// The shell, which tests use to change files like editors and deployments do.
enum Shell {
    static func run(_ script: String, in directory: String) throws {
        let program = try RunningProgram(Tool.sh.path, ["-euc", script], directory: directory, output: .shared)
        program.endInput()
        if try program.waitForEnd() != 0 { throw WatchError.scriptFailed(script) }
    }
}
