// run: what an action prints, how it fails, and what waits for it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct ActionTests {
    /// A server with one action, `A/B/Act`.
    private func server(
        timeLimit: Duration = .seconds(3_600),
        _ body: @escaping @Sendable (TweakArguments) async throws -> String
    ) throws -> TestServer {
        let registry = ExampleTweaks().registry
        tweakAction("A", "B", "Act", timeLimit: timeLimit, registry: registry) { try await body($0) }
        return try TestServer(registry: registry)
    }

    @Test(arguments: [
        ("", []), ("done", ["  done"]), ("two\nlines", ["  two", "  lines"]), ("a\r\nb", ["  a", "  b"]),
        ("end\n", ["  end", "  "]), ("ok rev 99\nerror usage no", ["  ok rev 99", "  error usage no"]),
        ("bell\u{7}\u{1B}[31m", ["  bell\u{FFFD}\u{FFFD}[31m"]), ("a\u{2028}b\u{85}c", ["  a", "  b", "  c"]),
        ("left\u{202E}right", ["  left\u{FFFD}right"]),
    ])
    func printsItsText(_ text: String, _ lines: [String]) throws {
        let client = try server { _ in text }.connect()
        #expect(try client.ask("run A/B/Act") == lines + ["ok"])
    }

    @Test func takesArguments() throws {
        let client = try server { $0.joined(separator: "|") }.connect()
        #expect(try client.ask("run A/B/Act one 'two words' \"a\\tb\"") == ["  one|two words|a\u{FFFD}b", "ok"])
    }

    @Test func saysWhyItFailed() throws {
        struct Refusal: Error, CustomStringConvertible { let description = "no sound\nerror usage device" }
        let client = try server { _ in throw Refusal() }.connect()
        #expect(
            try client.ask("run A/B/Act") == ["error action-failed A/B/Act: no sound\u{FFFD}error usage device"])
    }

    @Test func answersInJSON() throws {
        let client = try server { _ in "two\nlines" }.connect()
        try client.send("json\nrun A/B/Act\n")
        #expect(try client.lines(2) == [#"{"ok":true}"#, #"{"ok":true,"output":"two\nlines"}"#])
    }

    /// Actions that block their threads, more of them than there are cores: their limits hold and others are run.
    @Test func blockingActionsHinderNobody() throws {
        let release = Gate()
        let registry = ExampleTweaks().registry
        for number in 0..<8 {
            tweakAction("A", "Block", "Act \(number)", timeLimit: .milliseconds(1), registry: registry) { _ in
                release.waitBlocking()
                return "late"
            }
        }
        let server = try TestServer(registry: registry)
        defer { release.open() }
        for number in 0..<8 {
            let lines = try server.connect().ask("run \"A/Block/Act \(number)\"")
            #expect(lines.count == 1 && lines[0].hasPrefix("error timeout "))
        }
        #expect(try server.connect().ask("run Player/Audio/Mute") == ["  muted", "ok"])
    }

    @Test func isNeverTwoAtOnce() throws {
        let (began, gate) = (Gate(), Gate())
        let server = try server { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let (one, other) = (try server.connect(), try server.connect())
        try one.send("run A/B/Act\n")
        began.waitBlocking()
        #expect(try other.ask("run A/B/Act") == ["error busy A/B/Act is still running; try again when it has ended"])
        gate.open()
        #expect(try one.reply() == ["  done", "ok"])
        #expect(try other.ask("run A/B/Act") == ["  done", "ok"])
    }

    @Test func isBusyPastItsTimeLimitUntilItEnds() throws {
        let gate = Gate()
        let server = try server(timeLimit: .milliseconds(1)) { _ in
            await gate.wait()
            return "done"
        }
        let client = try server.connect()
        #expect(try client.ask("run A/B/Act").last?.hasPrefix("error timeout A/B/Act took longer than 1ms") == true)
        #expect(try client.ask("run A/B/Act").last?.hasPrefix("error busy") == true)
        gate.open()
        // It ends soon; then it can be run again, and may be quick enough or not.
        var reply: [String]
        repeat { reply = try client.ask("run A/B/Act") } while reply.last?.hasPrefix("error busy") == true
        #expect(reply == ["  done", "ok"] || reply.last?.hasPrefix("error timeout") == true)
    }

    /// What stands behind it in the stream is answered behind it, and others are served meanwhile.
    @Test func keepsTheOrder() throws {
        let (began, gate) = (Gate(), Gate())
        let server = try server { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("ping\nrun A/B/Act\nset Content/Text/Size 72\nping\n")
        began.waitBlocking()
        #expect(try other.ask("get Content/Text/Size").first?.hasPrefix("Content/Text/Size = 60") == true)
        gate.open()
        #expect(
            try client.lines(6) == [
                "ok pong", "  done", "ok", "Content/Text/Size = 72      # was 60", "ok rev 1", "ok pong",
            ])
    }

    /// Events do not wait for an action's end.
    @Test func eventsComeMeanwhile() throws {
        let (began, gate) = (Gate(), Gate())
        let server = try server { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let client = try server.connect()
        try client.ask("watch Content/Text/Size")
        try client.send("run A/B/Act\n")
        began.waitBlocking()
        try server.registry["Content/Text/Size"]?.set(.number(72))
        #expect(try client.line().hasPrefix("event 1 "))
        gate.open()
        #expect(try client.reply() == ["  done", "ok"])
    }

    /// An action that sets a tweak sees it set; its caller sees the event.
    @Test func mayChangeTweaks() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        tweakAction("A", "B", "Act", registry: registry) { _ in
            count.value += 1
            return "\(count.value)"
        }
        let client = try TestServer(registry: registry).connect()
        try client.ask("watch A/B/Count")
        try client.send("run A/B/Act\n")
        let lines = try client.lines(3)
        #expect(lines.filter { !$0.hasPrefix("event") } == ["  1", "ok"])
        #expect(lines.contains { $0.hasPrefix("event 1 A/B/Count = 1") })
    }
}
