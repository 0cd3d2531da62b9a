// Tests the addresses of the page: codes that sign in once, names where nothing is stored, and the notice.

import Testing
import Tweaks
import TweaksPanel
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PanelAddressTests {
    @Test func aCodeSignsInOneBrowserOnce() throws {
        let host = try PanelHost()
        let link = host.printedLink
        let first = PanelView(host: host, browser: try Browser())
        let second = PanelView(host: host, browser: try Browser())
        try first.browser.open(link)
        try first.waitUntilConnected()
        #expect(try first.browser.address == "\(host.origin)/")
        #expect(host.printedLink != link)
        try second.browser.open(link)
        try second.wait("state() === 'login' && byID('login-error').textContent.includes('has been used')")
        try second.expect("byID('login-error').textContent.includes('tweakctl NAME panel')")
        try second.expect("byID('token').value === '' && !isShown(byID('plain'))")
        try second.attachPictures("used-code")
        try second.browser.resize(width: 360, height: 640)
        try second.expectRoom()
        try second.attachPictures("used-code-narrow")
        try second.type(host.code, over: second.element("token"), then: [.enter])
        try second.waitUntilConnected()
        try second.click("Bool", "switch", sets: .bool(true))
        #expect(host.registry.history.first?.origin.description == "panel")
        // The browser that has used it is signed in already.
        try first.browser.open("about:blank")
        try first.browser.open(link)
        try first.waitUntilConnected()
        try first.checkConsole(expecting: [PanelView.refused(401)])
    }

    /// As in a browser that does not know `ID.localhost`.
    @Test func atAnotherNameNothingIsStored() throws {
        let host = try PanelHost(names: ["localhost"])
        let expected = [PanelView.refused(401), PanelView.refused(503), "net::ERR_"]
        try host.visit(name: "localhost", expecting: expected) { page in
            try page.click("Bool", "switch", sets: .bool(true))
            try page.wait("row('Bool').querySelector('[data-part=star]') != null")
            try page.click("Bool", "star")
            #expect(try page.browser.cookies.isEmpty)
            try page.expect("localStorage.length === 0 && sessionStorage.length === 0")
            try page.expect("(await indexedDB.databases()).length === 0")
            // An open page goes on.
            host.stop()
            try page.wait("state() === 'lost'")
            try host.restart()
            try page.waitUntilConnected()
            try page.click("Bool", "switch", sets: .bool(false))
            try page.browser.reload()
            try page.wait("state() === 'login' && isShown(byID('token'))")
            try page.expect("sessionStorage.length === 0")
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]"]) func theAddressForProgramsShowsANotice(
        _ name: String
    ) throws {
        let host = try PanelHost()
        let browser = try Browser()
        let page = PanelView(host: host, browser: browser)
        try browser.open("http://\(name):\(host.port)/#code=\(PanelHost.owner.secret)")
        #expect(try browser.run("return document.body.textContent").string?.contains("tweakctl NAME panel") == true)
        let parts = "script, link[rel=stylesheet], form, input, a, iframe"
        #expect(try browser.run("return document.querySelectorAll('\(parts)').length") == 0)
        #expect(try browser.run("return document.documentElement.outerHTML").string?.contains(host.pageID) == false)
        #expect(try browser.cookies.isEmpty)
        #expect(try browser.run("return getComputedStyle(document.querySelector('main')).borderRadius") == "14px")
        try browser.resize(width: 360, height: 640)
        try page.expectRoom()
        try page.attachPictures("notice-narrow")
        try browser.resize(width: 1_280, height: 800)
        try page.attachPictures("notice")
    }
}
