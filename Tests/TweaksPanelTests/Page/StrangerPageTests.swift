// Pages of other origins, in the browser of somebody who is signed in: they change nothing, read nothing, show nothing.

import Testing
import Tweaks

@testable import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct StrangerPageTests {
    /// By which name the stranger's page is called. `127.0.0.1` is the panel's own site at another port, so that cookies
    /// travel; another name is another site.
    static let names = ["127.0.0.1", "localhost", "evil.test"]

    /// Somebody is signed in at the panel, and then looks at a stranger's page.
    private func visit(_ name: String, _ body: (PanelHost, Browser) throws -> Void) throws {
        let host = try PanelHost()
        let stranger = try PageServer(["/": .init("<!doctype html><title>stranger</title><body></body>")])
        let browser = try Browser()
        let page = PanelView(browser: browser)
        try browser.open(host.link())
        try page.waitUntilConnected()
        let panel = browser.tabID
        let revision = host.registry.revision
        try browser.openTab()
        try browser.open(stranger.address("/", host: name))
        try body(host, browser)
        #expect(host.registry.revision == revision)
        #expect(host.value("Whole") == .int(50))
        // The owner is still there.
        try browser.go(to: panel)
        try page.type("72", over: "Whole", then: .enter)
        try host.wait("Whole", .int(72))
    }

    /// One attack after the other, on one page.
    @Test(.tags(.quantity), arguments: names) func aStrangersPageChangesAndSeesNothing(_ name: String) throws {
        try visit(name) { host, browser in
            try formsChangeNothing(host, browser)
            try fetchesChangeAndReadNothing(host, browser)
            try beaconsAndSocketsComeToNothing(host, browser)
            try nothingIsEmbedded(host, browser)
            try noFrameShowsIt(host, browser)
            try openedWindowsAreCutOff(host, browser)
        }
    }

    private static let types = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]

    private func formsChangeNothing(_ host: PanelHost, _ browser: Browser) throws {
        let paths = [
            "/api/tweaks", "/login", "/api/actions/Kinds/Basic/Greet", "/api/undo", "/api/reset", "/api/import",
            "/logout",
        ]
        for path in paths.prefix(quantity(paths.count, few: 3)) {
            for type in Self.types {
                // Sent to a frame, whose loading is the answer.
                try browser.runUntilCalled(
                    """
                    const [action, type, done] = arguments;
                    const frame = document.createElement('iframe'), form = document.createElement('form');
                    frame.name = 'answer' + Math.random();
                    document.body.append(frame, form);
                    Object.assign(form, { action, method: 'post', enctype: type, target: frame.name });
                    const field = document.createElement('input');
                    field.name = '{"changes":[{"path":"Kinds/Basic/Whole","value":1}],'
                        + '"patterns":["*"],"text":"Kinds/Basic/Whole ';
                    field.value = ' 1"}';
                    form.append(field);
                    frame.addEventListener('load', () => { frame.remove(); done(true); });
                    form.submit();
                    """, .string(host.origin + path), .string(type))
            }
        }
    }

    private func fetchesChangeAndReadNothing(_ host: PanelHost, _ browser: Browser) throws {
        let answers = try browser.run(
            """
            const [origin, count] = arguments, body = JSON.stringify({ changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] });
            const read = [];
            for (const path of ['/api/tweaks', '/', '/api/events', '/login', '/api/whoami', '/api/export', '/api/undo'].slice(0, count))
                for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])
                    for (const mode of ['cors', 'no-cors', 'same-origin'])
                        for (const type of ['text/plain', 'application/json'])
                            for (const credentials of ['include', 'omit']) {
                                const options = { method, mode, credentials, headers: { 'Content-Type': type } };
                                if (method !== 'GET' && method !== 'DELETE') options.body = body;
                                try {
                                    const reply = await fetch(origin + path, options);
                                    const text = await reply.text();
                                    if (reply.type !== 'opaque' || text) read.push([path, method, mode, type, reply.type]);
                                } catch { /* as it has to be */ }
                            }
            return read;
            """, .string(host.origin), PageValue(quantity(7, few: 3)))
        #expect(answers == [], "\(answers)")
    }

    private func beaconsAndSocketsComeToNothing(_ host: PanelHost, _ browser: Browser) throws {
        let heard = try browser.runUntilCalled(
            """
            const [origin, done] = arguments, heard = [];
            const events = new EventSource(origin + '/api/events', { withCredentials: true });
            const over = new Promise((resolve) => {
                events.onerror = () => { if (events.readyState === 2) resolve(); };
            });
            for (const name of ['open', 'message', 'hello', 'snapshot', 'change'])
                events.addEventListener(name, () => heard.push(name));
            const sockets = ['/', '/api/events', '/api/tweaks'].map((path) => new Promise((resolve) => {
                const socket = new WebSocket(origin.replace('http', 'ws') + path);
                socket.onopen = () => heard.push('socket');
                socket.onmessage = () => heard.push('message');
                socket.onclose = resolve;
            }));
            for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
                navigator.sendBeacon(origin + '/api/tweaks',
                    new Blob(['{"changes":[{"path":"Kinds/Basic/Whole","value":1}]}'], { type }));
            Promise.all([over, ...sockets]).then(() => done(heard));
            """, .string(host.origin))
        #expect(heard == [], "\(heard)")
    }

    /// Neither as a picture, a script, a style, a frame nor an object is anything of the panel there.
    private func nothingIsEmbedded(_ host: PanelHost, _ browser: Browser) throws {
        let loaded = try browser.run(
            """
            const loaded = [];
            for (const path of ['/', '/api/tweaks', '/api/openapi.json', '/api/whoami', '/api/export'])
                for (const tag of ['img', 'script', 'link', 'video', 'audio'])
                    await new Promise((resolve) => {
                        const element = document.createElement(tag);
                        if (tag === 'link') element.rel = 'stylesheet';
                        for (const event of ['load', 'loadeddata'])
                            element.addEventListener(event, () => { loaded.push([tag, path]); resolve(); });
                        element.addEventListener('error', resolve);
                        element[tag === 'link' ? 'href' : 'src'] = arguments[0] + path;
                        document.body.append(element);
                    });
            return loaded;
            """, .string(host.origin))
        #expect(loaded == [], "\(loaded)")
    }

    private func noFrameShowsIt(_ host: PanelHost, _ browser: Browser) throws {
        try browser.runUntilCalled(
            """
            const [address, done] = arguments, frame = document.createElement('iframe');
            frame.src = address;
            for (const event of ['load', 'error']) frame.addEventListener(event, () => done(true), { once: true });
            document.body.append(frame);
            """, .string(host.origin + "/"))
        let count = Int(try browser.run("return window.length").number ?? 0)
        #expect(count > 0)
        let frames = try browser.runInFrames(
            "return [location.protocol, document.querySelectorAll('#list, #login').length]")
        // Each holds the browser's own page, which says that it was refused.
        #expect(frames == Array(repeating: ["chrome-error:", 0], count: count), "\(frames)")
    }

    /// A window that a stranger has opened is out of its reach.
    private func openedWindowsAreCutOff(_ host: PanelHost, _ browser: Browser) throws {
        let before = try browser.tabIDs
        let own = browser.tabID
        try browser.run("globalThis.opened = open(arguments[0])", .string(host.origin + "/"))
        let new = try #require(try browser.tabIDs.first { !before.contains($0) })
        try browser.go(to: new)
        // By a link from elsewhere the page opens, though without a cookie where the site is another one.
        try browser.wait(
            until:
                "['login', 'connected'].includes(document.documentElement.dataset.state)"
        )
        #expect(try browser.run("return window.opener === null") == true)
        try browser.closeTab()
        try browser.go(to: own)
        #expect(try browser.run("return opened == null || opened.closed") == true)
    }

    /// A name that leads here, but is not ours: not even the page is given.
    @Test func reboundNamesGetNothing() throws {
        let host = try PanelHost()
        let browser = try Browser()
        try browser.open(host.link())
        try PanelView(browser: browser).waitUntilConnected()
        let revision = host.registry.revision
        let rebound = "http://rebound.test:\(host.port)"
        try browser.open("\(rebound)/#token=\(PanelHost.owner.secret)")
        #expect(try browser.run("return document.querySelectorAll('script, #list').length") == 0)
        #expect(try browser.cookies.isEmpty)
        // Its own page may ask as one of the same origin, and is refused all the same.
        let codes = try browser.run(
            """
            const ask = async (path, options) => (await fetch(path, options)).status;
            const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ' + arguments[0] };
            const body = JSON.stringify({ changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] });
            return [await ask('/', {}), await ask('/api/tweaks', { headers }), await ask('/api/events', { headers }),
                await ask('/api/tweaks', { method: 'PATCH', headers, body }),
                await ask('/login', { method: 'POST', headers, body: '{}' })];
            """, .string(PanelHost.owner.secret))
        #expect(codes == [421, 421, 421, 421, 421])
        #expect(host.registry.revision == revision)
    }

    /// The panel's own names are all good.
    @Test(arguments: ["127.0.0.1", "localhost", "[::1]"]) func ourNamesWork(_ name: String) throws {
        let host = try PanelHost()
        let browser = try Browser()
        let page = PanelView(browser: browser)
        try browser.open(host.link().replacing("127.0.0.1", with: name))
        try page.waitUntilConnected()
        try page.click("Bool", "switch")
        try host.wait("Bool", .bool(true))
        try page.checkConsole()
    }
}
