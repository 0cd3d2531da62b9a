// Tests stopping a watcher from other threads and from its own, and that it leaves nothing open.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherStopTests {
    @Test(arguments: DetectionMode.available) func noCallFollowsAStop(_ mode: DetectionMode) throws {
        for _ in 0..<20 {
            let hasStopped = Mutex(false)
            let lateCalls = Mutex(0)
            let file = try WatchedFile(by: mode, settle: .init(quiet: .zero, writing: .zero)) { _ in
                if hasStopped.withLock({ $0 }) { lateCalls.withLock { $0 += 1 } }
            }
            let isOver = Gate()
            let goOn = Mutex(true)
            Thread.detachNewThread {
                while goOn.withLock({ $0 }) { try? file.replace("again\n") }
                isOver.open()
            }
            try file.wait(for: "again\n")
            file.watcher.stop()
            hasStopped.withLock { $0 = true }
            goOn.withLock { $0 = false }
            isOver.waitBlocking()
            #expect(lateCalls.withLock { $0 } == 0)
        }
    }

    @Test(arguments: DetectionMode.available) func aCallMayStopTheWatcher(_ mode: DetectionMode) throws {
        let watcher = Mutex<FileWatcher?>(nil)
        let file = try WatchedFile(by: mode, settle: .init(quiet: .milliseconds(1))) { _ in
            watcher.withLock { $0 }?.stop()
        }
        watcher.withLock { $0 = file.watcher }
        try file.replace("one\n")
        try file.wait(for: "one\n")
        // From outside it waits until the thread has ended; no later change is reported.
        file.watcher.stop()
        try file.replace("two\n")
        #expect(file.contents == ["one\n"])
        watcher.withLock { $0 = nil }
    }

    @Test func startAndStopMayBeRepeated() throws {
        let directory = try TemporaryDirectory()
        let calls = Mutex(0)
        for actions: [(FileWatcher) -> () -> Void] in [
            [FileWatcher.stop], [FileWatcher.stop, FileWatcher.start, FileWatcher.stop],
            [FileWatcher.start, FileWatcher.start, FileWatcher.stop, FileWatcher.stop, FileWatcher.start],
        ] {
            let watcher = FileWatcher(
                path: directory.file("f"), onProblem: { _ in }, onChange: { _ in calls.withLock { $0 += 1 } })
            for action in actions { action(watcher)() }
        }
        #expect(calls.withLock { $0 } == 0)
    }

    /// Concurrent calls return when the thread has ended.
    @Test func manyThreadsMayStop() throws {
        let file = try WatchedFile()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in file.watcher.stop() }
        #expect(file.calls.isEmpty)
    }

    #if os(Linux)
        /// Dispatch opens a few descriptors and starts a few threads at any time.
        private static let tolerance = 10

        @Test func stoppingLeavesNothingOpen() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let before = (try Own.count("fd"), try Own.count("task"))
                for _ in 1...100 {
                    for backend in [FileWatcher.Backend.automatic, .polling, .failing(EMFILE)] {
                        var options = FileWatcher.Options()
                        options.backend = backend
                        let watcher = FileWatcher(
                            path: directory.file("f"), options, onProblem: { _ in }, onChange: { _ in })
                        watcher.start()
                        watcher.stop()
                    }
                }
                try #require(Own.count("fd") < before.0 + Self.tolerance)
                try #require(Own.descriptors("inotify").isEmpty)
                // A thread exists for a moment after it has reported its end.
                try #require(Own.waits { try Own.count("task") < before.1 + Self.tolerance })
            }
        }

        /// Releasing a watcher ends its thread later.
        @Test func releasingLeavesNothingOpen() async {
            await #expect(processExitsWith: .success) {
                let before = try Own.count("fd")
                for _ in 1...100 {
                    FileWatcher(path: "/tmp/f", onProblem: { _ in }, onChange: { _ in }).start()
                }
                try #require(Own.waits { try Own.count("fd") < before + Self.tolerance })
                try #require(Own.waits { try Own.descriptors("inotify").isEmpty })
            }
        }

        /// Child processes inherit no descriptors.
        @Test func descriptorsAreClosedOnExec() async {
            await #expect(processExitsWith: .success) {
                // Dispatch and the tests have event descriptors too.
                let others = try Set(Own.descriptors("[eventfd]"))
                let watcher = FileWatcher(path: "/tmp/f", onProblem: { _ in }, onChange: { _ in })
                watcher.start()
                let ours = try Own.descriptors("inotify")
                try #require(ours.count == 1)
                for number in try ours + Own.descriptors("[eventfd]") where !others.contains(number) {
                    try #require(fcntl(number, F_GETFD) == FD_CLOEXEC)
                }
                watcher.stop()
            }
        }
    #endif
}

#if os(Linux)
    /// The descriptors and threads of this process.
    private enum Own {
        static func count(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
        }

        /// The descriptors of one kind, by its name in /proc.
        static func descriptors(_ kind: String) throws -> [Int32] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
                let goal = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return goal == "anon_inode:\(kind)"
            }.compactMap { Int32($0) }
        }

        /// Whether a condition is fulfilled within two minutes.
        static func waits(_ isTrue: () throws -> Bool) throws -> Bool {
            let deadline = Moment.now + .seconds(120)
            while .now < deadline { if try isTrue() { return true } }
            return false
        }
    }
#endif
