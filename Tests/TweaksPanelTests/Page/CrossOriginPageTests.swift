// Tests pages of other origins in a signed-in browser: they change, read and show nothing of the panel.

import Testing
import Tweaks
import TweaksPanel

@testable import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct CrossOriginPageTests {
    /// The host of the other page. `own` is the panel's own site at another port, to which cookies are sent; the others
    /// are other sites.
    static let names = ["own", "127.0.0.1", "localhost", "evil.test"]

    /// A panel, and a browser whose first tab is signed in there.
    private func signedIn() throws -> PanelView {
        let page = PanelView(host: try PanelHost(), browser: try Browser())
        try page.browser.open(page.host.link())
        try page.waitUntilConnected()
        return page
    }

    @Test(.tags(.quantity), arguments: names) func aPageOfAnotherOriginChangesAndSeesNothing(_ name: String) throws {
        let other = try PageServer(["/": .init("<!doctype html><title>other</title><body></body>")])
        let page = try signedIn()
        let (host, browser) = (page.host, page.browser)
        let (panel, revision) = (browser.tabID, host.registry.revision)
        try browser.openTab()
        try browser.open(other.address("/", host: name == "own" ? PanelID.host(host.pageID) : name))
        try formsChangeNothing(host, browser)
        try fetchesChangeAndReadNothing(host, browser)
        try beaconsAndSocketsAreRefused(host, browser)
        try nothingIsEmbedded(host, browser)
        try noFrameShowsThePanel(host, browser)
        try openedWindowsAreOutOfReach(host, browser)
        #expect(host.registry.revision == revision)
        #expect(host.value("Whole") == .int(50))
        // The signed-in page still works.
        try browser.go(to: panel)
        try page.type("72", over: "Whole", then: .enter, sets: .int(72))
    }

    private static let types = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]

    private func formsChangeNothing(_ host: PanelHost, _ browser: Browser) throws {
        let api = ["/api/actions/Kinds/Basic/Greet", "/api/undo", "/api/reset", "/api/import"]
        let paths = ["/api/tweaks", "/login"] + api + ["/logout"]
        for path in paths.prefix(quantity(paths.count, few: 3)) {
            for type in Self.types {
                // Sent to a frame, which loads the reply.
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
            const [origin, count] = arguments, read = [];
            const body = JSON.stringify({ changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] });
            const paths = ['/api/tweaks', '/', '/api/events', '/login', '/api/whoami', '/api/export', '/api/undo'];
            for (const path of paths.slice(0, count))
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
                                } catch { /* expected */ }
                            }
            return read;
            """, .string(host.origin), PageValue(quantity(7, few: 3)))
        #expect(answers == [], "\(answers)")
    }

    private func beaconsAndSocketsAreRefused(_ host: PanelHost, _ browser: Browser) throws {
        let received = try browser.runUntilCalled(
            """
            const [origin, done] = arguments, received = [];
            const events = new EventSource(origin + '/api/events', { withCredentials: true });
            const over = new Promise((resolve) => {
                events.onerror = () => { if (events.readyState === 2) resolve(); };
            });
            for (const name of ['open', 'message', 'hello', 'snapshot', 'change'])
                events.addEventListener(name, () => received.push(name));
            const sockets = ['/', '/api/events', '/api/tweaks'].map((path) => new Promise((resolve) => {
                const socket = new WebSocket(origin.replace('http', 'ws') + path);
                socket.onopen = () => received.push('socket');
                socket.onmessage = () => received.push('message');
                socket.onclose = resolve;
            }));
            for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
                navigator.sendBeacon(origin + '/api/tweaks',
                    new Blob(['{"changes":[{"path":"Kinds/Basic/Whole","value":1}]}'], { type }));
            Promise.all([over, ...sockets]).then(() => done(received));
            """, .string(host.origin))
        #expect(received == [], "\(received)")
    }

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

    private func noFrameShowsThePanel(_ host: PanelHost, _ browser: Browser) throws {
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
        // Each holds the browser's own error page.
        #expect(frames == Array(repeating: ["chrome-error:", 0], count: count), "\(frames)")
    }

    private func openedWindowsAreOutOfReach(_ host: PanelHost, _ browser: Browser) throws {
        let before = try browser.tabIDs
        let own = browser.tabID
        try browser.run("globalThis.opened = open(arguments[0])", .string(host.origin + "/"))
        let new = try #require(try browser.tabIDs.first { !before.contains($0) })
        try browser.go(to: new)
        // The page opens, though without a cookie where the site is another one.
        try browser.wait(until: "['login', 'connected'].includes(document.documentElement.dataset.state)")
        #expect(try browser.run("return window.opener === null") == true)
        try browser.closeTab()
        try browser.go(to: own)
        #expect(try browser.run("return opened == null || opened.closed") == true)
    }

    /// DNS rebinding: another name for the address of the panel.
    @Test func reboundNamesGetNothing() throws {
        let page = try signedIn()
        let (host, browser) = (page.host, page.browser)
        let revision = host.registry.revision
        let rebound = "http://rebound.test:\(host.port)"
        try browser.open("\(rebound)/#code=\(PanelHost.owner.secret)")
        #expect(try browser.run("return document.querySelectorAll('script, #list').length") == 0)
        #expect(try browser.cookies.isEmpty)
        // Requests of that origin itself are refused, too.
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
}
