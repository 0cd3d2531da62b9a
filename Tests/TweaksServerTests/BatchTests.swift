// begin, commit, abort: all or nothing, in the eyes of other sessions too.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct BatchTests {
    @Test func anErrorSpoilsTheBatch() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.ask("begin")
        #expect(try client.ask("set Content/Text/Size 72") == ["ok queued"])
        let error = try client.ask("set Content/Text/Size 500")
        #expect(error == ["error out-of-range Content/Text/Size: 500 is outside 10...100"])
        #expect(try client.ask("set Content/Text/String fine") == ["ok queued"])
        #expect(try client.ask("set Content/Text/Nothing 1").last?.hasPrefix("error unknown-tweak") == true)
        // The first error, not the last one.
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
        // And the batch is over.
        #expect(try client.ask("set Content/Text/Size 72").last == "ok rev 1")
    }

    /// However many they are, each is judged on top of those before it.
    @Test func manyRelativeChangesAddUp() throws {
        let client = try TestServer().connect()
        try client.ask("Content/Text/Size = 100")
        try client.ask("begin")
        #expect(try client.ask("Content/Text/Size = 10") == ["ok queued"])
        for _ in 0..<80 { #expect(try client.ask("Content/Text/Size += 1") == ["ok queued"]) }
        #expect(try client.ask("commit") == ["Content/Text/Size = 90      # was 100", "ok rev 2"])
    }

    /// Only what would change something can spoil it.
    @Test func otherErrorsDoNot() throws {
        let client = try TestServer().connect()
        try client.ask("begin")
        #expect(try client.ask("get Nothing").last?.hasPrefix("error unknown-tweak") == true)
        #expect(try client.ask("get").last?.hasPrefix("error usage") == true)
        try client.ask("set Content/Text/Size 72")
        #expect(try client.ask("commit") == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
    }

    /// What was not understood may have been meant to change something.
    @Test(arguments: [
        "Content/Text/String = two words", "Content/Text/Size=72", "set Content/Text/Size", "reset",
        "sett Content/Text/Size 72", "set Content/Text/String \"open", "\u{1}",
    ])
    func aMalformedLineSpoilsItToo(_ line: String) throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.ask("begin")
        try client.ask("set Content/Text/Size 72")
        let error = try client.ask(line)
        #expect(error.last?.hasPrefix("error ") == true)
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
    }

    @Test func abortDropsIt() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.ask("begin")
        try client.ask("set Content/Text/Size 72")
        #expect(try client.ask("abort") == ["ok aborted 1"])
        #expect(server.registry.revision == 0)
    }

    @Test func closingAborts() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.send("begin\nset Content/Text/Size 72\n")
        client.endInput()
        #expect(try client.restOfLines() == ["ok rev 0", "ok queued"])
        #expect(server.registry.revision == 0)
    }

    @Test func ofTheSamePathTwiceTheLastWins() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.ask("begin")
        try client.ask("set Content/Text/Size 72")
        try client.ask("Content/Text/Size = 50")
        // Relative to what stands before it in the batch.
        try client.ask("Content/Text/Size += 10")
        #expect(try client.ask("commit") == ["Content/Text/Size = 60      # was 60", "ok rev 1"])
        #expect(server.registry.revision == 1)
    }

    @Test func othersSeeAllOrNothing() throws {
        let server = try TestServer()
        let (writer, reader) = (try server.connect(), try server.connect())
        try writer.ask("begin")
        try writer.ask("set Content/Text/Size 72")
        try writer.ask("set Content/Text/String Hello")
        #expect(try reader.ask("modified") == ["ok"])
        try writer.ask("commit")
        #expect(try reader.ask("modified").count == 3)
        #expect(server.registry.revision == 1)
    }

    @Test func refusesWhatChangedMeanwhile() throws {
        let server = try TestServer()
        let (one, other) = (try server.connect(), try server.connect())
        #expect(try one.ask("begin 0") == ["ok rev 0"])
        try one.ask("set Content/Text/Size 72")
        try other.ask("set Content/Text/Size 80")
        let reply = try one.ask("commit")
        #expect(reply.count == 1)
        #expect(reply.last?.hasPrefix("error conflict Content/Text/Size changed in revision 1") == true)
        #expect(server.registry["Content/Text/Size"]?.value == .number(80))
    }

    @Test func goesOnWhenSomethingElseChanged() throws {
        let server = try TestServer()
        let (one, other) = (try server.connect(), try server.connect())
        try one.ask("begin 0")
        try one.ask("set Content/Text/Size 72")
        try other.ask("set Content/Text/String Hello")
        #expect(try one.ask("commit").last == "ok rev 2")
    }

    @Test(arguments: ["begin 1", "begin 18446744073709551615"])
    func refusesAnUnknownRevision(_ line: String) throws {
        let server = try TestServer()
        let client = try server.connect()
        let begun = try client.ask(line)
        try client.ask("set Content/Text/Size 72")
        let replies = try begun + client.ask("commit")
        #expect(replies.contains { $0.hasPrefix("error conflict") })
        #expect(server.registry.revision == 0)
    }

    @Test func holdsSoManyChanges() throws {
        var limits = TweakServerLimits()
        limits.batchChanges = 2
        let server = try TestServer(limits: limits)
        let client = try server.connect()
        try client.ask("begin")
        #expect(try client.ask("set Content/Text/Size 72") == ["ok queued"])
        #expect(try client.ask("set Content/Text/Size 73") == ["ok queued"])
        let error = try client.ask("set Content/Text/Size 74")
        #expect(error.last?.hasPrefix("error too-many a batch holds at most 2 changes") == true)
        #expect(try client.ask("commit") == error)
        #expect(server.registry.revision == 0)
    }

    @Test func holdsTenThousandByDefault() throws {
        let client = try TestServer(hasThread: true).connect()
        let sets = (1...10_001).map { _ in "Content/Text/Size = 50\n" }.joined()
        try client.send("begin\n" + sets + "abort\n")
        client.endInput()
        let lines = try client.restOfLines()
        #expect(lines.count(where: { $0 == "ok queued" }) == 10_000)
        #expect(lines[10_001].hasPrefix("error too-many"))
        #expect(lines.last == "ok aborted 10000")
    }
}
