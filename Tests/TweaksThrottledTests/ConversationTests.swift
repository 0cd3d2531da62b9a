// Tests conversations without a socket, at given times.

import Testing
import Tweaks

@testable import throttled

extension WithSettings {
    @Suite struct ConversationTests {
        private var handler = RequestHandler()
        private var client: Conversation

        init() throws {
            try WithSettings.reset()
            client = Conversation(with: "10.0.0.1", at: start)
        }

        @Test mutating func aClientIsGreetedAndGetsReplies() {
            Replies.greeting.value = "welcome"
            client = Conversation(with: "10.0.0.1", at: start)
            #expect(client.receive("upper a\nsum 1 2\r\n", &handler) == "welcome\nok A\nok 3\n")
        }

        @Test(arguments: [1, 2, 5, 1_000]) mutating func repliesDoNotDependOnThePiecesOfInput(size: Int) {
            let bytes = Array("upper ä\nnope\r\n\n".utf8) + [0xFF, 10] + Array(repeating: 120, count: 600) + [10]
            var output = ""
            for begin in stride(from: 0, to: bytes.count, by: size) {
                output += client.receive(bytes[begin..<min(begin + size, bytes.count)], &handler)
            }
            let lines = [
                "ok Ä", "error no such command; type help", "error an empty line; type help",
                "error the line is not valid UTF-8", "error a line has at most 512 bytes", "",
            ]
            #expect(output == lines.joined(separator: "\n"))
        }

        // MARK: Limits

        @Test mutating func requestsWithoutATokenAreRefused() {
            (Limits.rate.value, Limits.burst.value) = (8, 2)
            #expect(client.receive("upper a\nupper b\nupper c\n", &handler) == "ok A\nok B\nbusy retry in 125ms\n")
            #expect(client.receive("upper d\n", at: 0.1, &handler) == "busy retry in 25ms\n")
            #expect(client.receive("upper e\n", at: 0.125, &handler) == "ok E\n")
            #expect((handler.counts.requests, handler.counts.refused) == (3, 2))
        }

        @Test mutating func changedLimitsAreInEffectAtOnce() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            #expect(client.receive("upper a\nupper b\n", &handler) == "ok A\nbusy\n")
            Limits.rate.value = 1
            #expect(client.receive("upper c\n", &handler) == "busy retry in 1s\n")
            Limits.rate.value = 10_000
            #expect(client.receive("upper d\n", at: 0.001, &handler) == "ok D\n")
            Limits.line.value = 16
            #expect(client.receive("upper 12345678901\n", at: 1, &handler) == "error a line has at most 16 bytes\n")
        }

        @Test mutating func eachAddressHasItsOwnBucket() {
            Limits.burst.value = 1
            var same = Conversation(with: "10.0.0.1", at: start)
            var other = Conversation(with: "10.0.0.2", at: start)
            #expect(client.receive("time\n", &handler).hasPrefix("ok "))
            #expect(same.receive("time\n", &handler) == "busy retry in 100ms\n")
            #expect(other.receive("time\n", &handler).hasPrefix("ok "))
        }

        @Test mutating func quitIsAlwaysPossible() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            _ = client.receive("time\n", &handler)
            #expect(client.receive("time\nquit\nupper a\n", &handler) == "busy\nbye\n")
            #expect(client.isDrained && client.wantsInput)
            #expect(client.receive("upper b\n", &handler) == "")
            client.endInput()
            #expect(client.isFinished(at: start))
        }

        // MARK: Maintenance

        @Test mutating func duringMaintenanceAllRequestsAreRefused() {
            (Limits.burst.value, Replies.delay.value) = (1, .seconds(9))
            Maintenance.isOn.value = true
            let refusal = "maintenance back in a few minutes\n"
            #expect(client.receive("upper a\n\n", &handler) == refusal + refusal)
            Maintenance.text.value = "moving"
            #expect(client.receive("upper b\n", &handler) == "maintenance moving\n")
            (Maintenance.isOn.value, Replies.delay.value) = (false, .zero)
            #expect(client.receive("upper c\n", &handler) == "ok C\n")
            #expect((handler.counts.requests, handler.counts.refused) == (1, 3))
        }

        @Test func textsWithLineBreaksAreRefused() {
            #expect(throws: TweakError.self) { try Maintenance.text.set("two\nlines") }
            #expect(throws: TweakError.self) { try Replies.greeting.set("two\u{2028}lines") }
        }

        // MARK: Delay

        @Test mutating func eachReplyIsDelayed() {
            Replies.delay.value = .seconds(1)
            #expect(client.receive("upper a\nupper b\n", &handler) == "")
            #expect(client.nextDeadline == start + .seconds(1) && !client.wantsInput)
            #expect(client.read(at: 0.9, &handler) == "")
            #expect(client.read(at: 1, &handler) == "ok A\n")
            #expect(client.nextDeadline == start + .seconds(2))
            #expect(client.read(at: 2, &handler) == "ok B\n")
            #expect(client.wantsInput)
        }

        @Test mutating func aShorterDelayAppliesToPendingReplies() {
            Replies.delay.value = .seconds(60)
            #expect(client.receive("upper a\n", &handler) == "")
            Replies.delay.value = .seconds(1)
            #expect(client.nextDeadline == start + .seconds(1))
            #expect(client.read(at: 1, &handler) == "ok A\n")
        }

        @Test mutating func refusalsAreNotDelayed() {
            (Replies.delay.value, Limits.burst.value, Limits.rate.value) = (.seconds(1), 1, 0)
            #expect(client.receive("upper a\nupper b\nquit\n", &handler) == "")
            #expect(client.read(at: 1, &handler) == "ok A\nbusy\nbye\n")
        }
    }
}
