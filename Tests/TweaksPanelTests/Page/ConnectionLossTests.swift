// Tests the loss of the connection: it is shown, the page reconnects, and no change is lost.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ConnectionLossTests {
    /// Console messages for unanswered requests: 503 for one under way when the process stops, later an error.
    private static let unanswered = ["net::ERR_", PanelView.refused(503)]

    /// Hides the page, and lets it disconnect at once.
    private func hide(_ page: PanelView) throws {
        try page.replaceDelay(20_000, by: 0)
        try page.browser.run(
            """
            globalThis.isHidden = true;
            Object.defineProperty(document, 'hidden', { get: () => isHidden });
            document.dispatchEvent(new Event('visibilitychange'));
            """)
    }

    @Test func aLossIsShownAndChangesFail() throws {
        try PanelHost.visit(expecting: Self.unanswered) { host, page in
            try page.wait("byID('state').textContent.includes('connected')")
            #expect(try page.ask("getComputedStyle(byID('shell')).filter") == "none")
            host.stop()
            try page.wait("state() === 'lost' && byID('state').textContent.includes('Disconnected')")
            try page.wait("getComputedStyle(byID('shell')).filter.includes('grayscale')")
            try page.wait("byID('live').textContent.includes('Disconnected')")
            try page.wait("/^Disconnected – retrying in [0-9]+ s$/.test(byID('state').textContent)")
            // A change meanwhile fails with an error.
            try page.click("Bool", "switch")
            #expect(try page.error("Bool").contains("no connection"))
            try page.wait("part('Bool', 'switch').ariaChecked === 'false'")
        }
    }

    @Test func aRestartIsReportedAndUnsentTextStays() throws {
        try PanelHost.visit(expecting: Self.unanswered) { host, page in
            try page.type("half a sen", over: "Text")
            host.stop()
            try page.wait("state() === 'lost'")
            try host.registry["Kinds/Basic/Whole"]?.set(.int(72))
            try host.registry["Kinds/Basic/Day"]?.set(.choice("sun"))
            try host.restart()
            try page.waitUntilConnected()
            try page.wait("field('Whole') === '72' && part('Day', 'select').value === 'sun'")
            try page.waitUntilSaid("example restarted")
            #expect(try page.ask("field('Text')") == "half a sen")
            try page.press("Text", "field", .enter, sets: .string("half a sen"))
            try host.set("Whole", "73")
            try page.wait("field('Whole') === '73'")
        }
    }

    @Test func aBrokenStreamResumesWithTheMissedChanges() throws {
        try PanelHost.visit { host, page in
            try page.type("half a sen", over: "Text")
            try page.browser.run(
                """
                globalThis.asked = [];
                const fetched = fetch;
                globalThis.fetch = (...all) => { asked.push(String(all[0])); return fetched(...all); };
                """)
            let client = try host.connect()
            let number = try #require(try host.streams(client).first)
            // The end of the stream and the changes arrive together.
            try client.send("kick \(number)\nset Kinds/Basic/Whole 72\nset Kinds/Basic/Bool on\n")
            try page.wait("asked.some((address) => address.startsWith('/api/events?since='))")
            try page.waitUntilConnected()
            try page.wait("field('Whole') === '72' && part('Bool', 'switch').ariaChecked === 'true'")
            #expect(try page.ask("field('Text')") == "half a sen")
            #expect(try page.ask("said().includes('restarted')") == false)
            // The page itself was not reloaded.
            try page.expect("globalThis.asked.length > 0")
            // Again and again, over a connection without unread replies.
            let other = try host.connect()
            for round in 1...6 {
                if let number = try host.streams(other).first { try other.ask("kick \(number)") }
                for name in ["Whole", "Count"] { try host.set(name, "\(round * 10)") }
                try page.wait(
                    "state() === 'connected' && field('Whole') === given[0] && field('Count') === given[0]",
                    .string("\(round * 10)"))
            }
        }
    }

    /// A browser has six connections to a server; a hidden window releases its own.
    @Test func aHiddenWindowDisconnectsUntilItIsShown() throws {
        try PanelHost.visit { host, page in
            let client = try host.connect()
            #expect(try host.streams(client).count == 1)
            try hide(page)
            try eventually { try host.streams(client).isEmpty }
            try host.set("Whole", "72")
            // It shows no loss.
            try page.expect("['connected', 'silent'].includes(state())")
            try page.browser.run("isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
            try page.wait("field('Whole') === '72'")
            #expect(try host.streams(client).count == 1)
            #expect(try page.ask("/disconnected|again/i.test(said())") == false)
            try host.set("Whole", "73")
            try page.wait("field('Whole') === '73'")
        }
    }

    @Test func aHiddenWindowWhoseTokenWasRevokedAsksForOneOnce() throws {
        let user = PanelHost.User(name: "user", scopes: [.read])
        try PanelHost.visit(as: user, expecting: [PanelView.refused(401)]) { host, page in
            let client = try host.connect()
            try hide(page)
            try eventually { try host.streams(of: "user", client).isEmpty }
            host.revoke(user)
            try page.browser.run(
                """
                const fetched = fetch;
                globalThis.asked = 0;
                globalThis.fetch = (...all) => { asked += 1; return fetched(...all); };
                globalThis.look = (isAway) => {
                    isHidden = isAway;
                    document.dispatchEvent(new Event('visibilitychange'));
                };
                look(false);
                """)
            try page.wait("state() === 'login'")
            try page.browser.run("asked = 0; for (const hidden of [true, false, true, false]) look(hidden)")
            #expect(try page.ask("asked") == 0)
        }
    }

    @Test func addedAndRemovedTweaksAppearAndDisappear() throws {
        // A request about the removed tweak may come too late.
        try PanelHost.visit(expecting: [PanelView.refused(404)]) { host, page in
            _ = Tweak("Late", "Comer", "Size", 3, in: 0...9, registry: host.registry)
            try page.wait("field('Late/Comer/Size') === '3'")
            try page.press("Late/Comer/Size", "slider", .end, sets: .int(9))
            try host.registry.remove(TweakPath("Late/Comer/Size"))
            try page.wait("row('Late/Comer/Size') == null")
        }
    }

    @Test func theLinkOfAnEarlierStartIsRefused() throws {
        let host = try PanelHost()
        let old = host.printedLink
        host.stop()
        try host.restart()
        let browser = try Browser()
        let page = PanelView(host: host, browser: browser)
        try browser.open(old)
        try page.wait("state() === 'login' && isShown(byID('login-error'))")
        try browser.open("about:blank")
        try browser.open(host.printedLink)
        try page.waitUntilConnected()
        try page.checkConsole(expecting: [PanelView.refused(401)])
    }

    /// The list is another reply than the events, and may be older.
    @Test func aLateListDoesNotReplaceNewerValues() throws {
        try PanelHost.visit { host, page in
            try page.holdReplies(where: "path === '/api/tweaks'")
            _ = Tweak("Late", "Comer", "Size", 3, in: 0...9, registry: host.registry)
            try page.wait("window.held > 0")
            try host.set("Whole", "71")
            try host.set("Late/Comer/Size", "4")
            try page.wait("field('Whole') === '71'")
            try page.browser.run("window.isOpen = true")
            try page.wait("listed().includes('Late/Comer/Size')")
            #expect(try page.ask("field('Whole')") == "71")
            try page.wait("field('Late/Comer/Size') === '4'")
        }
    }
}
