// Tests that slow requests of closed sessions are bounded, and that other requests are served meanwhile.

import Dispatch
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct OrphanedRequestTests {
    /// All slow requests wait for this.
    private let released = Gate()

    /// A server that refuses the third orphaned request.
    private func server(isRequired: Bool = false, presetsWait: Bool = true) throws -> GatedServer {
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        limits.abandonedRequests = 2
        hooks.presets = try MemoryPresets(["warm": []], gate: presetsWait ? (Gate(), released) : nil)
        let (released, disk) = (released, DispatchQueue(label: "disk"))
        hooks.reload = { _, then in
            disk.async {
                released.waitBlocking()
                then(.ok("reloaded", []))
            }
        }
        hooks.presetNames = {
            released.waitBlocking()
            return ["warm"]
        }
        hooks.access.onRequest = { request in
            released.waitBlocking()
            request.allow()
        }
        return try GatedServer(isRequired: isRequired, limits: limits, hooks: hooks)
    }

    /// Sends lines, each from a session that closes before the reply, until the limit is reached: until it refuses the
    /// probe, which would not have to wait.
    private func orphan(
        _ lines: String..., on server: GatedServer, _ other: TestClient, until probe: String = "find size",
        _ refusal: String = waiting
    ) throws {
        // A session that closes early may lose its line.
        for line in Array(repeating: lines, count: 100).joined() {
            do {
                let client = try server.connect()
                try client.send("ping\n\(line)\n")
                #expect(try client.reply() == ["ok pong"])
                client.reset()
            }
            try eventually(turning: server.stepped) { try other.stats("sessions") == "1" }
            if try other.status(probe).hasPrefix(refusal) { return }
        }
        Issue.record("no request is orphaned")
    }

    private static let waiting = "error busy 2 requests of sessions that have ended wait for a disk or a handler; "

    private func isBusy(_ line: String, _ client: TestClient) throws -> Bool {
        try client.status(line).hasPrefix(Self.waiting)
    }

    @Test(
        arguments: [
            ("presets", "find size"), ("load warm", "complete l"), ("save cold", "find size"),
            ("diff warm", "find size"), ("swap warm", "find size"), ("delete warm", "find size"),
            ("complete load w", "presets"), ("reload", "presets"),
        ])
    func requestsForADiskAreRefusedAtTheLimit(_ line: String, _ probe: String) throws {
        let (server, client) = try server(presetsWait: probe != "presets").withClient()
        try orphan(line, on: server, client, until: probe)
        #expect(try isBusy(line, client))
        // Immediate requests are not refused.
        #expect(try client.status("get Content/Text/Size") == "ok")
        #expect(try client.hasHit("abandonedRequests"))
        released.open()
        try eventually(turning: server.stepped) { try !isBusy(probe, client) }
        #expect(try client.status("presets").hasPrefix("ok"))
    }

    @Test func requestsForScopesAreRefusedAtTheLimit() throws {
        let (server, client) = try server().withClient()
        try orphan("drop admin\nrequest admin", on: server, client)
        try client.ask("drop admin")
        #expect(try isBusy("request admin", client))
        released.open()
        try eventually(turning: server.stepped) { try !isBusy("request admin", client) }
        #expect(try client.ask("request admin") == ["ok granted admin"])
    }

    @Test func changesThatMustBeWrittenAreRefusedAtTheLimit() throws {
        let (server, client) = try server(isRequired: true).withClient()
        try orphan("Content/Text/String = 1", "Content/Text/String = 2", on: server, client)
        #expect(try isBusy("Content/Text/String = 3", client))
        #expect(try client.ask("get Content/Text/String").first?.contains("= 3") == false)
        server.store.answerProposals()
        try eventually(turning: server.stepped) { try !isBusy("find size", client) }
        try client.send("Content/Text/String = 3\n")
        try server.answerProposals()
        server.store.finish(1)
        #expect(try client.status().hasPrefix("ok rev 1"))
    }

    @Test func aRefusedBatchStaysOpen() throws {
        let (server, client) = try server(isRequired: true).withClient()
        try orphan("Content/Text/String = 1", on: server, client)
        try client.ask("begin")
        try client.ask("Content/Text/Size = 72")
        #expect(try isBusy("commit", client))
        server.store.answerProposals()
        try eventually(turning: server.stepped) { try !isBusy("find size", client) }
        try client.send("commit\n")
        try server.answerProposals()
        server.store.finish(1)
        #expect(try client.status().hasPrefix("ok rev 1"))
    }

    @Test func actionsHaveALimitOfTheirOwn() throws {
        let (server, client) = try server().withClient()
        let released = released
        tweakAction(
            "A", "B", "Act", timeLimit: .seconds(3_600), concurrently: true, registry: server.registry
        ) { _ in
            await released.wait()
            return "done"
        }
        tweakAction("A", "B", "Other", registry: server.registry) { _ in "done" }
        let busy = "error busy 2 requests of sessions that have ended run actions; "
        try orphan("run A/B/Act", on: server, client, until: "run A/B/Other", busy)
        #expect(try client.status("find size").hasPrefix("ok"))
        released.open()
        try eventually(turning: server.stepped) { try !client.status("run A/B/Other").hasPrefix(busy) }
        #expect(try client.ask("run A/B/Other") == ["  done", "ok"])
    }
}
