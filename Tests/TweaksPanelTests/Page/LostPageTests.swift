// The connection: its loss is seen and said, it comes back by itself, and nothing is lost meanwhile.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct LostPageTests {
    /// What the browser says of requests that nobody answers.
    // A request under way when the process stops is answered with 503, one after that not at all.
    private static let unanswered = ["net::ERR_", PanelView.refused(503)]

    /// Somebody goes to another window, and comes back after a while.
    private static let hiding = """
        globalThis.isHidden = true;
        Object.defineProperty(document, 'hidden', { get: () => isHidden });
        const timer = setTimeout;
        globalThis.setTimeout = (body, delay, ...more) => timer(body, delay === 20000 ? 0 : delay, ...more);
        document.dispatchEvent(new Event('visibilitychange'));
        """

    @Test func aLossIsSeenAndSaid() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.unanswered) { page in
            #expect(try page.ask("document.getElementById('state').textContent").string?.contains("connected") == true)
            #expect(try page.ask("getComputedStyle(document.getElementById('shell')).filter") == "none")
            host.stop()
            try page.wait("state() === 'lost' && document.getElementById('state').textContent.includes('Disconnected')")
            try page.wait("getComputedStyle(document.getElementById('shell')).filter.includes('grayscale')")
            try page.wait("document.getElementById('live').textContent.includes('Disconnected')")
            // It says when it will try again.
            try page.wait("/^Disconnected – retrying in [0-9]+ s$/.test(document.getElementById('state').textContent)")
            // What is tried meanwhile is refused in words, and nothing pretends to have worked.
            try page.click("Bool", "switch")
            #expect(try page.error("Bool").contains("no connection"))
            try page.wait("part('Bool', 'switch').ariaChecked === 'false'")
        }
    }

    /// A server that starts again is taken for a restart; its values show, and what was being typed is still there.
    @Test func aRestartIsNoticed() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.unanswered) { page in
            try page.type("half a sen", over: "Text")
            host.stop()
            try page.wait("state() === 'lost'")
            try host.registry["Kinds/Basic/Whole"]?.set(.int(72))
            try host.registry["Kinds/Basic/Day"]?.set(.choice("sun"))
            try host.startAgain()
            try page.waitUntilConnected()
            try page.wait("field('Whole') === '72' && part('Day', 'select').value === 'sun'")
            try page.waitUntilSaid("example restarted")
            #expect(try page.ask("field('Text')") == "half a sen")
            try page.focus("Text", "field")
            try page.browser.perform(.keys(.enter))
            try host.wait("Text", .string("half a sen"))
            // And changes are heard again.
            try host.set("Whole", "73")
            try page.wait("field('Whole') === '73'")
        }
    }

    /// Cut off, the page goes on from where it was: what happened meanwhile is there, and how much of it is said.
    @Test func aCutStreamGoesOn() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("half a sen", over: "Text")
            try page.browser.run(
                """
                globalThis.asked = [];
                const fetched = fetch;
                globalThis.fetch = (address, ...more) => { asked.push(String(address)); return fetched(address, ...more); };
                """)
            let client = try host.connect()
            let sessions = try client.ask("sessions").filter { $0.contains("token owner") && !$0.contains("watches 0") }
            let number = try #require(sessions.first?.split(separator: " ").first)
            // The end of the stream and the changes come at once.
            try client.send("kick \(number)\nset Kinds/Basic/Whole 72\nset Kinds/Basic/Bool on\n")
            try page.wait("asked.some((address) => address.startsWith('/api/events?since='))")
            try page.waitUntilConnected()
            try page.wait("field('Whole') === '72' && part('Bool', 'switch').ariaChecked === 'true'")
            #expect(try page.ask("field('Text')") == "half a sen")
            #expect(try page.ask("said().includes('restarted')") == false)
            // The page itself was not loaded again.
            #expect(try page.ask("globalThis.asked.length > 0") == true)
        }
    }

    /// A browser has six connections to a process; a window in the background gives its own back, and takes it again when
    /// somebody looks.
    @Test func aWindowThatNobodyLooksAtRests() throws {
        let host = try PanelHost()
        try host.visit { page in
            let client = try host.connect()
            func streams() throws -> Int {
                try client.ask("sessions").count { $0.contains("token owner") && !$0.contains("watches 0") }
            }
            #expect(try streams() == 1)
            try page.browser.run(Self.hiding)
            try eventually { try streams() == 0 }
            try host.set("Whole", "72")
            #expect(try page.ask("state()") == "connected")
            try page.browser.run("isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
            try page.wait("field('Whole') === '72'")
            #expect(try streams() == 1)
            // It was no loss, and nothing is said of one.
            #expect(try page.ask("/disconnected|again/i.test(said())") == false)
            try host.set("Whole", "73")
            try page.wait("field('Whole') === '73'")
        }
    }

    /// Who may not come back when somebody looks is asked for a token once, and not at each look.
    @Test func aWindowThatRestedTooLong() throws {
        let guest = PanelHost.Guest(name: "guest", scopes: [.read])
        let host = try PanelHost(guests: [guest])
        try host.visit(as: guest, expecting: [PanelView.refused(401)]) { page in
            let client = try host.connect()
            try page.browser.run(Self.hiding)
            try eventually {
                try !client.ask("sessions").contains { $0.contains("token guest") && !$0.contains("watches 0") }
            }
            host.revoke(guest)
            try page.browser.run(
                """
                const fetched = fetch;
                globalThis.asked = 0;
                globalThis.fetch = (...all) => { asked += 1; return fetched(...all); };
                globalThis.look = (hidden) => { isHidden = hidden; document.dispatchEvent(new Event('visibilitychange')); };
                look(false);
                """)
            try page.wait("state() === 'login'")
            try page.browser.run("asked = 0; for (const hidden of [true, false, true, false]) look(hidden)")
            #expect(try page.ask("asked") == 0)
        }
    }

    /// Every change of a run that goes on across many ends of the stream arrives, in the end as the newest value.
    @Test func noEventIsLost() throws {
        let host = try PanelHost()
        try host.visit { page in
            let client = try host.connect()
            for round in 1...6 {
                let sessions = try client.ask("sessions").filter {
                    $0.contains("token owner") && !$0.contains("watches 0")
                }
                if let number = sessions.first?.split(separator: " ").first { try client.ask("kick \(number)") }
                for name in ["Whole", "Count"] { try host.set(name, "\(round * 10)") }
                try page.wait(
                    "state() === 'connected' && field('Whole') === given[0] && field('Count') === given[0]",
                    .string("\(round * 10)"))
            }
        }
    }

    /// Tweaks that come and go, come and go in the page.
    @Test func newTweaksAppear() throws {
        let host = try PanelHost()
        // What is asked about one may come too late.
        try host.visit(expecting: [PanelView.refused(404)]) { page in
            _ = Tweak("Late", "Comer", "Size", 3, in: 0...9, registry: host.registry)
            try page.wait("field('Late/Comer/Size') === '3'")
            try page.press("Late/Comer/Size", "slider", .end)
            try host.wait("Late/Comer/Size", .int(9))
            try host.registry.remove(TweakPath("Late/Comer/Size"))
            try page.wait("row('Late/Comer/Size') == null")
        }
    }

    @Test func theAddressOfAnotherStartIsOfNoUse() throws {
        let host = try PanelHost()
        let old = host.printedLink
        host.stop()
        try host.startAgain()
        let browser = try Browser()
        let page = PanelView(browser: browser)
        try browser.open(old)
        try page.wait("state() === 'login' && isShown(document.getElementById('login-error'))")
        try browser.open("about:blank")
        try browser.open(host.printedLink)
        try page.waitUntilConnected()
        try page.checkConsole(expecting: [PanelView.refused(401)])
    }

    /// The list comes by another way than the events, and may be older than they are.
    @Test func aListThatComesLate() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.waitUntilConnected()
            try page.browser.run(
                """
                const send = fetch;
                window.fetch = async (...all) => {
                    const answer = await send(...all);
                    if (all[0] !== '/api/tweaks') return answer;
                    window.isHeld = true;
                    while (!window.isOpen) await new Promise((go) => setTimeout(go, 5));
                    return answer;
                };
                """)
            _ = Tweak("Late", "Comer", "Size", 3, in: 0...9, registry: host.registry)
            try page.wait("window.isHeld")
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
