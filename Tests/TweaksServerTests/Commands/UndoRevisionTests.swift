// Tests that undo and redo with a revision apply to the change of that revision alone, and that a drag is one step.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct UndoRevisionTests {
    private let client: TestClient
    private let server: TestServer
    private let clock = ManualClock()
    private let size: Tweak<Int>

    init() throws {
        let registry = TweakRegistry(
            now: { [clock] in clock.now }, sleep: { [clock] in try await clock.sleep(until: $0) })
        size = Tweak("A", "B", "Size", 60, registry: registry)
        _ = Tweak("A", "B", "Count", 1, registry: registry)
        server = try TestServer(registry: registry)
        client = try server.connect()
        try client.ask("set A/B/Size 61")
        try client.ask("set A/B/Count 2")
    }

    @Test func onlyTheLastChangeIsUndone() throws {
        #expect(
            try client.status("undo 1").hasPrefix("error conflict the change to undo is now that of revision 2, by uid")
        )
        #expect(try client.ask("undo 2").first == "A/B/Count = 1               # was 2")
        #expect(try client.status("undo 1").hasPrefix("ok rev 4 undid 1 by"))
        #expect(
            try client.status("undo 1") == "error conflict there is nothing to undo; history lists the last commits")
    }

    @Test func onlyTheChangeThatWasUndoneLastIsRedone() throws {
        for line in ["undo", "undo"] { try client.ask(line) }
        #expect(
            try client.status("redo 2").hasPrefix("error conflict the change to redo is now that of revision 1, by"))
        #expect(try client.status("redo 1").hasPrefix("ok rev 5 redid 1 by"))
        #expect(try client.status("redo mine 2").hasPrefix("ok rev 6 redid 2 by"))
    }

    @Test(arguments: ["undo force 1", "undo mine 1"]) func keywordsStandBeforeIt(_ line: String) throws {
        #expect(try client.status(line).hasPrefix("error conflict the change to undo is now"))
        #expect(try client.status(line.replacing("1", with: "2")).hasPrefix("ok rev 3 undid 2"))
    }

    @Test(arguments: ["undo x", "undo 1 2", "undo -1", "redo 1 force"]) func otherArgumentsAreRefused(
        _ line: String
    ) throws {
        #expect(try client.status(line).hasPrefix("error usage "))
    }

    /// However long the pauses are, and also as text, which has a faster path.
    @Test(arguments: [false, true]) func aDragIsOneStep(_ isJSON: Bool) throws {
        func ask(_ line: String) throws {
            try client.send(line + "\n")
            // In text a change has a line of its own before the status.
            _ = try client.line()
            if !isJSON, line.hasPrefix("set ") { _ = try client.line() }
        }
        if isJSON { try ask("json on") }
        try ask("drag on")
        for value in 70...72 {
            clock.advance(by: .seconds(20))
            try ask("set A/B/Size \(value)")
        }
        try ask("drag off")
        clock.advance(by: .seconds(20))
        try ask("set A/B/Size 80")
        for _ in 0..<2 { try client.send("undo\n") }
        try ask("ping")
        #expect(size.value == 61)
    }
}
