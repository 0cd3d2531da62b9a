// Bytes in, bytes out: a whole conversation without a socket, and with time that passes when the test says so.

import Testing
import Tweaks

@testable import throttled

extension WithSettings {
    @Suite("Conversation") struct ConversationTests {
        private var desk = Desk()
        private var client: Conversation

        init() throws {
            try WithSettings.reset()
            client = Conversation(with: "10.0.0.1", at: start)
        }

        @Test mutating func greetsAndAnswers() {
            Replies.greeting.value = "welcome"
            client = Conversation(with: "10.0.0.1", at: start)
            #expect(client.hear("upper a\nsum 1 2\r\n", &desk) == "welcome\nok A\nok 3\n")
        }

        @Test("The same answers, however the bytes are cut", arguments: [1, 2, 5, 1_000])
        mutating func inPieces(size: Int) {
            let bytes = Array("upper ä\nnope\r\n\n".utf8) + [0xFF, 10] + Array(repeating: 120, count: 600) + [10]
            var said = ""
            for begin in stride(from: 0, to: bytes.count, by: size) {
                said += client.hear(bytes[begin..<min(begin + size, bytes.count)], &desk)
            }
            #expect(
                said == """
                    ok Ä
                    error no such command; type help
                    error an empty line; type help
                    error a line is UTF-8
                    error a line has at most 512 bytes

                    """)
        }

        // MARK: Limits

        @Test mutating func busyUntilThereIsAToken() {
            (Limits.rate.value, Limits.burst.value) = (8, 2)
            #expect(
                client.hear("upper a\nupper b\nupper c\n", &desk) == "ok A\nok B\nbusy retry in 125ms\n")
            #expect(client.hear("upper d\n", at: 0.1, &desk) == "busy retry in 25ms\n")
            #expect(client.hear("upper e\n", at: 0.125, &desk) == "ok E\n")
            #expect((desk.counts.requests, desk.counts.refused) == (3, 2))
        }

        @Test mutating func aChangeActsAtOnce() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            #expect(client.hear("upper a\nupper b\n", &desk) == "ok A\nbusy\n")
            Limits.rate.value = 1
            #expect(client.hear("upper c\n", &desk) == "busy retry in 1s\n")
            Limits.rate.value = 10_000
            #expect(client.hear("upper d\n", at: 0.001, &desk) == "ok D\n")
            Limits.line.value = 16
            #expect(client.hear("upper 12345678901\n", at: 1, &desk) == "error a line has at most 16 bytes\n")
        }

        @Test mutating func eachAddressHasItsOwnBucket() {
            Limits.burst.value = 1
            var neighbour = Conversation(with: "10.0.0.1", at: start)
            var stranger = Conversation(with: "10.0.0.2", at: start)
            #expect(client.hear("time\n", &desk).hasPrefix("ok "))
            #expect(neighbour.hear("time\n", &desk) == "busy retry in 100ms\n")
            #expect(stranger.hear("time\n", &desk).hasPrefix("ok "))
        }

        @Test mutating func quitIsAlwaysPossible() {
            (Limits.rate.value, Limits.burst.value) = (0, 1)
            _ = client.hear("time\n", &desk)
            #expect(client.hear("time\nquit\nupper a\n", &desk) == "busy\nbye\n")
            #expect(client.isSilent && client.wantsInput)
            #expect(client.hear("upper b\n", &desk) == "")
            client.endOfInput()
            #expect(client.isOver(at: start))
        }

        // MARK: Maintenance

        @Test mutating func maintenance() {
            (Limits.burst.value, Replies.delay.value) = (1, .seconds(9))
            Maintenance.isOn.value = true
            #expect(
                client.hear("upper a\n\n", &desk)
                    == "maintenance back in a few minutes\nmaintenance back in a few minutes\n")
            Maintenance.text.value = "moving"
            #expect(client.hear("upper b\n", &desk) == "maintenance moving\n")
            (Maintenance.isOn.value, Replies.delay.value) = (false, .zero)
            #expect(client.hear("upper c\n", &desk) == "ok C\n")
            #expect((desk.counts.requests, desk.counts.refused) == (1, 3))
        }

        @Test func textsAreOneLine() {
            #expect(throws: TweakError.self) { try Maintenance.text.set("two\nlines") }
            #expect(throws: TweakError.self) { try Replies.greeting.set("two\u{2028}lines") }
        }

        // MARK: Delay

        @Test mutating func repliesAreHeldBackOneByOne() {
            Replies.delay.value = .seconds(1)
            #expect(client.hear("upper a\nupper b\n", &desk) == "")
            #expect(client.nextTurn == start + .seconds(1) && !client.wantsInput)
            #expect(client.listen(at: 0.9, &desk) == "")
            #expect(client.listen(at: 1, &desk) == "ok A\n")
            #expect(client.nextTurn == start + .seconds(2))
            #expect(client.listen(at: 2, &desk) == "ok B\n")
            #expect(client.wantsInput)
        }

        @Test mutating func aShorterDelayReleasesWhatWaits() {
            Replies.delay.value = .seconds(60)
            #expect(client.hear("upper a\n", &desk) == "")
            Replies.delay.value = .seconds(1)
            #expect(client.nextTurn == start + .seconds(1))
            #expect(client.listen(at: 1, &desk) == "ok A\n")
        }

        @Test mutating func refusalsAreNotHeldBack() {
            (Replies.delay.value, Limits.burst.value, Limits.rate.value) = (.seconds(1), 1, 0)
            #expect(client.hear("upper a\nupper b\nquit\n", &desk) == "")
            #expect(client.listen(at: 1, &desk) == "ok A\nbusy\nbye\n")
        }
    }
}
