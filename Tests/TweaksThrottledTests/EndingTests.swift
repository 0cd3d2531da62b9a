// How conversations end, and what a client can make the service remember.

import Testing
import Tweaks

@testable import throttled

extension WithSettings {
    @Suite("Endings") struct EndingTests {
        private var desk = Desk()
        private var client: Conversation

        init() throws {
            try WithSettings.reset()
            client = Conversation(with: "10.0.0.1", at: start)
        }

        @Test mutating func theEndOfInputIsAnsweredToTheEnd() {
            Replies.delay.value = .seconds(1)
            _ = client.hear("upper a\nupper b\nupper", &desk)
            client.endOfInput()
            #expect(client.listen(at: 1, &desk) == "ok A\n")
            #expect(client.listen(at: 2, &desk) == "ok B\n")
            #expect(!client.isOver(at: start + .seconds(2)))
            #expect(client.listen(at: 3, &desk) == "error the last line has no end\n")
            #expect(client.isOver(at: start + .seconds(3)))
        }

        @Test mutating func aStopReleasesTheReplyUnderWay() {
            Replies.delay.value = .seconds(60)
            #expect(client.hear("upper a\nupper b\n", &desk) == "")
            client.end("closing time", at: start)
            #expect(client.listen(at: 0, &desk) == "ok A\nclosing time\n")
            client.end("once more", at: start)
            #expect(client.listen(at: 0, &desk) == "")
            #expect(client.isSilent)
        }

        @Test mutating func whoDoesNotReadTheLastReplyIsLeftBehind() {
            Limits.grace.value = .seconds(3)
            client.end("closing time", at: start)
            #expect(client.nextTurn == start + .seconds(3))
            #expect(!client.isOver(at: start + .seconds(2.9)))
            #expect(client.isOver(at: start + .seconds(3)))
        }

        @Test mutating func idle() {
            Limits.idle.value = .seconds(10)
            #expect(client.hear("upper a\n", at: 9, &desk) == "ok A\n")
            #expect(client.hear("half a line", at: 18, &desk) == "")
            #expect(client.nextTurn == start + .seconds(19))
            #expect(client.listen(at: 19, &desk) == "closing idle for 10s\n")
            #expect(client.isLeaving)
        }

        @Test mutating func whoWaitsForAReplyIsNotIdle() {
            (Limits.idle.value, Replies.delay.value) = (.seconds(1), .seconds(5))
            #expect(client.hear("upper a\n", &desk) == "")
            #expect(client.listen(at: 4, &desk) == "")
            #expect(client.listen(at: 5, &desk) == "ok A\n")
            #expect(client.listen(at: 5.5, &desk) == "")
            #expect(client.listen(at: 6, &desk) == "closing idle for 1s\n")
        }

        @Test mutating func refused() {
            client = Conversation(refusing: "10.0.0.1", at: start)
            #expect(client.hear("upper a\n", &desk) == "busy too many connections\n")
            client.endOfInput()
            #expect(client.isOver(at: start) && desk.counts.requests == 0)
        }

        @Test mutating func aClientThatNeverReadsFillsNoMemory() {
            (Limits.rate.value, Limits.burst.value) = (10_000, 10_000)
            let chunk = Array(String(repeating: "upper \(String(repeating: "x", count: 500))\n", count: 32).utf8)[...]
            var chunks = 0
            while client.wantsInput, chunks < 100 {
                client.receive(chunk)
                client.advance(to: start, at: &desk)
                chunks += 1
            }
            #expect(chunks < 3)
            #expect(client.output.count < 17_000)
            #expect(client.listen(at: 0, &desk).split(separator: "\n").count == chunks * 32)
            #expect(client.wantsInput)
        }

        @Test mutating func aThousandAddressesTooManyAreForgotten() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            var clients = Clients()
            for number in 0..<Clients.capacity + 1_000 {
                #expect(clients.admit("client \(number)", at: start) == .taken)
            }
            #expect(clients.count <= Clients.capacity)
            Limits.rate.value = 1
            #expect(clients.admit("client \(Clients.capacity + 999)", at: start) != .taken)
        }

        @Test mutating func theBusiestIsKnown() {
            var other = Conversation(with: "10.0.0.2", at: start)
            _ = client.hear("time\ntime\n", &desk)
            _ = other.hear("time\n", &desk)
            #expect(desk.counts.busiest == Busiest(client: "10.0.0.1", requests: 2))
            desk.zero()
            #expect(desk.counts == Counts())
            _ = other.hear("time\n", &desk)
            #expect(desk.counts.busiest == Busiest(client: "10.0.0.2", requests: 1))
        }
    }
}
