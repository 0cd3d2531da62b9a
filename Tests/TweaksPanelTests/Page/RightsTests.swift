// Tests rights: the page shows and offers what its user may see and do, and hides the token.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct RightsTests {
    private static let reader = PanelHost.User(name: "reader", scopes: ["read"])
    private static let partly = PanelHost.User(name: "partly", scopes: ["read", "write:Kinds"])
    private static let runner = PanelHost.User(name: "runner", scopes: ["read", "run:Kinds/Basic/Greet"])
    private static let narrow = PanelHost.User(name: "narrow", scopes: ["read:Other", "write:Other/Far/Distance"])

    /// The enabled controls that change something in the process.
    private static let offers = """
        [...document.querySelectorAll('#list [data-part]:is(button, input, select, textarea)')].filter((element) =>
            isShown(element) && !element.disabled && !['explain', 'star', 'more', 'sparkline'].includes(element.dataset.part))
        """

    @Test func aReaderIsOfferedNoChangeAndRefusedAny() throws {
        try PanelHost.visit(as: Self.reader, expecting: [PanelView.refused(403)]) { host, page in
            try page.wait("listed().length > 15")
            let offers = try page.ask("\(Self.offers).map((element) => element.outerHTML)")
            #expect(offers == [], "\(offers)")
            try page.expect("['undo', 'redo'].map(byID).every((button) => button.disabled || !isShown(button))")
            #expect(try page.ask("isShown(document.querySelector('#people .count'))") == false)
            // The keys do nothing either.
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try page.open("presets")
            #expect(try page.ask("document.querySelectorAll('[data-part=preset-save]').length") == 0)
            try page.keys(.escape)
            try page.open("import")
            try page.expect("document.querySelector('[data-part=import-check], [data-part=import-text]') == null")
            try page.keys(.escape)
            // Other users are not listed, but the own name can be changed.
            try page.open("people", until: "isShown(byID('name'))")
            #expect(try page.ask("document.querySelectorAll('#pane li').length") == 0)
            try page.keys(.escape)
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            try page.checkConsole()
            // The server refuses what the page does not offer.
            let revision = host.registry.revision
            let codes = try page.ask(
                """
                Promise.all([['PATCH', '/api/tweaks', { changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] }],
                    ['POST', '/api/undo', {}], ['POST', '/api/reset', { patterns: ['Kinds'] }],
                    ['PUT', '/api/presets/a', {}], ['POST', '/api/actions/Kinds/Basic/Greet', {}],
                    ['POST', '/api/import', { text: 'Kinds/Basic/Whole = 1' }]]
                    .map(async ([method, path, body]) => (await asPage(path,
                        { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })).status))
                """)
            #expect(codes == [403, 403, 403, 403, 403, 403])
            #expect(host.registry.revision == revision)
        }
    }

    @Test func aWriterOfAPartIsOfferedThatPart() throws {
        try PanelHost.visit(as: Self.partly) { host, page in
            try page.wait("listed().length > 15")
            try page.expect(
                "!\(Self.offers).some((element) => element.closest('.row').dataset.path.startsWith('Other/'))")
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            try page.wait("part('Other/Far/Distance', 'field')?.disabled")
        }
    }

    @Test func aUserWhoMayRunAnActionIsOfferedIt() throws {
        try PanelHost.visit(as: Self.runner) { host, page in
            try page.wait("row('Greet') != null")
            let offers = try page.ask(
                "[...new Set(\(Self.offers).map((element) => element.closest('.row').dataset.path))]")
            #expect(offers == ["Kinds/Basic/Greet"], "\(offers)")
            try page.click("Greet", "run")
            try page.wait("text('Greet', 'result').startsWith('hello')")
        }
    }

    @Test func hiddenTweaksAreNowhereInThePage() throws {
        try PanelHost.visit(as: Self.narrow, expecting: [PanelView.refused(404)]) { host, page in
            try page.wait("String(listed()) === 'Other/Far/Distance,Other/Far/Workers'")
            try host.set("Whole", "72")
            try host.set("Other/Far/Workers", "9")
            try page.wait("field('Other/Far/Workers') === '9'")
            try page.type("whole", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('whole')")
            #expect(try page.ask("listed()") == [])
            try page.open("history")
            try page.wait("!byID('pane').textContent.includes('Loading')")
            try page.expect("!document.documentElement.outerHTML.replace(/<script[^]*<.script>/, '').includes('Kinds')")
            #expect(try page.ask("(await asPage('/api/tweaks/Kinds/Basic/Whole')).status") == 404)
        }
    }

    @Test func revokedRightsLeadToTheSignIn() throws {
        try PanelHost.visit(as: Self.partly, expecting: [PanelView.refused(401), "net::ERR_"]) { host, page in
            try page.wait("!part('Whole', 'field').disabled")
            host.revoke(Self.partly)
            try page.wait("state() === 'login'")
            #expect(try page.ask("isShown(byID('shell'))") == false)
        }
    }

    @Test func theTokenIsNowhereInThePage() throws {
        try PanelHost.visit(at: "/Kinds/Basic/Side") { host, page in
            #expect(try page.browser.address == "\(host.origin)/#/Kinds/Basic/Side")
            let cookies = try page.browser.cookies
            #expect(cookies.map { $0["name"] } == [.string("tweaks-\(host.port)")])
            #expect(cookies.map { $0["httpOnly"] } == [true] && cookies.map { $0["sameSite"] } == ["Strict"])
            #expect(cookies.map { $0["path"] } == ["/"])
            #expect(try page.ask("document.cookie") == "")
            try page.expect(
                "!JSON.stringify([localStorage, sessionStorage, history.state, document.referrer]).includes('twk_')")
            try page.expect("!document.documentElement.outerHTML.includes('twk_' + 'a') && byID('token').value === ''")
            // Going back does not lead to it either.
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("listed().length === 2")
            try page.browser.goBack()
            try page.wait("location.hash === '#/Kinds/Basic/Side'")
            // Another tab is signed in, too.
            try page.browser.openTab()
            try page.browser.open(host.origin + "/")
            try page.waitUntilConnected()
        }
    }

    @Test func wrongTokensAreRefused() throws {
        let host = try PanelHost(users: [Self.reader])
        let page = PanelView(host: host, browser: try Browser())
        try page.browser.open(host.link(PanelHost.User(name: "unknown", scopes: [.admin])))
        try page.wait("state() === 'login' && isShown(byID('login-error'))")
        #expect(try page.browser.address == "\(host.origin)/")
        #expect(try page.ask("document.querySelectorAll('[data-path]:not(template *)').length") == 0)
        #expect(try page.browser.cookies.isEmpty)
        try page.type("rubbish", over: page.element("token"), then: [.enter])
        try page.wait("isShown(byID('login-error'))")
        try page.type(Self.reader.secret, over: page.element("token"), then: [.enter])
        try page.waitUntilConnected()
        #expect(try page.ask("byID('token').value") == "")
        try page.checkConsole(expecting: [PanelView.refused(401), PanelView.refused(400)])
    }

    /// The windows of one browser share a cookie.
    @Test func allWindowsSignOutAndInTogether() throws {
        // A request of a page may come too late for its token.
        try PanelHost.visit(expecting: [PanelView.refused(401)]) { host, page in
            let first = page.browser.tabID
            let second = try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            try page.open("presets", until: "byID('drawer').open")
            try page.browser.go(to: first)
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login'")
            try page.browser.go(to: second)
            try page.wait("state() === 'login' && !byID('drawer').open")
            #expect(try page.ask("isShown(byID('list'))") == false)
            try page.type(PanelHost.owner.secret, over: page.element("token"), then: [.enter])
            try page.waitUntilConnected()
            try page.browser.go(to: first)
            try page.waitUntilConnected()
            try page.click("Bool", "switch", sets: .bool(true))
            // A reload does not sign in again.
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login'")
            #expect(try page.browser.cookies.isEmpty)
            try page.browser.reload()
            try page.wait("state() === 'login' && isShown(byID('token'))")
        }
    }
}
