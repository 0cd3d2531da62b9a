// Tests that the watcher waits for a writer to finish, with a limit.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherDebounceTests {
    /// Longer than any test, so that it cannot be the cause of a call.
    private static let never = Duration.seconds(3_600)

    @Test(arguments: DetectionMode.available) func aBurstIsOneCall(_ mode: DetectionMode) throws {
        let settling = FileWatcher.Settling(quiet: .seconds(10), writing: .seconds(10), longest: Self.never)
        let file = try WatchedFile(by: mode, settle: settling)
        for number in 1...10 { try file.replace("\(number)\n") }
        try file.wait(for: "10\n")
        #expect(file.contents == ["10\n"])
    }

    /// With the default times the last call follows the last save.
    @Test(arguments: DetectionMode.available) func theLastSaveOfABurstIsReported(_ mode: DetectionMode) throws {
        let file = try WatchedFile(by: mode)
        for number in 1...10 { try file.replace("\(number)\n") }
        try file.wait(for: "10\n")
        #expect(file.contents.count <= 10)
    }

    @Test(.enabled(if: DetectionMode.available.contains(.events))) func anOpenWriterIsWaitedFor() throws {
        let file = try WatchedFile(settle: .init(writing: Self.never, longest: Self.never))
        let writer = try #require(FileHandle(forWritingAtPath: file.path))
        for part in ["a", "b", "c", "\n"] { try writer.write(contentsOf: Data(part.utf8)) }
        try writer.close()
        try file.wait(for: "abc\n")
        #expect(file.contents == ["abc\n"])
    }

    @Test(.enabled(if: DetectionMode.available.contains(.events)))
    func aWriterThatNeverClosesIsReadAfterTheTimeout() throws {
        let file = try WatchedFile(settle: .init(quiet: Self.never, writing: .milliseconds(50), longest: Self.never))
        let writer = try #require(FileHandle(forWritingAtPath: file.path))
        for content in ["one\n", "two\n"] {
            try writer.truncate(atOffset: 0)
            try writer.write(contentsOf: Data(content.utf8))
            try file.wait(for: content)
        }
    }

    @Test(arguments: DetectionMode.available)
    func continuousRewritingDoesNotDelayCallsForever(_ mode: DetectionMode) throws {
        let settling = FileWatcher.Settling(quiet: Self.never, writing: Self.never, longest: .milliseconds(100))
        let file = try WatchedFile(by: mode, settle: settling)
        let isEnough = Mutex(false)
        Thread.detachNewThread {
            for number in 0... where isEnough.withLock({ !$0 }) {
                try? Data("\(number)\n".utf8).write(to: URL(fileURLWithPath: file.path))
                if isEnough.withLock({ $0 }) { return }
            }
        }
        defer { isEnough.withLock { $0 = true } }
        for _ in 1...5 { try file.wait("any") { _ in true } }
    }

    /// A change while the listener reads causes the next call.
    @Test(arguments: DetectionMode.available) func changesDuringACallCauseAnother(_ mode: DetectionMode) throws {
        let (entered, leave) = (Gate(), Gate())
        let file = try WatchedFile(by: mode) { _ in
            entered.open()
            leave.waitBlocking()
        }
        try file.replace("one\n")
        entered.waitBlocking()
        try file.replace("two\n")
        leave.open()
        try file.wait(for: "two\n")
        #expect(file.contents == ["one\n", "two\n"])
    }

    // MARK: Debouncer

    private let start = Moment.now

    private func debouncer() -> Debouncer { Debouncer(.init(quiet: .milliseconds(20), writing: .milliseconds(250))) }

    @Test func theLastEventSetsTheDeadline() {
        var debouncer = debouncer()
        #expect(debouncer.deadline == nil && debouncer.takeDue(at: start + Self.never) == nil)
        debouncer.record(.writing, .event, at: start)
        #expect(debouncer.deadline == start + .milliseconds(250))
        debouncer.record(.complete, .event, at: start + .milliseconds(100))
        #expect(debouncer.deadline == start + .milliseconds(120))
        debouncer.record(.writing, .event, at: start + .milliseconds(110))
        #expect(debouncer.deadline == start + .milliseconds(360))
        #expect(debouncer.takeDue(at: start + .milliseconds(359)) == nil)
        #expect(debouncer.takeDue(at: start + .milliseconds(360)) == .event)
        #expect(debouncer.deadline == nil && debouncer.takeDue(at: start + Self.never) == nil)
    }

    @Test func theDeadlineIsLimited() {
        var debouncer = debouncer()
        for time in stride(from: 0, to: 1_000, by: 10) {
            debouncer.record(.writing, .event, at: start + .milliseconds(time))
        }
        #expect(debouncer.deadline == start + .seconds(1))
        #expect(debouncer.takeDue(at: start + .seconds(1)) == .event)
        // The next call has its own limit.
        debouncer.record(.writing, .event, at: start + .seconds(1))
        #expect(debouncer.deadline == start + .milliseconds(1_250))
    }

    @Test(
        arguments: [[.poll, .overflow, .event], [.overflow, .poll], [.event, .overflow]] as [[FileWatcher.Reason]])
    func theStrongestReasonWins(reasons: [FileWatcher.Reason]) {
        var debouncer = debouncer()
        for reason in reasons { debouncer.record(.complete, reason, at: start) }
        #expect(debouncer.takeDue(at: start + .seconds(1)) == .overflow)
    }
}
