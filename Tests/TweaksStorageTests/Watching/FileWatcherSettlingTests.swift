// Waiting for a writer to finish, but not for ever.

import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileWatcherSettlingTests {
    /// So much longer than what the test does that only what is tested can be the cause of a call.
    private static let never = Duration.seconds(3_600)

    @Test(arguments: Way.available) func aBurstIsOneCall(_ way: Way) throws {
        let settling = FileWatcher.Settling(quiet: .seconds(3), writing: .seconds(3), longest: Self.never)
        let file = try WatchedFile(by: way, settle: settling)
        for number in 1...10 { try file.replace("\(number)\n") }
        try file.wait(for: "10\n")
        #expect(file.contents == ["10\n"])
    }

    /// With the usual times: however long the burst takes, the last call comes after the last save.
    @Test(arguments: Way.available) func theLastOfABurst(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        for number in 1...10 { try file.replace("\(number)\n") }
        try file.wait(for: "10\n")
        #expect(file.contents.count <= 10)
    }

    @Test(.enabled(if: Way.available.contains(.events))) func aWriterWhoHasNotClosedIsWaitedFor() throws {
        let file = try WatchedFile(settle: .init(writing: Self.never, longest: Self.never))
        let writer = try #require(FileHandle(forWritingAtPath: file.path))
        for part in ["a", "b", "c"] { try writer.write(contentsOf: Data(part.utf8)) }
        try writer.write(contentsOf: Data("\n".utf8))
        try writer.close()
        try file.wait(for: "abc\n")
        #expect(file.contents == ["abc\n"])
    }

    /// A writer that never closes is taken at its word after a while.
    @Test(.enabled(if: Way.available.contains(.events))) func aWriterWhoNeverCloses() throws {
        let file = try WatchedFile(settle: .init(quiet: Self.never, writing: .milliseconds(50), longest: Self.never))
        let writer = try #require(FileHandle(forWritingAtPath: file.path))
        for content in ["one\n", "two\n"] {
            try writer.truncate(atOffset: 0)
            try writer.write(contentsOf: Data(content.utf8))
            try file.wait(for: content)
        }
    }

    @Test(arguments: Way.available) func continuousRewritingStarvesNobody(_ way: Way) throws {
        let settling = FileWatcher.Settling(quiet: Self.never, writing: Self.never, longest: .milliseconds(100))
        let file = try WatchedFile(by: way, settle: settling)
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

    /// What changes while the listener is reading is the next call's.
    @Test(arguments: Way.available) func changesDuringACall(_ way: Way) throws {
        let (entered, leave) = (Gate(), Gate())
        let file = try WatchedFile(by: way) { _ in
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

    // MARK: The rules themselves

    private let start = ContinuousClock.now

    private func settler() -> Settler { Settler(.init(quiet: .milliseconds(20), writing: .milliseconds(250))) }

    @Test func theLastEventSaysHowLong() {
        var settler = settler()
        #expect(settler.deadline == nil && settler.take(at: start + Self.never) == nil)
        settler.note(.writing, .event, at: start)
        #expect(settler.deadline == start + .milliseconds(250))
        settler.note(.whole, .event, at: start + .milliseconds(100))
        #expect(settler.deadline == start + .milliseconds(120))
        settler.note(.writing, .event, at: start + .milliseconds(110))
        #expect(settler.deadline == start + .milliseconds(360))
        #expect(settler.take(at: start + .milliseconds(359)) == nil)
        #expect(settler.take(at: start + .milliseconds(360)) == .event)
        #expect(settler.deadline == nil && settler.take(at: start + Self.never) == nil)
    }

    @Test func thereIsALongestWait() {
        var settler = settler()
        for time in stride(from: 0, to: 1_000, by: 10) {
            settler.note(.writing, .event, at: start + .milliseconds(time))
        }
        #expect(settler.deadline == start + .seconds(1))
        #expect(settler.take(at: start + .seconds(1)) == .event)
        // The next one counts from its own beginning.
        settler.note(.writing, .event, at: start + .seconds(1))
        #expect(settler.deadline == start + .milliseconds(1_250))
    }

    @Test func theStrongestReasonWins() {
        for reasons in [[FileWatcher.Reason.poll, .overflow, .event], [.overflow, .poll], [.event, .overflow]] {
            var settler = settler()
            for reason in reasons { settler.note(.whole, reason, at: start) }
            #expect(settler.take(at: start + .seconds(1)) == .overflow)
        }
    }
}
