// Sessions that ask for what takes its time and leave: what is left behind is bounded, and the server goes on.

import Dispatch
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct AbandonedTests {
    /// Everything that a session may wait for waits for this.
    private let goOn = Gate()

    /// The third such request is refused.
    private func server(isRequired: Bool = false, presetsWait: Bool = true) throws -> GatedServer {
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        limits.abandonedRequests = 2
        hooks.presets = try MemoryPresets(["warm": []], gate: presetsWait ? (Gate(), goOn) : nil)
        let (goOn, disk) = (goOn, DispatchQueue(label: "disk"))
        hooks.reload = { _, then in
            disk.async {
                goOn.waitBlocking()
                then(.ok("reloaded", []))
            }
        }
        hooks.presetNames = {
            goOn.waitBlocking()
            return ["warm"]
        }
        hooks.access.onRequest = { request in
            goOn.waitBlocking()
            request.allow()
        }
        return try GatedServer(isRequired: isRequired, limits: limits, hooks: hooks)
    }

    /// Sends lines, each from a session of its own that does not wait for the reply, until so many are left behind: until
    /// something else is refused, which would not have to wait.
    private func abandon(
        _ lines: String..., on server: GatedServer, _ other: TestClient, until probe: String = "find size",
        _ refusal: String = waiting
    ) throws {
        // One that leaves very early may take its line along.
        for line in Array(repeating: lines, count: 100).joined() {
            try send(line, server)
            try eventually(turning: server.stepped) { try other.ask("stats").contains("  sessions: 1") }
            if try other.ask(probe).last?.hasPrefix(refusal) == true { return }
        }
        Issue.record("nothing is left behind")
    }

    private static let waiting = "error busy 2 requests of sessions that have ended wait for a disk or a handler; "

    private func isBusy(_ line: String, _ client: TestClient) throws -> Bool {
        try client.ask(line).last?.hasPrefix(Self.waiting) == true
    }

    private func send(_ line: String, _ server: GatedServer) throws {
        let client = try server.connect()
        try client.send("ping\n\(line)\n")
        #expect(try client.reply() == ["ok pong"])
        client.reset()
    }

    @Test(
        arguments: [
            ("presets", "find size"), ("load warm", "complete l"), ("save cold", "find size"),
            ("diff warm", "find size"), ("swap warm", "find size"), ("delete warm", "find size"),
            ("complete load w", "presets"), ("reload", "presets"),
        ])
    func onlySoManyAreLeftBehind(_ line: String, _ probe: String) throws {
        let server = try server(presetsWait: probe != "presets")
        let client = try server.connect()
        try abandon(line, on: server, client, until: probe)
        #expect(try isBusy(line, client))
        // What is done at once does not share the fate.
        #expect(try client.ask("get Content/Text/Size").last == "ok")
        #expect(try client.ask("stats").contains { $0.contains("limitsHit: abandonedRequests ") })
        goOn.open()
        try eventually(turning: server.stepped) { try !isBusy(probe, client) }
        #expect(try client.ask("presets").last?.hasPrefix("ok") == true)
    }

    /// The program's handler takes its time with who asked for more.
    @Test func requests() throws {
        let server = try server()
        let client = try server.connect()
        try abandon("drop admin\nrequest admin", on: server, client)
        try client.ask("drop admin")
        #expect(try isBusy("request admin", client))
        goOn.open()
        try eventually(turning: server.stepped) { try !isBusy("request admin", client) }
        #expect(try client.ask("request admin") == ["ok granted admin"])
    }

    @Test func changesThatAreWrittenFirst() throws {
        let server = try server(isRequired: true)
        let client = try server.connect()
        try abandon("Content/Text/String = 1", "Content/Text/String = 2", on: server, client)
        #expect(try isBusy("Content/Text/String = 3", client))
        #expect(try client.ask("get Content/Text/String").first?.contains("= 3") == false)
        server.store.answerProposals()
        try eventually(turning: server.stepped) { try !isBusy("find size", client) }
        try client.send("Content/Text/String = 3\n")
        try server.waitForProposals(1)
        server.store.answerProposals()
        server.store.finish(1)
        #expect(try client.reply().last?.hasPrefix("ok rev 1") == true)
    }

    /// Who may only run actions takes nothing from the others.
    @Test func actions() throws {
        let server = try server()
        let goOn = goOn
        tweakAction("A", "B", "Act", concurrently: true, registry: server.registry) { _ in
            await goOn.wait()
            return "done"
        }
        tweakAction("A", "B", "Other", registry: server.registry) { _ in "done" }
        let client = try server.connect()
        let busy = "error busy 2 requests of sessions that have ended run actions; "
        try abandon("run A/B/Act", on: server, client, until: "run A/B/Other", busy)
        #expect(try client.ask("find size").last?.hasPrefix("ok") == true)
        goOn.open()
        try eventually(turning: server.stepped) { try client.ask("run A/B/Other").last?.hasPrefix(busy) != true }
        #expect(try client.ask("run A/B/Other") == ["  done", "ok"])
    }

    /// Too soon is no reason to type all of it again.
    @Test func aBatchStaysOpen() throws {
        let server = try server(isRequired: true)
        let client = try server.connect()
        try abandon("Content/Text/String = 1", on: server, client)
        try client.ask("begin")
        try client.ask("Content/Text/Size = 72")
        #expect(try isBusy("commit", client))
        server.store.answerProposals()
        try eventually(turning: server.stepped) { try !isBusy("find size", client) }
        try client.send("commit\n")
        try server.waitForProposals(1)
        server.store.answerProposals()
        server.store.finish(1)
        #expect(try client.reply().last?.hasPrefix("ok rev 1") == true)
    }
}
