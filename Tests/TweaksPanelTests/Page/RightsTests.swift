// Who may: the page shows and offers what its identity may see and do, and hides how it came to be let in.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct RightsTests {
    private static let reader = PanelHost.Guest(name: "reader", scopes: ["read"])
    private static let partly = PanelHost.Guest(name: "partly", scopes: ["read", "write:Kinds"])
    private static let runner = PanelHost.Guest(name: "runner", scopes: ["read", "run:Kinds/Basic/Greet"])
    private static let narrow = PanelHost.Guest(name: "narrow", scopes: ["read:Other", "write:Other/Far/Distance"])

    private func host() throws -> PanelHost {
        try PanelHost(guests: [Self.reader, Self.partly, Self.runner, Self.narrow])
    }

    /// Whatever changes something in the process, as far as it is offered.
    private static let offers = """
        [...document.querySelectorAll('#list [data-part]:is(button, input, select, textarea)')].filter((element) => isShown(element)
            && !element.disabled && !['explain', 'star', 'more'].includes(element.dataset.part))
        """

    @Test func whoMayOnlyReadIsOfferedNoChange() throws {
        let host = try host()
        try host.visit(as: Self.reader) { page in
            try page.wait("listed().length > 15")
            let offers = try page.ask("\(Self.offers).map((element) => element.outerHTML)")
            #expect(offers == [], "\(offers)")
            #expect(
                try page.ask(
                    "['undo', 'redo'].map((id) => document.getElementById(id)).every((button) => button.disabled || !isShown(button))"
                ) == true)
            #expect(try page.ask("isShown(document.querySelector('#people .count'))") == false)
            // The keys are as dead.
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
            try page.element("presets").click()
            try page.wait("document.querySelector('#pane h2') != null")
            #expect(try page.ask("document.querySelectorAll('[data-part=preset-save]').length") == 0)
            try page.browser.perform(.keys(.escape))
            try page.element("import").click()
            try page.wait("document.querySelector('#pane h2') != null")
            #expect(
                try page.ask("document.querySelectorAll('[data-part=import-check], [data-part=import-text]').length")
                    == 0)
            try page.browser.perform(.keys(.escape))
            // Who else is here is not shown; how one is called is everybody's own business.
            try page.element("people").click()
            try page.wait("isShown(document.getElementById('name'))")
            #expect(try page.ask("document.querySelectorAll('#pane li').length") == 0)
            try page.browser.perform(.keys(.escape))
            // It still sees.
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
        }
    }

    /// What the page does not offer, the server refuses.
    @Test func whatIsNotOfferedIsRefused() throws {
        let host = try host()
        try host.visit(as: Self.reader, expecting: [PanelView.refused(403)]) { page in
            let revision = host.registry.revision
            let codes = try page.ask(
                """
                Promise.all([['PATCH', '/api/tweaks', { changes: [{ path: 'Kinds/Basic/Whole', value: 1 }] }],
                    ['POST', '/api/undo', {}], ['POST', '/api/reset', { patterns: ['Kinds'] }], ['PUT', '/api/presets/a', {}],
                    ['POST', '/api/actions/Kinds/Basic/Greet', {}], ['POST', '/api/import', { text: 'Kinds/Basic/Whole = 1' }]]
                    .map(async ([method, path, body]) => (await asPage(path,
                        { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })).status))
                """)
            #expect(codes == [403, 403, 403, 403, 403, 403])
            #expect(host.registry.revision == revision)
        }
    }

    @Test func whoMayChangeAPartIsOfferedThat() throws {
        let host = try host()
        try host.visit(as: Self.partly) { page in
            try page.wait("listed().length > 15")
            #expect(
                try page.ask(
                    "\(Self.offers).some((element) => element.closest('.row').dataset.path.startsWith('Other/'))")
                    == false)
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            try page.wait("part('Other/Far/Distance', 'field')?.disabled")
        }
    }

    @Test func whoMayRunIsOfferedThat() throws {
        let host = try host()
        try host.visit(as: Self.runner) { page in
            try page.wait("row('Greet') != null")
            let offers = try page.ask(
                "[...new Set(\(Self.offers).map((element) => element.closest('.row').dataset.path))]")
            #expect(offers == ["Kinds/Basic/Greet"], "\(offers)")
            try page.click("Greet", "run")
            try page.wait("text('Greet', 'result').startsWith('hello')")
        }
    }

    /// What somebody may not see is nowhere in the page, nor found, nor told of.
    @Test func theUnseenIsNotThere() throws {
        let host = try host()
        try host.visit(as: Self.narrow, expecting: [PanelView.refused(404)]) { page in
            try page.wait("String(listed()) === 'Other/Far/Distance,Other/Far/Workers'")
            try host.set("Whole", "72")
            try host.set("Other/Far/Workers", "9")
            try page.wait("field('Other/Far/Workers') === '9'")
            try page.type("whole", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('whole')")
            #expect(try page.ask("listed()") == [])
            try page.element("history").click()
            try page.wait(
                "document.querySelector('#pane h2') != null && !document.getElementById('pane').textContent.includes('Loading')"
            )
            #expect(
                try page.ask("document.documentElement.outerHTML.replace(/<script[^]*<.script>/, '').includes('Kinds')")
                    == false)
            #expect(try page.ask("(await asPage('/api/tweaks/Kinds/Basic/Whole')).status") == 404)
        }
    }

    /// Rights that end while the page is open end there, too.
    @Test func lostRightsShow() throws {
        let host = try host()
        try host.visit(as: Self.partly, expecting: [PanelView.refused(401), "net::ERR_"]) { page in
            try page.wait("!part('Whole', 'field').disabled")
            host.revoke(Self.partly)
            try page.wait("state() === 'login'")
            #expect(try page.ask("isShown(document.getElementById('shell'))") == false)
        }
    }

    // MARK: Being let in

    @Test func theTokenIsHidden() throws {
        let host = try host()
        try host.visit(at: "/Kinds/Basic/Side") { page in
            #expect(try page.browser.address == "\(host.origin)/#/Kinds/Basic/Side")
            let cookies = try page.browser.cookies
            #expect(cookies.map { $0["name"] } == [.string("tweaks-\(host.port)")])
            #expect(cookies.map { $0["httpOnly"] } == [true] && cookies.map { $0["sameSite"] } == ["Strict"])
            #expect(cookies.map { $0["path"] } == ["/"])
            #expect(try page.ask("document.cookie") == "")
            #expect(
                try page.ask(
                    "JSON.stringify([localStorage, sessionStorage, history.state, document.referrer]).includes('twk_')")
                    == false)
            #expect(
                try page.ask(
                    "document.documentElement.outerHTML.includes('twk_' + 'a') || document.getElementById('token').value !== ''"
                ) == false)
            // Nor does going back lead to it.
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("listed().length === 2")
            try page.browser.goBack()
            try page.wait("location.hash === '#/Kinds/Basic/Side'")
            // Loaded again it is still good; in another tab, too.
            try page.browser.openTab()
            try page.browser.open(host.origin + "/")
            try page.waitUntilConnected()
        }
    }

    @Test func wrongTokensAreSaid() throws {
        let host = try host()
        let stranger = PanelHost.Guest(name: "stranger", scopes: [.admin])
        let browser = try Browser()
        let page = PanelView(browser: browser)
        try browser.open(host.link(stranger))
        try page.wait("state() === 'login' && isShown(document.getElementById('login-error'))")
        #expect(try browser.address == "\(host.origin)/")
        #expect(try page.ask("document.querySelectorAll('[data-path]:not(template *)').length") == 0)
        #expect(try browser.cookies.isEmpty)
        try page.type("rubbish", over: page.element("token"), then: [.enter])
        try page.wait("isShown(document.getElementById('login-error'))")
        try page.type(Self.reader.secret, over: page.element("token"), then: [.enter])
        try page.waitUntilConnected()
        #expect(try page.ask("document.getElementById('token').value") == "")
        try page.checkConsole(expecting: [PanelView.refused(401), PanelView.refused(400)])
    }

    @Test func signingOut() throws {
        let host = try host()
        try host.visit(expecting: [PanelView.refused(401)]) { page in
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login'")
            #expect(try page.browser.cookies.isEmpty)
            try page.browser.reload()
            try page.wait("state() === 'login' && isShown(document.getElementById('token'))")
        }
    }

    /// The windows of one browser share a cookie: they go, and come, together.
    @Test func otherWindowsSignOutAndInAsWell() throws {
        let host = try host()
        // What a page asks for may come too late for its token.
        try host.visit(expecting: [PanelView.refused(401)]) { page in
            let first = page.browser.tabID
            let second = try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            try page.element("presets").click()
            try page.wait("document.getElementById('drawer').open")
            try page.browser.go(to: first)
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login'")
            // Nothing is left open there, and nothing was asked first.
            try page.browser.go(to: second)
            try page.wait("state() === 'login' && !document.getElementById('drawer').open")
            #expect(try page.ask("isShown(document.getElementById('list'))") == false)
            try page.type(Self.secret(host.link()), over: page.element("token"), then: [.enter])
            try page.waitUntilConnected()
            try page.browser.go(to: first)
            try page.waitUntilConnected()
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
        }
    }

    /// The token in a link.
    private static func secret(_ link: String) -> String { String(link.split(separator: "=").last ?? "") }
}
