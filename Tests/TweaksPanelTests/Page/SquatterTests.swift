// Tests what a program that listens at the panel's port for a while leaves in a browser: nothing for the next start.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SquatterTests {
    /// What the browser may report about requests to a program that is not there, or is not the panel.
    private static let expected = [
        "net::ERR_", PanelView.refused(401), PanelView.refused(404), PanelView.refused(421), PanelView.refused(503),
    ]
    private static let forever = "Cache-Control: public, max-age=31536000, immutable"
    private static let page = PageServer.Page(
        "<!doctype html><title>squatter</title><body>squatter</body>", fields: [forever])
    /// A service worker that answers for the panel, and takes over the pages that are open.
    private static let worker = PageServer.Page(
        """
        addEventListener('install', () => skipWaiting());
        addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        addEventListener('fetch', (event) => event.respondWith(
            new Response('<!doctype html><title>squatter</title><body>worker</body>',
                { headers: { 'Content-Type': 'text/html' } })));
        """, type: "text/javascript", fields: [forever])

    /// A panel with a page that is signed in.
    private func signedIn(_ origin: TweakPanel.Origin = .perStart) throws -> PanelView {
        let page = PanelView(host: try PanelHost(origin: origin), browser: try Browser())
        try page.browser.open(page.host.link())
        try page.waitUntilConnected()
        return page
    }

    /// Stops the panel, and runs a body while a squatter has its port; then starts it again.
    /// - Parameter page: An open page, which notices the stop before: a browser repeats requests that are under way.
    private func squat(
        _ host: PanelHost, _ pages: [String: PageServer.Page], open page: PanelView? = nil,
        _ body: (PageServer) throws -> Void
    ) throws {
        host.stop()
        try page?.wait("state() === 'lost'")
        var squatter: PageServer?
        try eventually {
            squatter = try? PageServer(pages, port: host.port)
            return squatter != nil
        }
        try body(try #require(squatter))
        squatter = nil
        try host.restart()
    }

    /// What a page of the squatter gets from the panel: it has the cookie, and the key that the browser stores.
    private static let attack = """
        const ask = async (path, options = {}) => {
            const answer = await fetch(path, { cache: 'no-store', ...options });
            return [answer.status, await answer.text()];
        };
        const send = (path, body, method = 'POST') => ask(path,
            { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
        const nonce = 'abcdefghijklmnopqrstuvwx', statuses = [];
        for (const by of ['browser', 'page']) statuses.push((await send('/login', { nonce, by }))[0]);
        const key = await new Promise((done) => {
            const open = indexedDB.open('tweaks', 1);
            open.onsuccess = () => {
                const get = open.result.transaction('keys').objectStore('keys').get('sign-in');
                get.onsuccess = () => done(get.result);
            };
        });
        const { challenge } = JSON.parse((await send('/login', {}))[1]);
        const code = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(challenge));
        const answer = btoa(String.fromCharCode(...new Uint8Array(code)));
        statuses.push((await send('/login', { challenge, answer }))[0]);
        statuses.push((await send('/login', { scram: 'n,,n=a,r=abc' }))[0]);
        statuses.push((await ask('/'))[0], (await ask('/panel/1/main.js'))[0], (await ask('/api/tweaks'))[0]);
        const change = { changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] };
        statuses.push((await send('/api/tweaks', change, 'PATCH'))[0]);
        const headers = { Authorization: 'Bearer ' + arguments[0] };
        statuses.push((await ask('/api/tweaks', { headers }))[0]);
        return statuses;
        """

    /// The page that users open next is genuine, and the squatter's page gets nothing.
    private func expectNoHarm(_ page: PanelView, squattersPage: (title: String, address: String)) throws {
        let (host, browser) = (page.host, page.browser)
        try browser.openTab()
        try browser.open(host.link())
        try page.waitUntilConnected()
        try page.expect("globalThis.squatter === undefined && navigator.serviceWorker.controller === null")
        try page.click("Bool", "switch", sets: .bool(true))
        try browser.openTab()
        try browser.open(squattersPage.address)
        #expect(try browser.title == squattersPage.title)
        let revision = host.registry.revision
        let statuses = try browser.run(Self.attack, .string(PanelHost.owner.secret))
        // The second is a challenge that only a page that is open can answer.
        #expect(statuses == [401, 200, 401, 421, 421, 421, 401, 401, 421], "\(statuses)")
        #expect(host.registry.revision == revision)
    }

    /// Where the address is kept, the script stays: this is what a new address is for.
    @Test(arguments: [TweakPanel.Origin.perStart, .kept]) func anImmutableScriptStays(
        _ origin: TweakPanel.Origin
    ) throws {
        let page = try signedIn(origin)
        let (host, browser) = (page.host, page.browser)
        let script = try page.ask("new URL(document.querySelector('script').src).pathname").string ?? ""
        let evil = PageServer.Page("globalThis.squatter = true;", type: "text/javascript", fields: [Self.forever])
        let other = PageServer.Page("<!doctype html><title>squatter</title>", fields: ["Cache-Control: no-store"])
        try squat(host, ["/": other, script: evil]) { _ in
            try browser.reload()
            let text = try browser.run(
                "return (await fetch(arguments[0], { cache: 'reload' })).text()", .string(script))
            #expect(text.string?.contains("squatter") == true)
        }
        try browser.openTab()
        try browser.open(host.link())
        if origin == .kept {
            try page.wait("globalThis.squatter === true")
        } else {
            try page.waitUntilConnected()
            try page.expect("globalThis.squatter === undefined")
            try page.click("Bool", "switch", sets: .bool(true))
        }
    }

    @Test func aCachedPageIsOfTheOldAddress() throws {
        let page = try signedIn()
        let old = page.host.origin
        try squat(page.host, ["/": Self.page]) { _ in try page.browser.reload() }
        try expectNoHarm(page, squattersPage: ("squatter", old + "/"))
    }

    @Test func aServiceWorkerIsOfTheOldAddress() throws {
        let page = try signedIn()
        let old = page.host.origin
        try squat(page.host, ["/": Self.page, "/worker.js": Self.worker]) { _ in
            try page.browser.reload()
            try page.browser.run(
                "await navigator.serviceWorker.register('/worker.js'); await navigator.serviceWorker.ready")
        }
        try page.browser.openTab()
        try page.browser.open(page.host.link())
        try page.waitUntilConnected()
        try page.expect("navigator.serviceWorker.controller === null")
        try page.click("Bool", "switch", sets: .bool(true))
        try page.browser.openTab()
        try page.browser.open(old + "/")
        #expect(try page.browser.run("return document.body.textContent") == "worker")
    }

    /// Records the page's requests before it has lost its process, and after that those with a key or a name.
    private static let watchRequests = """
        const send = fetch;
        Object.assign(globalThis, { before: [], signed: [] });
        globalThis.fetch = (path, options = {}) => {
            const { 'Tweaks-Key': key, 'Tweaks-Name': name } = options.headers ?? {};
            if (document.documentElement.dataset.state !== 'lost') before.push(String(path));
            else if (key || name) signed.push(String(path));
            return send(path, options);
        };
        """

    /// It gets only the first message of a proof, and none once it fails to prove itself. What was under way when the
    /// process ended is the browser's: it may repeat it on a new connection.
    @Test(arguments: ["{\"ok\":true,\"challenge\":\"a.b.c.d\",\"proof\":\"AAAA\"}", "{\"ok\":true}", "x"])
    func aPageThatIsOpenSendsNothingToASquatterAndGoesOn(_ answer: String) throws {
        let page = try signedIn()
        let (host, browser) = (page.host, page.browser)
        try browser.run(Self.watchRequests)
        try page.open("people", until: "isShown(byID('name'))")
        try page.type("Zoë", over: page.element("name"), then: [.enter])
        try page.wait("document.querySelector('#pane li[data-own] strong')?.textContent.includes('Zoë')")
        try page.keys(.escape)
        let login = PageServer.Page(answer, type: "application/json")
        try squat(host, ["/login": login], open: page) { squatter in
            // A change while the squatter answers.
            try page.click("Bool", "switch")
            #expect(squatter.request("POST", "/login") != nil)
            try page.wait("text('Bool', 'error') !== ''")
            #expect(try browser.run("return signed") == [])
            let before = try browser.run("return before").array ?? []
            let isUnderWay = { (request: PageServer.Request) in
                request.method == "GET" && before.contains(.string(request.target))
            }
            for request in squatter.requests where !isUnderWay(request) {
                #expect(request.target == "/login" && request.body.hasPrefix("{\"nonce\":"), "\(request)")
                #expect(request.fields["tweaks-key"] == nil && request.fields["tweaks-name"] == nil, "\(request)")
            }
        }
        #expect(host.value("Bool") == .bool(false))
        try browser.run("dispatchEvent(new Event('online'))")
        try page.waitUntilConnected()
        try page.click("Bool", "switch", sets: .bool(true))
        // The drawer was loaded with the page.
        try page.open("history")
        try page.keys(.escape)
        // A reload asks for the new address.
        try browser.reload()
        #expect(try browser.run("return document.body.textContent").string?.contains("tweakctl NAME panel") == true)
        #expect(try browser.run("return document.scripts.length") == 0)
        try page.checkConsole(expecting: Self.expected)
    }

    @Test func aPageThatAServiceWorkerTakesOverDropsItsKeys() throws {
        let page = try signedIn()
        let (host, browser) = (page.host, page.browser)
        let (open, old) = (browser.tabID, host.origin)
        try squat(host, ["/other": Self.page, "/worker.js": Self.worker]) { _ in
            try page.wait("state() === 'lost'")
            try browser.openTab()
            try browser.open(old + "/other")
            try browser.run(
                "await navigator.serviceWorker.register('/worker.js'); await navigator.serviceWorker.ready")
            try browser.go(to: open)
            try page.wait("navigator.serviceWorker.controller !== null && state() === 'login'")
            try page.wait("byID('login-error').textContent.includes('Another program')")
            try page.wait("(await signInKey()) === undefined")
        }
        // It does not sign in again either.
        try page.type(PanelHost.owner.secret, over: page.element("token"), then: [.enter])
        try page.wait("byID('login-error').textContent.includes('Another program')")
        #expect(try page.ask("state()") == "login")
    }

    /// Its key, its cookie, and its messages to other windows.
    @Test func whatASquatterStoresHasNoEffectOnAnOpenPage() throws {
        let page = try signedIn()
        let (host, browser) = (page.host, page.browser)
        let (open, old) = (browser.tabID, host.origin)
        var other = Self.page
        other.fields.append("Set-Cookie: tweaks-\(host.port)=evil; Path=/; HttpOnly; SameSite=Strict")
        try squat(host, ["/other": other]) { _ in
            try page.wait("state() === 'lost'")
            try browser.openTab()
            try browser.open(old + "/other")
            try browser.run(
                """
                const key = await crypto.subtle.importKey('raw', new Uint8Array(32),
                    { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']);
                await new Promise((done) => {
                    const open = indexedDB.open('tweaks', 1);
                    open.onsuccess = () => {
                        const work = open.result.transaction('keys', 'readwrite');
                        work.objectStore('keys').put(key, 'sign-in');
                        work.oncomplete = done;
                    };
                });
                new BroadcastChannel('tweaks').postMessage(true);
                """)
        }
        try browser.go(to: open)
        try browser.run("dispatchEvent(new Event('online'))")
        try page.waitUntilConnected()
        try page.click("Bool", "switch", sets: .bool(true))
        #expect(host.registry.history.first?.origin.description == "token owner")
    }
}
