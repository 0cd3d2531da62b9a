// Tests the end of conversations, and the memory that clients use.

import Testing
import Tweaks

@testable import throttled

extension WithSettings {
    @Suite struct EndingTests {
        private var handler = RequestHandler()
        private var client: Conversation

        init() throws {
            try WithSettings.reset()
            client = Conversation(with: "10.0.0.1", at: start)
        }

        @Test mutating func afterTheEndOfInputAllRepliesAreSent() {
            Replies.delay.value = .seconds(1)
            _ = client.receive("upper a\nupper b\nupper", &handler)
            client.endInput()
            #expect(client.read(at: 1, &handler) == "ok A\n")
            #expect(client.read(at: 2, &handler) == "ok B\n")
            #expect(!client.isFinished(at: start + .seconds(2)))
            #expect(client.read(at: 3, &handler) == "error the last line has no line break\n")
            #expect(client.isFinished(at: start + .seconds(3)))
        }

        @Test mutating func aStopSendsThePendingReply() {
            Replies.delay.value = .seconds(60)
            #expect(client.receive("upper a\nupper b\n", &handler) == "")
            client.end("closing time", at: start)
            #expect(client.read(at: 0, &handler) == "ok A\nclosing time\n")
            client.end("once more", at: start)
            #expect(client.read(at: 0, &handler) == "")
            #expect(client.isDrained)
        }

        @Test mutating func aClientThatDoesNotReadIsDisconnectedAfterTheGracePeriod() {
            Limits.grace.value = .seconds(3)
            client.end("closing time", at: start)
            #expect(client.nextDeadline == start + .seconds(3))
            #expect(!client.isFinished(at: start + .seconds(2.9)))
            #expect(client.isFinished(at: start + .seconds(3)))
        }

        @Test mutating func anIdleClientIsDisconnected() {
            Limits.idle.value = .seconds(10)
            #expect(client.receive("upper a\n", at: 9, &handler) == "ok A\n")
            #expect(client.receive("half a line", at: 18, &handler) == "")
            #expect(client.nextDeadline == start + .seconds(19))
            #expect(client.read(at: 19, &handler) == "closing idle for 10s\n")
            #expect(client.isClosing)
        }

        @Test mutating func aClientThatWaitsForAReplyIsNotIdle() {
            (Limits.idle.value, Replies.delay.value) = (.seconds(1), .seconds(5))
            #expect(client.receive("upper a\n", &handler) == "")
            #expect(client.read(at: 4, &handler) == "")
            #expect(client.read(at: 5, &handler) == "ok A\n")
            #expect(client.read(at: 5.5, &handler) == "")
            #expect(client.read(at: 6, &handler) == "closing idle for 1s\n")
        }

        @Test mutating func aRefusedClientGetsAReason() {
            client = Conversation(refusing: "10.0.0.1", at: start)
            #expect(client.receive("upper a\n", &handler) == "busy too many connections\n")
            client.endInput()
            #expect(client.isFinished(at: start) && handler.counts.requests == 0)
        }

        @Test mutating func theOutputForAClientThatDoesNotReadIsLimited() {
            (Limits.rate.value, Limits.burst.value) = (10_000, 10_000)
            let chunk = Array(String(repeating: "upper \(String(repeating: "x", count: 500))\n", count: 32).utf8)[...]
            var chunks = 0
            while client.wantsInput, chunks < 100 {
                client.receive(chunk)
                client.advance(to: start, with: &handler)
                chunks += 1
            }
            #expect(chunks < 3 && client.output.count < 17_000)
            #expect(client.read(at: 0, &handler).split(separator: "\n").count == chunks * 32)
            #expect(client.wantsInput)
        }

        @Test mutating func theNumberOfBucketsIsLimited() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            var limiter = RateLimiter()
            for number in 0..<RateLimiter.capacity + 1_000 {
                #expect(limiter.admit("client \(number)", at: start) == .taken)
            }
            #expect(limiter.count <= RateLimiter.capacity)
            Limits.rate.value = 1
            #expect(limiter.admit("client \(RateLimiter.capacity + 999)", at: start) != .taken)
        }

        @Test mutating func theBusiestClientIsCounted() {
            var other = Conversation(with: "10.0.0.2", at: start)
            _ = client.receive("time\ntime\n", &handler)
            _ = other.receive("time\n", &handler)
            #expect(handler.counts.busiest == BusiestClient(client: "10.0.0.1", requests: 2))
            handler.resetCounts()
            #expect(handler.counts == Counts())
            _ = other.receive("time\n", &handler)
            #expect(handler.counts.busiest == BusiestClient(client: "10.0.0.2", requests: 1))
        }
    }
}
