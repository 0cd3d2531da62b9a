// Tests the routes of a fleet's page: what they show, what they write, and what they refuse.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite(.blocking) struct FleetPanelRouteTests {
    private static let draft = #"{"changes":[{"path":"Service/Pool/Size","old":"64","new":"80"}]}"#

    @Test func `The state, processes, holders, figures and history`() async throws {
        let host = try await FleetPanelHost()
        let state = try host.ask("GET", "/api/fleet")
        #expect(state.status == 200 && state.json["fleet"] as? String == "api" && state.json["live"] as? Int == 4)
        #expect(state.texts("problems").isEmpty && state.items("rollouts").isEmpty)
        let found = try host.ask("GET", "/api/fleet/processes?q=ZONE%3Deu+i")
        #expect(found.items("processes").map { $0["id"] as? String } == ["i0", "i2"])
        #expect(found.json["found"] as? Int == 2 && found.json["live"] as? Int == 4)
        let holders = try host.ask("GET", "/api/fleet/holders?path=Service/Pool/Size").items("tweaks")
        let held = try #require(holders.first?["held"] as? [[String: Any]])
        #expect(held.first?["count"] as? Int == 4 && held.first?["text"] as? String == "64, not yet reported")
        let figures = try host.ask("GET", "/api/fleet/figures")
        #expect(figures.texts("figures") == ["Service/Errors/Rate"])
        #expect(figures.texts("labels") == ["zone=eu", "zone=us"])
        let history = try host.ask("GET", "/api/fleet/history").items("history")
        #expect(history.map { $0["verb"] as? String } == ["set"] && history[0]["by"] as? String == "alice")
        await host.panel.stop()
    }

    @Test func `A draft changes nothing until it is written, and is gone then`() async throws {
        let host = try await FleetPanelHost()
        let revision = host.harness.etcd.revision
        try host.draft(.int(80))
        let check = try host.post("check", #"{"changes":[{"path":"Service/Pool/Size"}]}"#)
        let change = try #require(check.items("changes").first)
        #expect(change["old"] as? String == "64" && change["new"] as? String == "80")
        #expect(check.json["live"] as? Int == 4 && check.texts("refusals").isEmpty)
        #expect(host.harness.etcd.revision == revision)
        #expect(try await host.value() == .int(64))
        let done = try host.post("write", Self.draft)
        #expect(done.status == 200 && done.json["entry"] as? Int == 2)
        #expect(try await host.value() == .int(80))
        let tweak = try #require(host.panel.board.registry[FleetPanelHost.size])
        #expect(tweak.value == .int(80) && tweak.layers.last?.layer == .fleet)
        await host.panel.stop()
    }

    @Test func `What has changed since it was shown is not written`() async throws {
        let host = try await FleetPanelHost()
        try host.draft(.int(80))
        _ = try await host.harness.fleet(by: "bob").set([try host.harness.assignment(FleetPanelHost.size, .int(70))])
        let other = try host.post("write", Self.draft)
        #expect(other.status == 409 && other.message == "Service/Pool/Size is 70 now, and not 64; look again")
        try host.draft(.int(81))
        let moved = try host.post("write", Self.draft.replacing("64", with: "70"))
        #expect(moved.message == "the draft of Service/Pool/Size is 81 now, and not 80; look again")
        #expect(try await host.value() == .int(70))
        await host.panel.stop()
    }

    @Test func `The fleet's value is removed for all, and an entry is undone`() async throws {
        let host = try await FleetPanelHost()
        let reset = #"{"changes":[{"path":"Service/Pool/Size","old":"64","reset":true}]}"#
        #expect(try host.post("check", reset).items("changes").first?["new"] is NSNull)
        #expect(try host.post("write", reset).status == 200)
        #expect(try await host.value() == nil)
        let tweak = try #require(host.panel.board.registry[FleetPanelHost.size])
        #expect(tweak.value == .int(32))
        #expect(try host.post("undo", #"{"entry":"2"}"#).status == 200)
        #expect(try await host.value() == .int(64))
        #expect(tweak.value == .int(64))
        await host.panel.stop()
    }

    @Test func `Builds and freezes refuse, with the reason`() async throws {
        let host = try await FleetPanelHost()
        let other = TweakRegistry()
        _ = try other.register("Service", "Pool", "Size", 8, in: 0...70)
        let build = FleetBuild(other)
        host.harness.etcd.put(host.harness.keys.build(build.hash), build.bytes)
        host.harness.register("old", build: build.hash)
        try host.draft(.int(80))
        let check = try host.post("check", #"{"changes":[{"path":"Service/Pool/Size"}]}"#)
        let refusal = try #require(check.texts("refusals").first)
        #expect(refusal.contains("1 process, refuses it") && refusal.contains("0...70"), "\(refusal)")
        #expect(try host.post("write", Self.draft).message == refusal)
        #expect(try await host.value() == .int(64))
        _ = try await host.fleet.freeze("friday", because: "no changes on Fridays")
        let frozen = try host.post("write", Self.draft.replacing("}]}", with: "}],\"force\":true}"))
        #expect(frozen.status == 409 && frozen.message.contains("no changes on Fridays"))
        let problem = try host.post("check", #"{"changes":[{"path":"Service/Pool/Size"}]}"#).json["problem"] as? String
        #expect(problem?.contains("friday") == true)
        _ = try await host.fleet.unfreeze("friday")
        #expect(try host.post("write", Self.draft.replacing("}]}", with: "}],\"force\":true}")).status == 200)
        #expect(try await host.value() == .int(80))
        await host.panel.stop()
    }

    @Test func `A secret is neither shown nor written`() async throws {
        let host = try await FleetPanelHost()
        try host.draft(.string("hunter2"), of: "Service/Auth/Key")
        let change = #"{"changes":[{"path":"Service/Auth/Key","new":"hunter2"}],"force":true}"#
        for target in ["check", "write", "rollouts"] {
            let body = target == "check" ? change.replacing(",\"force\":true", with: "") : change
            let answer = try host.post(target, body)
            #expect(answer.status == 409 && answer.message.contains("is secret"), "\(target): \(answer)")
        }
        #expect(!host.harness.etcd.snapshot.contains { String(decoding: $0.value, as: UTF8.self).contains("hunter2") })
        await host.panel.stop()
    }

    @Test func `Where a drive service leads, that drives what is begun and resumed here`() async throws {
        let host = try await FleetPanelHost(processes: 8)
        let service = FleetDriver(host: "ops-1", pid: 7, by: "service", at: 0)
        _ = try await host.harness.fleet().runForLeader(service, seconds: 20)
        try host.draft(.int(80))
        let plan = #"{"changes":[{"path":"Service/Pool/Size","old":"64","new":"80"}],"steps":"50,100","every":"60s"}"#
        #expect(try host.post("rollouts", plan).json["rollout"] as? String == "r1")
        let begun = try #require(try await host.harness.rollout())
        #expect(begun.value.isHanded && begun.value.lifetime == DriveService.patience)
        #expect(try await host.harness.fleet().drivers().isEmpty)
        #expect(try host.post("rollouts/r1/pause", "{}").status == 200)
        #expect(try host.post("rollouts/r1/resume", "{}").status == 200)
        #expect(try await host.harness.rollout()?.value.state == .open)
        #expect(try await host.harness.fleet().drivers().isEmpty)
        await host.panel.stop()
        #expect(try await host.harness.rollout() != nil)
    }

    @Test func `A rollout is rehearsed, begun, steered and ended`() async throws {
        let host = try await FleetPanelHost(processes: 8)
        try host.draft(.int(80))
        let plan = #"{"changes":[{"path":"Service/Pool/Size","old":"64","new":"80"}],"steps":"50,100","every":"60s","#
        let conditions = #""where":["zone=eu"],"abortIf":["Service/Errors/Rate > 5"]"#
        let dry = try host.post("rollouts", plan + conditions + #","dry":true}"#)
        #expect(dry.json["eligible"] as? Int == 4 && dry.items("reach").count == 2, "\(dry)")
        #expect(try await host.harness.rollout() == nil)
        let begun = try host.post("rollouts", plan + conditions + "}")
        #expect(begun.json["rollout"] as? String == "r1", "\(begun)")
        var record = try #require(try await host.harness.rollout())
        #expect(record.value.share.number == "50" && record.lease != 0)
        let shown = try #require(try host.ask("GET", "/api/fleet").items("rollouts").first)
        #expect(shown["own"] as? Bool == true && shown["share"] as? String == "50")
        #expect(try host.post("rollouts/r1/pause", "{}").status == 200)
        record = try #require(try await host.harness.rollout())
        #expect(record.value.state == .paused)
        #expect(try host.post("rollouts/r1/resume", "{}").status == 200)
        #expect(try host.post("rollouts/r1/finish", "{}").message.contains("is at 50 %"))
        #expect(try host.post("rollouts/r1/abort", "{}").status == 200)
        #expect(try await host.harness.rollout() == nil)
        #expect(try await host.value() == .int(64))
        await host.panel.stop()
    }

    @Test func `The end of the page ends its drivers, and reverts what they drive`() async throws {
        for (keeps, expected) in [(false, Rollout.State?.none), (true, .open)] {
            let host = try await FleetPanelHost()
            try host.draft(.int(80))
            let body = Self.draft.dropLast() + #","keep":\#(keeps),"steps":"100"}"#
            #expect(try host.post("rollouts", String(body)).status == 200)
            await host.panel.stop()
            #expect(try await host.harness.rollout()?.value.state == expected)
            #expect(try await host.fleet.drivers().isEmpty)
        }
    }

    @Test func `A change by another operator answers a poll, and is a value of the page`() async throws {
        let host = try await FleetPanelHost()
        let number = try #require(try host.ask("GET", "/api/fleet").json["number"] as? Int)
        _ = try await host.harness.fleet(by: "bob").set([try host.harness.assignment(FleetPanelHost.size, .int(70))])
        #expect(try host.ask("GET", "/api/fleet?after=\(number)").json["number"] as? Int != number)
        try await until(host) { _ in host.panel.board.registry[FleetPanelHost.size]?.value == .int(70) }
        await host.panel.stop()
    }

    @Test(arguments: [
        ("check", "[]", "the body must be a JSON object"), ("check", "{", "the body is not JSON"),
        ("check", "{}", "changes is missing"),
        ("check", #"{"changes":[]}"#, "changes must be a list of one change or more"),
        ("check", #"{"changes":[7]}"#, "change 1 must be a JSON object"),
        ("check", #"{"changes":[{"path":"A/B"}]}"#, "A/B"),
        ("check", #"{"changes":[{"path":"A/B/C","value":1}]}"#, "there is no field “value”"),
        ("check", #"{"changes":[{"path":"A/B/C"}],"force":true}"#, "there is no field “force”"),
        ("write", #"{"changes":[{"path":"Service/Pool/Size","new":"80"}]}"#, "has no draft any more"),
        (
            "write", #"{"changes":[{"path":"A/B/C","new":"1"},{"path":"A/B/D","reset":true}]}"#,
            "either drafts or resets"
        ),
        ("write", #"{"changes":[{"path":"A/B/C","new":"1"},{"path":"A/B/C","new":"2"}]}"#, "name each path once"),
        ("write", #"{"changes":[{"path":"A/B/C","new":1}]}"#, "new must be a text in quotes"),
        ("undo", #"{"entry":"x"}"#, "entry must be the number of an entry"),
        ("undo", #"{"entry":"99"}"#, "no entry 99"),
        ("rollouts", #"{"changes":[{"path":"A/B/C","reset":true}]}"#, "a rollout sets values"),
        ("rollouts/r9/pause", "{}", "there is no rollout"),
        ("rollouts/r9/stop", "{}", "use pause, resume, abort or finish"),
        ("rollouts/r9/abort", #"{"force":true}"#, "there is no field “force”"), ("nowhere", "{}", "is no request here"),
        ("rollouts/r1", "{}", "is no request here"),
    ])
    func `A bad body is refused with the reason`(_ target: String, _ body: String, _ reason: String) async throws {
        let host = try await FleetPanelHost()
        let revision = host.harness.etcd.revision
        let answer = try host.post(target, body)
        #expect([400, 409].contains(answer.status) && answer.message.contains(reason), "\(answer)")
        #expect(host.harness.etcd.revision == revision)
        await host.panel.stop()
    }

    @Test(arguments: [
        (#""steps":"10,5""#, "steps: 10,5 does not grow"), (#""every":"5""#, "every: “5” is not a duration"),
        (#""every":"1s""#, "every: 1s is not between 60s"), (#""where":["zone"]"#, "where: “zone” is not a label"),
        (#""where":["zone=mars"]"#, "none of 4 processes has these labels"),
        (#""abortIf":["x"]"#, "abort-if: “x” is not a condition"), (#""abortIf":["A/B/C > 1"]"#, "no build has A/B/C"),
        (#""abortIf":"x""#, "abortIf must be a list of texts"), (#""keep":1"#, "keep must be true or false"),
        (#""detach":true"#, "there is no field “detach”"),
    ])
    func `A bad plan is refused with the reason`(_ fields: String, _ reason: String) async throws {
        let host = try await FleetPanelHost()
        try host.draft(.int(80))
        let revision = host.harness.etcd.revision
        for end in [#","dry":true}"#, "}"] {
            let body = #"{"changes":[{"path":"Service/Pool/Size","old":"64","new":"80"}],\#(fields)"#
            let answer = try host.post("rollouts", body + end)
            #expect([400, 409].contains(answer.status) && answer.message.contains(reason), "\(answer)")
        }
        #expect(host.harness.etcd.revision == revision)
        await host.panel.stop()
    }

    @Test func `Requests need a token, this origin, JSON and a known method`() async throws {
        let host = try await FleetPanelHost()
        try host.draft(.int(80))
        let revision = host.harness.etcd.revision
        #expect(try host.ask("GET", "/api/fleet", token: "").status == 401)
        #expect(try host.ask("POST", "/api/fleet/write", Self.draft, token: "").status == 401)
        let (other, evil) = ("twk_" + String(repeating: "A", count: 43), ["Origin: http://evil.test"])
        #expect(try host.ask("POST", "/api/fleet/write", Self.draft, token: other).status == 401)
        #expect(try host.ask("POST", "/api/fleet/write", Self.draft, headers: evil).status == 403)
        #expect(try host.ask("GET", "/api/fleet", headers: evil).status == 403)
        #expect(try host.ask("DELETE", "/api/fleet/rollouts/r1").status == 400)
        #expect(try host.ask("GET", "/api/fleet/write").status == 400)
        #expect(try host.ask("GET", "/api/fleet?after=x").message.contains("after must be the number of a state"))
        #expect(try host.ask("GET", "/api/fleet?after=1&after=2").message.contains("occurs 2 times"))
        #expect(try host.ask("GET", "/api/fleet/holders?path=x").status == 400)
        #expect(host.harness.etcd.revision == revision)
        await host.panel.stop()
    }

    @Test func `An etcd that does not answer is told, and the page goes on when it does`() async throws {
        let host = try await FleetPanelHost()
        host.harness.etcd.setFaults { $0.isUnreachable = true }
        let answer = try host.post("write", #"{"changes":[{"path":"Service/Pool/Size","reset":true}]}"#)
        #expect(answer.status == 504 && answer.message.contains("the test's etcd"), "\(answer)")
        try await until(host) { $0.texts("problems").contains { $0.contains("the test's etcd") } }
        host.harness.etcd.setFaults { $0.isUnreachable = false }
        try await until(host) { $0.texts("problems").isEmpty }
        await host.panel.stop()
    }

    @Test func `A restored etcd is shown, although its revisions are lower`() async throws {
        let host = try await FleetPanelHost()
        let (pairs, revision) = (host.harness.etcd.snapshot, host.harness.etcd.revision)
        _ = try await host.fleet.set([try host.harness.assignment(FleetPanelHost.size, .int(70))])
        try await until(host) { _ in host.panel.board.registry[FleetPanelHost.size]?.value == .int(70) }
        host.harness.etcd.restore(pairs, clusterID: 0xDEF, revision: revision)
        try await until(host) { _ in host.panel.board.registry[FleetPanelHost.size]?.value == .int(64) }
        host.harness.register("late") { $0.started = 2_000 }
        try await until(host) { $0.json["live"] as? Int == 5 }
        await host.panel.stop()
    }

    @Test func `A rollout that its driver has left is driven on from here`() async throws {
        let host = try await FleetPanelHost()
        var plan = try host.harness.plan(FleetPanelHost.size, .int(80))
        plan.steps = [try #require(Share(percent: "50")), .all]
        _ = try await host.fleet.begin(plan)
        let state = { () -> [String: Any]? in try? host.ask("GET", "/api/fleet").items("rollouts").first }
        try await until(host) { $0.items("rollouts").first?["own"] as? Bool == false }
        #expect(try host.post("rollouts/r1/resume", "{}").status == 200)
        #expect(state()?["own"] as? Bool == true && state()?["note"] is NSNull)
        #expect(try host.post("rollouts/r1/resume", "{}").message.contains("rollout r1 is driven by alice"))
        #expect(try host.post("rollouts/r1/finish", #"{"force":true}"#).status == 200)
        #expect(try await host.value() == .int(80))
        try await until(host) { $0.items("ended").first?["text"] as? String == "finished by alice" }
        await host.panel.stop()
    }

    /// Polls for newer states until one fits.
    private func until(_ host: FleetPanelHost, _ fits: (FleetPanelHost.Answer) -> Bool) async throws {
        var answer = try host.ask("GET", "/api/fleet")
        while !fits(answer) {
            answer = try host.ask("GET", "/api/fleet?after=\(try #require(answer.json["number"] as? Int))")
        }
    }
}
