// A file in a directory of its own, with a watcher, and what the watcher has said.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

/// How a watcher comes to know. With events alone it looks so rarely that only events can have told it.
enum Way: CaseIterable, CustomTestStringConvertible {
    case events
    case polling

    static let available = FileWatcher.usualInterval == .seconds(2) ? Way.allCases : [.polling]

    var backend: FileWatcher.Backend { self == .events ? .automatic : .polling }
    var interval: Duration { self == .events ? .seconds(3_600) : .milliseconds(20) }
    var testDescription: String { self == .events ? "events" : "polling" }
}

enum WatchError: Error {
    case nothingCame(wanted: String?, calls: [WatchedFile.Call])
    case scriptFailed(String)
}

/// Changes a file and waits for what its watcher says.
final class WatchedFile: Sendable {
    /// One call, and what the file said then; nil when it was not there.
    struct Call: Equatable, Sendable {
        let reason: FileWatcher.Reason
        let content: String?
    }

    let directory: TemporaryDirectory
    let path: String
    let watcher: FileWatcher
    private let record: Record

    private final class Record: Sendable {
        let calls = Mutex<[Call]>([])
        let troubles = Mutex<[String]>([])
        let seen = Mutex(0)
        let arrival = DispatchSemaphore(value: 0)
    }

    /// Watches `name` in a fresh directory, after a script has prepared it there.
    init(
        _ name: String = "app.conf", after script: String = "echo old > app.conf", by way: Way = Way.available[0],
        backend: FileWatcher.Backend? = nil, settle: FileWatcher.Settling = .init(),
        during: @escaping @Sendable (Call) -> Void = { _ in }
    ) throws {
        let (directory, record) = (try TemporaryDirectory(), Record())
        let path = directory.file(name)
        (self.directory, self.path, self.record) = (directory, path, record)
        try Shell.run(script, in: directory.path)
        watcher = FileWatcher(
            path: path, settle: settle, poll: way.interval, backend: backend ?? way.backend,
            onTrouble: { text in record.troubles.withLock { $0.append(text) } },
            lookAgain: { reason in
                let call = Call(reason: reason, content: try? String(contentsOfFile: path, encoding: .utf8))
                record.calls.withLock { $0.append(call) }
                record.arrival.signal()
                during(call)
            })
        watcher.start()
        try letTheClockTick()
    }

    deinit { watcher.stop() }

    var calls: [Call] { record.calls.withLock { $0 } }
    var contents: [String?] { calls.map(\.content) }
    var troubles: [String] { record.troubles.withLock { $0 } }

    /// Waits for a call, of those not yet waited for, that finds this content.
    func wait(for content: String?) throws { try wait(content) { $0.content == content } }

    /// Waits for a call that is as described.
    func wait(_ wanted: String?, _ isWanted: (Call) -> Bool) throws {
        while true {
            let isThere = record.seen.withLock { seen in
                let calls = self.calls
                while seen < calls.count {
                    seen += 1
                    if isWanted(calls[seen - 1]) { return true }
                }
                return false
            }
            if isThere { return }
            if record.arrival.wait(timeout: .patience) == .timedOut {
                throw WatchError.nothingCame(wanted: wanted, calls: calls)
            }
        }
    }

    /// Runs a script where the file is.
    func run(_ script: String) throws { try Shell.run(script, in: directory.path) }

    /// Another file with the content takes the place of the file, by one rename.
    func replace(_ content: String) throws {
        try content.write(toFile: path + ".new", atomically: false, encoding: .utf8)
        rename(path + ".new", path)
    }

    /// Waits until the file system's clock, which moves in steps, gives a new file another time than an old one.
    func letTheClockTick() throws {
        let other = try TemporaryDirectory()
        try "".write(toFile: other.file("first"), atomically: false, encoding: .utf8)
        let first = PathTrail(other.file("first")).target
        repeat {
            try "".write(toFile: other.file("next"), atomically: false, encoding: .utf8)
        } while PathTrail(other.file("next")).target.changed == first.changed
    }
}

extension PathTrail.Target {
    var mark: PathTrail.Mark? {
        if case .file(let mark) = self { return mark }
        return nil
    }

    var changed: PathTrail.Time? { mark?.changed }
}

/// The tools that people and deployments change files with.
enum Shell {
    static func run(_ script: String, in directory: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-euc", script]
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw WatchError.scriptFailed(script) }
    }

    static func has(_ program: String) -> Bool {
        ["/usr/bin", "/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
