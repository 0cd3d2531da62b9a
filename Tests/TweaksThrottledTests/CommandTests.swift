// Tests the replies to commands.

import Foundation
import Testing

@testable import throttled

@Suite struct CommandTests {
    @Test(
        arguments: [
            ("upper straße", .ok("STRASSE")), ("upper  two  blanks", .ok(" TWO  BLANKS")), ("upper", .ok("")),
            ("reverse 👩‍👩‍👧ab", .ok("ba👩‍👩‍👧")), ("sum 1 2 3", .ok("6")), ("sum", .ok("0")), ("sum -1 +1", .ok("0")),
            ("sum 1.5", .error("sum takes whole numbers, as in: sum 1 2 3")),
            ("sum 9223372036854775807 1", .error("sum is too large")),
            ("help", .ok("upper TEXT, reverse TEXT, sum NUMBER…, time, help, quit")), ("quit now", .bye),
            ("", .error("an empty line; type help")), ("   ", .error("an empty line; type help")),
            ("UPPER x", .error("no such command; type help")), ("\0", .error("no such command; type help")),
        ] as [(String, Answer)])
    func eachLineHasItsReply(line: String, reply: Answer) {
        #expect(Command.answer(line) == reply)
    }

    @Test func theReplyToTimeIsADate() throws {
        guard case .ok(let text) = Command.answer("time") else { throw Unexpected() }
        #expect(throws: Never.self) { try Date(text, strategy: .iso8601) }
    }

    @Test func everyCommandIsKnown() {
        for command in Command.all { #expect(Command.answer(command.name) != .error("no such command; type help")) }
    }

    private struct Unexpected: Error {}
}
