// Tests that undo and redo with a revision apply to the change of that revision alone.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct UndoRevisionTests {
    private let client: TestClient
    private let server: TestServer

    init() throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "Size", 60, registry: registry)
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
}
