// Stopping: from outside, from within, and what is left.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherStopTests {
    @Test(arguments: Way.available) func noCallAfterIt(_ way: Way) throws {
        for _ in 0..<20 {
            let hasStopped = Mutex(false)
            let lateCalls = Mutex(0)
            let file = try WatchedFile(by: way, settle: .init(quiet: .zero, writing: .zero)) { _ in
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

    @Test(arguments: Way.available) func fromWithin(_ way: Way) throws {
        let watcher = Mutex<FileWatcher?>(nil)
        let file = try WatchedFile(by: way, settle: .init(quiet: .milliseconds(1))) { _ in
            watcher.withLock { $0 }?.stop()
        }
        watcher.withLock { $0 = file.watcher }
        try file.replace("one\n")
        try file.wait(for: "one\n")
        // This one waits, from outside, until the thread has ended. There is nobody left to call.
        file.watcher.stop()
        try file.replace("two\n")
        #expect(file.contents == ["one\n"])
        watcher.withLock { $0 = nil }
    }

    @Test func twiceBeforeAndAfter() throws {
        let directory = try TemporaryDirectory()
        let calls = Mutex(0)
        func watcher() -> FileWatcher {
            FileWatcher(path: directory.file("f"), onTrouble: { _ in }, lookAgain: { _ in calls.withLock { $0 += 1 } })
        }
        watcher().stop()
        let unstarted = watcher()
        unstarted.stop()
        unstarted.start()
        unstarted.stop()
        let started = watcher()
        started.start()
        started.start()
        started.stop()
        started.stop()
        started.start()
        #expect(calls.withLock { $0 } == 0)
    }

    /// Several at once all return when the thread has ended.
    @Test func fromManyThreads() throws {
        let file = try WatchedFile()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in file.watcher.stop() }
        #expect(file.calls.isEmpty)
    }

    #if os(Linux)
        /// Dispatch opens descriptors and starts threads for itself, when it likes, but few.
        private static let noise = 10

        @Test func leavesNothingBehind() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let before = (try Own.count("fd"), try Own.count("task"))
                for _ in 1...100 {
                    for backend in [FileWatcher.Backend.automatic, .polling, .failing(EMFILE)] {
                        let watcher = FileWatcher(
                            path: directory.file("f"), backend: backend, onTrouble: { _ in }, lookAgain: { _ in })
                        watcher.start()
                        watcher.stop()
                    }
                }
                try #require(Own.count("fd") < before.0 + Self.noise)
                try #require(Own.descriptors("inotify").isEmpty)
                // A thread goes on for a moment after it has said that it is done.
                try #require(Own.waits { try Own.count("task") < before.1 + Self.noise })
            }
        }

        /// Letting go is enough, though it waits for nothing.
        @Test func lettingGoLeavesNothingBehind() async {
            await #expect(processExitsWith: .success) {
                let before = try Own.count("fd")
                for _ in 1...100 {
                    FileWatcher(path: "/tmp/f", onTrouble: { _ in }, lookAgain: { _ in }).start()
                }
                try #require(Own.waits { try Own.count("fd") < before + Self.noise })
                try #require(Own.waits { try Own.descriptors("inotify").isEmpty })
            }
        }

        /// A child process inherits nothing.
        @Test func descriptorsAreClosedOnExec() async {
            await #expect(processExitsWith: .success) {
                // Dispatch and the tests have event descriptors, too.
                let others = try Set(Own.descriptors("[eventfd]"))
                let watcher = FileWatcher(path: "/tmp/f", onTrouble: { _ in }, lookAgain: { _ in })
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
    /// What this process has open.
    private enum Own {
        static func count(_ what: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(what)").count
        }

        /// Those of one kind, as /proc calls it.
        static func descriptors(_ kind: String) throws -> [Int32] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
                let goal = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return goal == "anon_inode:\(kind)"
            }.compactMap { Int32($0) }
        }

        /// Whether it comes true, in good time.
        static func waits(_ isTrue: () throws -> Bool) throws -> Bool {
            let deadline = ContinuousClock.now + .seconds(120)
            while .now < deadline { if try isTrue() { return true } }
            return false
        }
    }
#endif
