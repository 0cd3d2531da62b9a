// Tests signing in by the page: what it sends and keeps, and what an impostor on its port learns.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SignInPageTests {
    /// Records all requests of the page; `lie` replaces replies of `/login`.
    private static let recording = """
        globalThis.sent = [];
        const fetched = fetch;
        globalThis.fetch = async (path, options = {}) => {
            sent.push(path + ' ' + JSON.stringify(options.headers ?? {}) + ' ' + (options.body ?? ''));
            const answer = await fetched(path, options);
            if (!globalThis.lie || path !== '/login') return answer;
            return new Response(await lie(await answer.text(), options.body), { status: 200 });
        };
        """

    /// Opens the page of a new server after a script.
    private func page(_ more: String = "") throws -> PanelView {
        let page = PanelView(host: try PanelHost(), browser: try Browser())
        let script = PageValue.string(Self.recording + more)
        try page.browser.command("Page.addScriptToEvaluateOnNewDocument", ["source": script])
        try page.browser.open(page.host.link())
        return page
    }

    /// Whether the page has sent the secret of the token.
    private func hasSentTheSecret(_ page: PanelView) throws -> Bool {
        let secret = String(PanelHost.owner.secret.dropFirst(4))
        return try page.ask("sent").array?.contains { $0.string?.contains(secret) ?? true } ?? true
    }

    @Test func theTokenIsNotSentAndTheKeyCannotBeExported() throws {
        let page = try page()
        try page.waitUntilConnected()
        try page.click("Bool", "switch", sets: .bool(true))
        #expect(try page.ask("sent.length > 3") == true)
        #expect(try !hasSentTheSecret(page))
        #expect(try page.ask("JSON.stringify([localStorage, sessionStorage])").string?.contains("Key") == false)
        #expect(try page.ask("(await signInKey()).extractable") == false)
        let export = "crypto.subtle.exportKey('raw', await signInKey()).then(() => 'exported', (error) => error.name)"
        #expect(try page.ask(export) == "InvalidAccessError")
        #expect(try page.ask("(await asPage('/api/whoami')).status") == 200)
        try page.checkConsole()
    }

    @Test func aSignInLastsOverAReloadAndARestart() throws {
        try PanelHost.visit(expecting: [PanelView.refused(401), PanelView.refused(503), "net::ERR_"]) { host, page in
            try page.browser.reload()
            try page.waitUntilConnected()
            host.stop()
            try page.wait("state() === 'lost'")
            try host.restart()
            try page.waitUntilConnected()
            try page.click("Bool", "switch", sets: .bool(true))
        }
    }

    /// As by a program that had the port meanwhile.
    @Test func aKeyKeptOverASignOutIsRefused() throws {
        try PanelHost.visit(expecting: [PanelView.refused(401)]) { host, page in
            try page.ask("globalThis.stolen = await signInKey()")
            let cookie = try #require(try page.browser.cookies.first)
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login' && (await signInKey()) === undefined")
            let (name, value, origin) = (cookie["name"], cookie["value"], PageValue.string(host.origin))
            try page.browser.command(
                "Network.setCookie", ["name": name, "value": value, "url": origin, "httpOnly": true])
            #expect(try page.ask("(await answer(stolen)).error")["code"] == "auth-required")
        }
    }

    /// An impostor on the port, which does not know the token.
    @Test(arguments: [
        "JSON.stringify({ ...JSON.parse(text), scram: 'v=' + btoa('x'.repeat(32)) })", "'{\"ok\":true}'",
        "text.replace('r=', 'r=x')",
    ])
    func anImpostorGetsNeitherTokenNorKey(_ lie: String) throws {
        let page = try page("globalThis.lie = async (text, body) => \(lie);")
        try page.wait("state() === 'login' && isShown(byID('login-error'))")
        let said = try page.ask("byID('login-error').textContent").string ?? ""
        #expect(said.contains("does not know the token") || said.contains("not a tweaks server"), "\(said)")
        #expect(try !hasSentTheSecret(page))
        try page.expect("(await signInKey()) === undefined && !isShown(byID('plain'))")
    }

    /// As over plain HTTP from another machine; the token is not stored.
    @Test func withoutWebCryptoTheTokenIsSentOnlyAfterAConfirmation() throws {
        let page = try page("Object.defineProperty(crypto, 'subtle', { value: undefined });")
        try page.wait("state() === 'login' && isShown(byID('plain'))")
        try page.expect("byID('login-error').textContent.includes('only send a token itself')")
        #expect(try page.ask("sent.some((text) => text.includes('twk_'))") == false)
        try page.element("plain").click()
        try page.waitUntilConnected()
        #expect(try page.browser.cookies.isEmpty)
        #expect(try page.ask("JSON.stringify([localStorage, sessionStorage]).includes('twk_')") == false)
        try page.browser.reload()
        try page.wait("state() === 'login' && byID('token').value === ''")
    }
}
