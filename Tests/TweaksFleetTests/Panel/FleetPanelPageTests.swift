// Tests the page of a fleet in a browser: drafts, rollouts with their charts, processes, the log, and hostile texts.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.browsing, .tags(.browser), .needsBrowser) struct FleetPanelPageTests {
    @Test func `A slider makes a draft, which reaches the fleet once it is confirmed`() async throws {
        try await FleetPage.visit(try await FleetPanelHost()) { page in
            let (host, etcd) = (page.host, page.host.harness.etcd)
            try page.wait("part('Service/Pool/Size', 'field').value === '64'")
            let revision = etcd.revision
            try page.drag(x: 40)
            try page.wait("one('drafts')?.innerText.includes('1 draft: nothing is changed in api yet')")
            try page.wait("part('Service/Pool/Size', 'origin').textContent.startsWith('draft by ')")
            #expect(etcd.revision == revision)
            try page.click("set-all")
            try page.wait("dialog().includes('4 processes: 64')")
            try page.wait("one('confirm')?.innerText === 'Set for all 4 processes'")
            try page.click("cancel")
            try page.wait("!byID('ask').open && one('drafts')")
            #expect(etcd.revision == revision)
            try page.click("set-all")
            try page.confirm()
            try page.wait("!one('drafts')")
            let value = try #require(try await host.value())
            #expect(value != .int(64) && etcd.revision > revision)
            try page.wait("part('Service/Pool/Size', 'field').value === given[0]", .string(value.text))
        }
    }

    @Test func `Discarded drafts are gone, and changes of another operator appear`() async throws {
        try await FleetPage.visit(try await FleetPanelHost()) { page in
            try page.drag(x: 40)
            try page.click("discard")
            try page.wait("!one('drafts') && part('Service/Pool/Size', 'field').value === '64'")
            let assignment = try page.host.harness.assignment(FleetPanelHost.size, .int(70))
            _ = try await page.host.harness.fleet(by: "bob").set([assignment])
            try page.wait("part('Service/Pool/Size', 'field').value === '70'")
            try page.open("log")
            try page.wait("pane().includes('bob') && pane().includes('64 → 70')")
            try page.ask("document.querySelector('[data-entry=\"2\"] button').click()")
            try page.confirm()
            try page.wait("part('Service/Pool/Size', 'field').value === '64' && pane().includes('undo')")
            #expect(try await page.host.value() == .int(64))
        }
    }

    @Test func `The fleet's value is reset for all from the menu of its row`() async throws {
        try await FleetPage.visit(try await FleetPanelHost()) { page in
            try page.click("more", of: FleetPanelHost.size)
            try page.click("menu-holders")
            try page.wait("dialog().includes('4 processes: 64, not yet reported')")
            try page.click("cancel")
            try page.click("more", of: FleetPanelHost.size)
            try page.click("menu-reset-all")
            try page.wait("dialog().includes('no value of the fleet')")
            try page.confirm()
            try page.wait("part('Service/Pool/Size', 'field').value === '32'")
            #expect(try await page.host.value() == nil)
        }
    }

    @Test func `A refused write shows the reason, and can be forced`() async throws {
        let host = try await FleetPanelHost()
        let other = TweakRegistry()
        _ = try other.register("Service", "Pool", "Size", 8, in: 0...40)
        let build = FleetBuild(other)
        host.harness.etcd.put(host.harness.keys.build(build.hash), build.bytes)
        host.harness.register("old", build: build.hash)
        try await FleetPage.visit(host, expecting: [FleetPage.refused(409)]) { page in
            try page.wait("row('Service/Pool/Size').innerText.includes('builds differ')")
            try page.drag(x: 60)
            try page.click("set-all")
            try page.wait("one('refusals')?.innerText.includes('0...40') && one('confirm').disabled")
            try page.click("force")
            try page.wait("!one('confirm').disabled")
            _ = try await host.fleet.freeze("friday", because: "no changes on Fridays")
            try page.click("confirm")
            try page.wait("dialog().includes('api is frozen') && dialog().includes('no changes on Fridays')")
            try page.wait("one('problems').innerText.includes('no changes on Fridays')")
            #expect(try await host.value() == .int(64))
        }
    }

    @Test func `A rollout begins, shows its progress and its figures, and is paused and aborted`() async throws {
        try await FleetPage.visit(try await FleetPanelHost(processes: 8)) { page in
            let host = page.host
            try page.drag(x: 40)
            try await begin(page)
            #expect(try await host.harness.rollout()?.value.share.number == "50")
            try page.wait("pane().includes('open at 50 %') && one('progress').innerText.includes('0 reported')")
            try await host.report(8) { number, status in
                status.metrics = ["Service/Errors/Rate": number % 2 == 0 ? 3 : 2]
                status.sampledAt = status.at
            }
            let members = try Self.members
            try page.wait(
                "one('progress').innerText.includes(given[0])",
                .string("\(members.processes), \(members) reported, 0 refused"))
            try page.wait("one('members').innerText !== 'none yet' && one('figure').querySelector('svg')")
            try page.wait("row('Service/Pool/Size').innerText.includes('rollout r1 at 50 %')")
            try page.click("pause")
            try page.wait("dialog().includes('It stays at 50 %')")
            try page.confirm()
            try page.wait("pane().includes('paused at 50 %')")
            #expect(try await host.harness.rollout()?.value.state == .paused)
            try page.click("abort")
            try page.wait("dialog().includes('go back: Service/Pool/Size to 64')")
            try page.confirm()
            try page.wait("pane().includes('No rollouts') && pane().includes('reverted: alice aborted it')")
            #expect(try await host.harness.rollout() == nil)
            #expect(try await host.value() == .int(64))
        }
    }

    /// How many of eight processes half of the rollout `r1` includes.
    private static var members: Int {
        get throws {
            let rollout = try Rollout("r1", [FleetPanelHost.size: .int(1)], share: #require(Share(percent: "50")))
            return (0..<8).count { rollout.includes(FleetInstance(id: "i\($0)")) }
        }
    }

    /// Begins a rollout of the drafts to half of the processes, with a condition.
    private func begin(_ page: FleetPage) async throws {
        try page.click("roll-out")
        try page.type("50,100", over: "steps")
        try page.type("60s", over: "every")
        try page.click("add-condition")
        let members = try Self.members
        try page.wait(
            "one('reach')?.innerText.includes(given[0])",
            .string("Of 8 processes the steps reach 50 %: \(members), 100 %: 8"))
        try page.attachPictures("fleet-roll-out")
        try page.expectAccessible("the plan of a rollout")
        try page.wait("one('confirm').innerText === given[0]", .string("Begin with \(members.processes)"))
        try page.confirm()
        try page.wait("byID('drawer').open && pane().includes('r1')")
    }

    @Test func `A chart has a line for members, one for others and the limit, with a gap where nothing was sent`()
        async throws
    {
        try await FleetPage.visit(try await FleetPanelHost()) { page in
            try page.open("rollouts")
            let lines = try page.ask(
                """
                (async () => {
                    const main = document.querySelector('script[src$="fleet/main.js"]').src;
                    const { chartOf } = await import(main.replace('main.js', 'chart.js'));
                    const samples = Array.from({ length: 60 }, (_, index) => [1_000_000 + 2_000 * index,
                        index > 20 && index < 30 ? null : 4 + Math.sin(index / 5), 2 + Math.cos(index / 9) / 3]);
                    const chart = (text, relative) => chartOf(
                        { text, path: 'Service/Errors/Rate', limit: relative ? 2 : 5, relative, samples }, 1);
                    byID('pane').replaceChildren(chart('Rate > 2 × others', true), chart('Rate > 5', false),
                        chartOf({ text: 'Rate > 5', path: 'A/B/C', limit: 5, relative: false, samples: [] }, null));
                    return [...byID('pane').querySelectorAll('path:not(.grid)')].map((path) =>
                        path.getAttribute('class') + ' ' + path.getAttribute('d').split('M').length);
                })()
                """)
            // The line of the members has two parts.
            let wanted = ["members 3", "others 2", "limits 2", "members 3", "others 2", "limits 2"]
            #expect(lines == .array(wanted.map { .string($0) }), "\(lines)")
            try page.expectRoom("charts")
            try page.expectAccessible("charts")
            try page.attachPictures("fleet-charts")
        }
    }

    @Test func `A plan that reaches nobody cannot begin`() async throws {
        let refusals = [FleetPage.refused(409), FleetPage.refused(400)]
        try await FleetPage.visit(try await FleetPanelHost(), expecting: refusals) { page in
            try page.drag(x: 40)
            try page.click("roll-out")
            try page.type("zone=mars", over: "where")
            try page.wait("one('reach')?.innerText.includes('has these labels') && one('confirm').disabled")
            try page.type("10,5", over: "steps")
            try page.wait("one('reach')?.innerText.includes('does not grow')")
            #expect(try await page.host.harness.rollout() == nil)
        }
    }

    @Test func `Processes are searched, and texts of hostile ones do no harm`() async throws {
        let host = try await FleetPanelHost()
        let evil = "<img src=x onerror=\"window.pwned = true\">\u{202E}gpj\u{200B}"
        try await host.report { number, status in
            if number != 3 { return }
            status.labels = ["zone": "us"]
            status.trouble = evil
            status.refused = [.init(rollout: nil, path: FleetPanelHost.size, reason: evil)]
            status.covered = [evil]
        }
        _ = try await host.harness.fleet(by: "eve").freeze("evil", because: evil)
        try await FleetPage.visit(host) { page in
            try page.wait("one('problems').innerText.includes('<img src=x')")
            try page.open("processes")
            try page.wait("byID('pane').querySelectorAll('[data-process]').length === 4")
            try page.type("i3", over: "process-search")
            try page.wait("byID('pane').querySelectorAll('[data-process]').length === 1")
            try page.wait("pane().includes('<img src=x')")
            try page.open("log")
            try page.wait("pane().includes('<img src=x')")
            let harm = try page.ask(
                """
                window.pwned || document.querySelector('img[src=x]') != null
                    || /[\\u202e\\u200b]/.test(document.body.innerText)
                """)
            #expect(harm == false || harm == .null, "\(harm)")
        }
    }

    @Test(arguments: [1_280, 380]) func `Wide and narrow windows have room, also for assistive technology`(
        _ width: Int
    ) async throws {
        let host = try await FleetPanelHost(processes: 8) { registry in
            _ = try registry.register("Service", "Cache", "Lifetime", Duration.seconds(30), in: .zero ... .seconds(600))
            _ = try registry.register("Service", "Cache", "Enabled", true, help: "Keep answers")
            _ = try registry.register("Service", "Look", "Color", TweakColor.black)
        }
        try await FleetPage.visit(host, width: width, touch: width < 500) { page in
            // As of another window.
            try host.draft(.int(80))
            try page.wait("one('drafts')")
            try page.expectRoom("the list")
            try page.expectAccessible("the list")
            try page.attachPictures("fleet-list-\(width)")
            try page.click("set-all")
            try page.wait("dialog().includes('8 processes: 64')")
            try page.expectRoom("the confirmation")
            try page.expectAccessible("the confirmation")
            try page.attachPictures("fleet-set-\(width)")
            try page.click("cancel")
            try await begin(page)
            for step in 1...6 {
                try await host.report(8) { number, status in
                    let wave = Double(step % 3)
                    status.metrics = ["Service/Errors/Rate": number % 2 == 0 ? 3 + wave : 2 + wave / 4]
                    status.sampledAt = status.at
                }
            }
            try page.wait("one('members').innerText !== 'none yet'")
            try page.expectRoom("the rollouts")
            try page.expectAccessible("the rollouts")
            try page.attachPictures("fleet-rollouts-\(width)")
            for tab in ["processes", "log"] {
                try page.open(tab)
                try page.wait("byID('pane').querySelectorAll('li').length > 1")
                try page.expectRoom(tab)
                try page.expectAccessible(tab)
                try page.attachPictures("fleet-\(tab)-\(width)")
            }
        }
    }
}
