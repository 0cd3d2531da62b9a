// Tests begin, commit and abort: all changes of a batch or none, also as other sessions see it.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct BatchTests {
    @Test func aBatchWithAnErrorIsRefusedWithTheFirstError() throws {
        let (server, client) = try TestServer().withClient()
        try client.ask("begin")
        #expect(try client.ask("set Content/Text/Size 72") == ["ok queued"])
        let error = try client.ask("set Content/Text/Size 500")
        #expect(error == ["error out-of-range Content/Text/Size: 500 is outside 10...100"])
        #expect(try client.ask("set Content/Text/String fine") == ["ok queued"])
        #expect(try client.status("set Content/Text/Nothing 1").hasPrefix("error unknown-tweak"))
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
        // The batch is closed.
        #expect(try client.status("set Content/Text/Size 72") == "ok rev 1")
    }

    @Test func changesApplyOnTopOfEarlierOnesOfTheBatch() throws {
        let (server, client) = try TestServer().withClient()
        try client.ask("Content/Text/Size = 100")
        try client.ask("begin")
        let increments = Array(repeating: "Content/Text/Size += 1", count: 80)
        for line in ["set Content/Text/Size 72", "Content/Text/Size = 10"] + increments {
            #expect(try client.ask(line) == ["ok queued"])
        }
        #expect(try client.ask("commit") == ["Content/Text/Size = 90      # was 100", "ok rev 2"])
        #expect(server.registry.revision == 2)
    }

    @Test func aBatchThatChangesNothingIsARevision() throws {
        let (server, client) = try TestServer().withClient()
        for line in ["begin", "Content/Text/Size = 50", "Content/Text/Size += 10"] { try client.ask(line) }
        #expect(try client.ask("commit") == ["Content/Text/Size = 60      # was 60", "ok rev 1"])
        #expect(server.registry.revision == 1)
    }

    @Test func errorsOfReadingCommandsDoNotSpoilABatch() throws {
        let client = try TestServer().connect()
        try client.ask("begin")
        #expect(try client.status("get Nothing").hasPrefix("error unknown-tweak"))
        #expect(try client.status("get").hasPrefix("error usage"))
        try client.ask("set Content/Text/Size 72")
        #expect(try client.ask("commit") == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
    }

    /// Each could be a malformed change.
    @Test(arguments: [
        "Content/Text/String = two words", "Content/Text/Size=72", "set Content/Text/Size", "reset",
        "sett Content/Text/Size 72", "set Content/Text/String \"open", "\u{1}",
    ])
    func aMalformedLineSpoilsABatch(_ line: String) throws {
        let (server, client) = try TestServer().withClient()
        try client.ask("begin")
        try client.ask("set Content/Text/Size 72")
        let error = try client.ask(line)
        #expect(error.last?.hasPrefix("error ") == true)
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
    }

    /// `abort` or the end of the connection.
    @Test(arguments: [("abort\n", ["ok aborted 1"]), ("", [])])
    func anEndedBatchChangesNothing(_ line: String, _ reply: [String]) throws {
        let (server, client) = try TestServer().withClient()
        #expect(try client.exchange("begin\nset Content/Text/Size 72\n\(line)") == ["ok rev 0", "ok queued"] + reply)
        #expect(server.registry.revision == 0)
    }

    @Test func otherSessionsSeeAllOrNothing() throws {
        let (server, writer, reader) = try TestServer().withTwoClients()
        try writer.ask("begin")
        try writer.ask("set Content/Text/Size 72")
        try writer.ask("set Content/Text/String Hello")
        #expect(try reader.ask("modified") == ["ok"])
        try writer.ask("commit")
        #expect(try reader.ask("modified").count == 3)
        #expect(server.registry.revision == 1)
    }

    // MARK: begin REVISION

    /// (change of another session, reply to commit, value afterwards)
    @Test(
        arguments: [
            ("set Content/Text/Size 80", ["error conflict Content/Text/Size changed in revision 1…"], 80),
            ("set Content/Text/String Hello", ["Content/Text/Size = 72      # was 60", "ok rev 2"], 72),
        ] as [(String, [String], Double)])
    func aTweakThatChangedSinceTheRevisionIsAConflict(_ change: String, _ reply: [String], _ value: Double) throws {
        let (server, client, other) = try TestServer().withTwoClients()
        #expect(try client.ask("begin 0") == ["ok rev 0"])
        try client.ask("set Content/Text/Size 72")
        try other.ask(change)
        #expect(Transcript.fits(try client.ask("commit").joined(separator: "\n"), reply.joined(separator: "\n")))
        #expect(server.registry["Content/Text/Size"]?.value == .number(value))
    }

    @Test(arguments: ["begin 1", "begin 18446744073709551615"]) func aFutureRevisionIsAConflict(_ line: String) throws {
        let (server, client) = try TestServer().withClient()
        let begun = try client.ask(line)
        try client.ask("set Content/Text/Size 72")
        #expect(try (begun + client.ask("commit")).contains { $0.hasPrefix("error conflict") })
        #expect(server.registry.revision == 0)
    }

    // MARK: Limits

    @Test func aBatchBeyondItsLimitIsRefused() throws {
        let (server, client) = try TestServer { $0.batchChanges = 2 }.withClient()
        try client.ask("begin")
        for value in [72, 73] { #expect(try client.ask("set Content/Text/Size \(value)") == ["ok queued"]) }
        let error = try client.ask("set Content/Text/Size 74")
        #expect(error.last?.hasPrefix("error too-many a batch holds at most 2 changes") == true)
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
    }

    @Test func tenThousandChangesFitByDefault() throws {
        let sets = String(repeating: "Content/Text/Size = 50\n", count: 10_001)
        let lines = try TestServer(hasThread: true).connect().exchange("begin\n\(sets)abort\n")
        #expect(lines.count { $0 == "ok queued" } == 10_000)
        #expect(lines[10_001].hasPrefix("error too-many"))
        #expect(lines.last == "ok aborted 10000")
    }
}
