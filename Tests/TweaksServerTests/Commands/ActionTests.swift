// Tests `run`: the output of an action, its failures, and the requests that wait for it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct ActionTests {
    private let registry = ExampleTweaks().registry

    /// A client of a server with an action `A/B/Act`.
    private func client(
        _ body: @escaping @Sendable (TweakArguments) async throws -> String
    ) throws -> TestClient {
        tweakAction("A", "B", "Act", registry: registry) { try await body($0) }
        return try TestServer(registry: registry).connect()
    }

    @Test(arguments: [
        ("", []), ("done", ["  done"]), ("two\nlines", ["  two", "  lines"]), ("a\r\nb", ["  a", "  b"]),
        ("end\n", ["  end", "  "]), ("ok rev 99\nerror usage no", ["  ok rev 99", "  error usage no"]),
        ("bell\u{7}\u{1B}[31m", ["  bell\u{FFFD}\u{FFFD}[31m"]), ("a\u{2028}b\u{85}c", ["  a", "  b", "  c"]),
        ("left\u{202E}right", ["  left\u{FFFD}right"]),
    ])
    func theOutputIsIndentedAndControlCharactersAreReplaced(_ text: String, _ lines: [String]) throws {
        #expect(try client { _ in text }.ask("run A/B/Act") == lines + ["ok"])
    }

    @Test func anActionReceivesItsArguments() throws {
        let client = try client { $0.joined(separator: "|") }
        #expect(try client.ask("run A/B/Act one 'two words' \"a\\tb\"") == ["  one|two words|a\u{FFFD}b", "ok"])
    }

    @Test func anErrorOfAnActionIsReported() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no sound\nerror usage device" }
        let client = try client { _ in throw Failure() }
        #expect(try client.ask("run A/B/Act") == ["error action-failed A/B/Act: no sound\u{FFFD}error usage device"])
    }

    @Test func theOutputIsAStringInJSON() throws {
        let client = try client { _ in "two\nlines" }
        try client.send("json\nrun A/B/Act\n")
        #expect(try client.lines(2) == [#"{"ok":true}"#, #"{"ok":true,"output":"two\nlines"}"#])
    }

    /// More actions block their threads than there are cores; their time limits hold, and other actions run.
    @Test func blockingActionsDelayNoOthers() throws {
        let released = Gate()
        for number in 0..<8 {
            tweakAction("A", "Block", "Act \(number)", timeLimit: .milliseconds(1), registry: registry) { _ in
                released.waitBlocking()
                return "late"
            }
        }
        let server = try TestServer(registry: registry)
        defer { released.open() }
        for number in 0..<8 {
            let lines = try server.connect().ask("run \"A/Block/Act \(number)\"")
            #expect(lines.count == 1 && lines[0].hasPrefix("error timeout "))
        }
        #expect(try server.connect().ask("run Player/Audio/Mute") == ["  muted", "ok"])
    }

    // MARK: While an action runs

    @Test func anActionIsBusyUntilItEnds() throws {
        let action = BlockedAction(in: registry)
        let (_, client, other) = try TestServer(registry: registry).withTwoClients()
        try client.send("run A/B/Act\n")
        action.began.waitBlocking()
        #expect(try other.ask("run A/B/Act") == ["error busy A/B/Act is still running; try again when it has ended"])
        action.released.open()
        #expect(try client.reply() == ["  done", "ok"])
        #expect(try other.ask("run A/B/Act") == ["  done", "ok"])
    }

    @Test func anActionIsBusyPastItsTimeLimitUntilItEnds() throws {
        let action = BlockedAction(timeLimit: .milliseconds(1), in: registry)
        let client = try TestServer(registry: registry).connect()
        #expect(try client.status("run A/B/Act").hasPrefix("error timeout A/B/Act took longer than 1ms"))
        #expect(try client.status("run A/B/Act").hasPrefix("error busy"))
        action.released.open()
        // It ends soon; the next run may meet its time limit or not.
        var reply: [String]
        repeat { reply = try client.ask("run A/B/Act") } while reply.last?.hasPrefix("error busy") == true
        #expect(reply == ["  done", "ok"] || reply.last?.hasPrefix("error timeout") == true)
    }

    @Test func laterRequestsOfTheSessionWaitAndOtherSessionsDoNot() throws {
        let action = BlockedAction(in: registry)
        let (_, client, other) = try TestServer(registry: registry).withTwoClients()
        try client.send("ping\nrun A/B/Act\nset Content/Text/Size 72\nping\n")
        action.began.waitBlocking()
        #expect(try other.ask("get Content/Text/Size").first?.hasPrefix("Content/Text/Size = 60") == true)
        action.released.open()
        let replies = ["ok pong", "  done", "ok", "Content/Text/Size = 72      # was 60", "ok rev 1", "ok pong"]
        #expect(try client.lines(6) == replies)
    }

    @Test func eventsDoNotWaitForAnAction() throws {
        let action = BlockedAction(in: registry)
        let client = try TestServer(registry: registry).connect()
        try client.ask("watch Content/Text/Size")
        try client.send("run A/B/Act\n")
        action.began.waitBlocking()
        try registry["Content/Text/Size"]?.set(.number(72))
        #expect(try client.line().hasPrefix("event 1 "))
        action.released.open()
        #expect(try client.reply() == ["  done", "ok"])
    }

    @Test func anActionMayChangeTweaks() throws {
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let client = try client { _ in
            count.value += 1
            return "\(count.value)"
        }
        try client.ask("watch A/B/Count")
        try client.send("run A/B/Act\n")
        let lines = try client.lines(3)
        #expect(lines.filter { !$0.hasPrefix("event") } == ["  1", "ok"])
        #expect(lines.contains { $0.hasPrefix("event 1 A/B/Count = 1") })
    }
}
