// Tests the watcher when the kernel loses or refuses events, and when no descriptors are left.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherFailureTests {
    private static let overflow = DirectoryEvent(watch: -1, flags: .overflow).bytes

    @Test(arguments: DetectionMode.available)
    func anOverflowIsReportedAndWatchingContinues(_ mode: DetectionMode) throws {
        let file = try WatchedFile(by: mode)
        for _ in 1...3 {
            file.watcher.inject(events: Self.overflow)
            try file.wait("overflow") { $0.reason == .overflow }
        }
        try file.replace("new\n")
        try file.wait(for: "new\n")
        #expect(file.problems.isEmpty)
    }

    @Test(arguments: DetectionMode.available) func invalidEventsAreIgnored(_ mode: DetectionMode) throws {
        let file = try WatchedFile(by: mode)
        var generator = SeededGenerator(seed: 4)
        for _ in 1...200 {
            let count = Int.random(in: 0...100, using: &generator)
            file.watcher.inject(events: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        // Every watch is reported as removed.
        for watch in Int32(0)..<20 { file.watcher.inject(events: DirectoryEvent(watch: watch, flags: .ignored).bytes) }
        try file.replace("new\n")
        try file.wait(for: "new\n")
    }

    @Test(arguments: [
        (FileWatcher.Backend.failing(EMFILE), EMFILE), (.failing(ENOSYS), ENOSYS), (.failingToWatch(ENOSPC), ENOSPC),
    ])
    func withoutKernelEventsTheFileIsPolled(_ backend: FileWatcher.Backend, _ code: Int32) throws {
        // A system without events has none to refuse.
        if case .failingToWatch = backend, !DetectionMode.available.contains(.events) { return }
        let file = try WatchedFile(by: .polling, backend: backend)
        for content in ["one\n", "two\n"] {
            try file.replace(content)
            try file.wait(for: content)
        }
        let remedies = [
            EMFILE: "; raise fs.inotify.max_user_instances or the limit of open files",
            ENOSPC: "; raise fs.inotify.max_user_watches",
        ]
        let text = String(cString: strerror(code))
        #expect(
            file.problems == [
                "\(file.path): inotify is not available (\(text)): changes are polled every 20ms\(remedies[code] ?? "")"
            ])
        #expect(file.calls.allSatisfy { $0.reason == .poll })
    }

    #if os(Linux)
        /// More events occur during a call than the kernel keeps.
        @Test func anOverflowOfTheKernelIsReported() throws {
            let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            let limit = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            if limit > 100_000 { return }
            let (entered, leave) = (Gate(), Gate())
            let file = try WatchedFile { _ in
                entered.open()
                leave.waitBlocking()
            }
            try file.replace("one\n")
            entered.waitBlocking()
            for number in 0...limit / 2 {
                let other = open(file.directory.file("\(number)"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
                close(other)
                unlink(file.directory.file("\(number)"))
            }
            try file.replace("two\n")
            leave.open()
            try file.wait("overflow") { $0 == .init(reason: .overflow, content: "two\n") }
            try file.replace("three\n")
            try file.wait("three") { $0 == .init(reason: .event, content: "three\n") }
        }

        /// The problem is reported, polling replaces events, and the watcher can be stopped.
        @Test func withoutDescriptorsTheFileIsPolled() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                try "old".write(toFile: directory.file("app.conf"), atomically: false, encoding: .utf8)
                try "new".write(toFile: directory.file("next"), atomically: false, encoding: .utf8)
                let problems = Mutex<[String]>([])
                let called = DispatchSemaphore(value: 0)
                var options = FileWatcher.Options()
                options.poll = .milliseconds(20)
                let watcher = FileWatcher(
                    path: directory.file("app.conf"), options,
                    onProblem: { text in problems.withLock { $0.append(text) } }, onChange: { _ in called.signal() })
                // The first three are in use all the time.
                lowerDescriptorLimit(to: 3)
                watcher.start()
                rename(directory.file("next"), directory.file("app.conf"))
                try #require(called.wait(timeout: .testTimeout) == .success)
                watcher.stop()
                lowerDescriptorLimit(to: 1_000)
                try #require(problems.withLock { $0.map { $0.contains("Too many open files") } } == [true])
            }
        }
    #endif
}
