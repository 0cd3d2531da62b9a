// Signing in by the page: what it sends, what it keeps, and what a program learns that takes its port.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SignInPageTests {
    /// Notes what the page sends from its first line on; answers in the place of the process where `lies` has something.
    private static let noting = """
        globalThis.sent = [];
        const fetched = fetch;
        globalThis.fetch = async (path, options = {}) => {
            sent.push(path + ' ' + JSON.stringify(options.headers ?? {}) + ' ' + (options.body ?? ''));
            const answer = await fetched(path, options);
            if (!globalThis.lie || path !== '/login') return answer;
            return new Response(await lie(await answer.text(), options.body), { status: 200 });
        };
        """

    private func browser(_ more: String = "") throws -> PanelView {
        let browser = try Browser()
        _ = try browser.command("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.noting + more)])
        return PanelView(browser: browser)
    }

    /// Neither the token nor the browser's key is sent, or to be had by a script of the page's origin.
    @Test func nothingThatLastsCanBeHad() throws {
        let host = try PanelHost()
        let page = try browser()
        try page.browser.open(host.link())
        try page.waitUntilConnected()
        try page.click("Bool", "switch")
        try host.wait("Bool", .bool(true))
        let secret = String(PanelHost.owner.secret.dropFirst(4))
        let sent = try page.ask("sent").array ?? []
        #expect(sent.count > 3 && !sent.contains { $0.string?.contains(secret) ?? true })
        #expect(try page.ask("JSON.stringify([localStorage, sessionStorage])").string?.contains("Key") == false)
        #expect(try page.ask("(await signInKey()).extractable") == false)
        #expect(
            try page.ask("crypto.subtle.exportKey('raw', await signInKey()).then(() => 'had', (error) => error.name)")
                == "InvalidAccessError")
        #expect(try page.ask("String(await (await asPage('/api/whoami')).status)") == "200")
        try page.checkConsole()
    }

    /// Loaded again, and after a restart of the process, the page answers a question; it is not asked for a token.
    @Test func lastsOverARestart() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(401), PanelView.refused(503), "net::ERR_"]) { page in
            try page.browser.reload()
            try page.waitUntilConnected()
            host.stop()
            try page.wait("state() === 'lost'")
            try host.startAgain()
            try page.waitUntilConnected()
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
        }
    }

    /// A key that was held back from signing out, as by a program that has had the port meanwhile, opens nothing.
    @Test func aKeyThatWasHeldBack() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(401)]) { page in
            try page.ask("globalThis.stolen = await signInKey()")
            let cookie = try #require(try page.browser.cookies.first)
            try page.element("people").click()
            try page.press(button: "Sign out", in: "#pane")
            try page.wait("state() === 'login' && (await signInKey()) === undefined")
            _ = try page.browser.command(
                "Network.setCookie",
                ["name": cookie["name"], "value": cookie["value"], "url": .string(host.origin), "httpOnly": true])
            let answer = try page.ask(
                """
                (async () => {
                    const { challenge } = await logIn({});
                    const proof = await crypto.subtle.sign('HMAC', stolen, new TextEncoder().encode(challenge));
                    return (await logIn({ challenge, answer: btoa(String.fromCharCode(...new Uint8Array(proof))) })).error;
                })()
                """)
            #expect(answer["code"] == "auth-required", "\(answer)")
        }
    }

    /// What a program says that has the port and does not know the token.
    @Test(arguments: [
        "JSON.stringify({ ...JSON.parse(text), scram: 'v=' + btoa('x'.repeat(32)) })", "'{\"ok\":true}'",
        "text.replace('r=', 'r=x')",
    ])
    func anImpostor(_ lie: String) throws {
        let host = try PanelHost()
        let page = try browser("globalThis.lie = async (text, body) => \(lie);")
        try page.browser.open(host.link())
        try page.wait("state() === 'login' && isShown(document.getElementById('login-error'))")
        let said = try page.ask("document.getElementById('login-error').textContent").string ?? ""
        #expect(said.contains("does not know that token") || said.contains("no program of tweaks"), "\(said)")
        let secret = String(PanelHost.owner.secret.dropFirst(4))
        #expect(try page.ask("sent").array?.contains { $0.string?.contains(secret) ?? true } == false)
        #expect(try page.ask("(await signInKey()) === undefined && !isShown(document.getElementById('plain'))") == true)
    }

    /// Without Web Crypto, as over plain HTTP from elsewhere, the token is sent only if a person says so, and not kept.
    @Test func withoutWebCrypto() throws {
        let host = try PanelHost()
        let page = try browser("Object.defineProperty(crypto, 'subtle', { value: undefined });")
        try page.browser.open(host.link())
        try page.wait("state() === 'login' && isShown(document.getElementById('plain'))")
        #expect(
            try page.ask("document.getElementById('login-error').textContent.includes('only send the token itself')")
                == true)
        #expect(try page.ask("sent.some((text) => text.includes('twk_'))") == false)
        try page.element("plain").click()
        try page.waitUntilConnected()
        #expect(try page.browser.cookies.isEmpty)
        #expect(try page.ask("JSON.stringify([localStorage, sessionStorage]).includes('twk_')") == false)
        try page.browser.reload()
        try page.wait("state() === 'login' && document.getElementById('token').value === ''")
    }
}
