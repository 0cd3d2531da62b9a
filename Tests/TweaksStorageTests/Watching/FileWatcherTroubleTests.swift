// When the kernel loses events or gives none, and when the process has no descriptors left.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherTroubleTests {
    private static let overflow = DirectoryEvent(watch: -1, flags: .overflow).bytes

    @Test(arguments: Way.available) func anOverflow(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        for _ in 1...3 {
            file.watcher.inject(events: Self.overflow)
            try file.wait("overflow") { $0.reason == .overflow }
        }
        try file.replace("new\n")
        try file.wait(for: "new\n")
        #expect(file.troubles.isEmpty)
    }

    @Test(arguments: Way.available) func eventsThatNoKernelSends(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        var generator = SeededGenerator(seed: 4)
        for _ in 1...200 {
            let count = Int.random(in: 0...100, using: &generator)
            file.watcher.inject(events: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        // Every watch is said to be no more.
        for watch in Int32(0)..<20 {
            file.watcher.inject(events: DirectoryEvent(watch: watch, flags: .ignored).bytes)
        }
        try file.replace("new\n")
        try file.wait(for: "new\n")
    }

    @Test(arguments: [
        (FileWatcher.Backend.failing(EMFILE), EMFILE),
        (.failing(ENOSYS), ENOSYS), (.failingToWatch(ENOSPC), ENOSPC),
    ]) func withoutTheKernel(_ backend: FileWatcher.Backend, _ code: Int32) throws {
        // Where there are no events at all, none are missed.
        if case .failingToWatch = backend, !Way.available.contains(.events) { return }
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
            file.troubles == [
                "\(file.path): inotify is not available (\(text)): changes are looked for every 20ms\(remedies[code] ?? "")"
            ])
        #expect(file.calls.allSatisfy { $0.reason == .poll })
    }

    #if os(Linux)
        /// More happens during a call than the kernel keeps.
        @Test func aRealOverflow() throws {
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

        /// It is said, it is made good by looking, and it can be stopped.
        @Test func noDescriptorsLeft() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                try "old".write(toFile: directory.file("app.conf"), atomically: false, encoding: .utf8)
                try "new".write(toFile: directory.file("next"), atomically: false, encoding: .utf8)
                let troubles = Mutex<[String]>([])
                let called = DispatchSemaphore(value: 0)
                let watcher = FileWatcher(
                    path: directory.file("app.conf"), poll: .milliseconds(20),
                    onTrouble: { text in troubles.withLock { $0.append(text) } }, lookAgain: { _ in called.signal() })
                // The first three are taken, whatever other threads open and close.
                lowerDescriptorLimit(to: 3)
                watcher.start()
                rename(directory.file("next"), directory.file("app.conf"))
                try #require(called.wait(timeout: .patience) == .success)
                watcher.stop()
                lowerDescriptorLimit(to: 1_000)
                let said = troubles.withLock { $0 }
                try #require(said.count == 1 && said[0].contains("Too many open files"))
            }
        }
    #endif
}
