// Tests the page below a path of a site: its addresses, and what it stores.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser, .timeLimit(.minutes(30))) struct MountedPageTests {
    private struct Visit {
        let page: PanelView
        let site: MountedSite
    }

    private func open(_ rest: String = "") throws -> Visit {
        let host = try PanelHost()
        let visit = Visit(page: PanelView(host: host, browser: try Browser()), site: try MountedSite(host))
        try visit.page.browser.open(visit.site.address + rest)
        return visit
    }

    @Test func thePageNeedsNoSignInAndStaysBelowItsPath() throws {
        let visit = try open()
        let page = visit.page
        try page.waitUntilConnected()
        #expect(try page.ask("location.pathname") == "/ops/tweaks/")
        try page.wait("byID('state').title.startsWith('caller ada, scopes: admin')")
        try page.type("72", over: "Whole", then: .enter, sets: .int(72))
        try page.host.set("Whole", "73")
        try page.wait("field('Whole') === '73'")
        try page.element("people").click()
        try page.wait("byID('pane').textContent.includes('You are caller ada.')")
        try page.expect("!byID('pane').textContent.includes('Sign out')")
        #expect(visit.site.targets.allSatisfy { $0.hasPrefix("/ops/tweaks") }, "\(visit.site.targets)")
        try page.checkConsole()
    }

    @Test func settingsAreStoredUnderThePath() throws {
        let visit = try open("/#/Kinds/Basic")
        let page = visit.page
        try page.waitUntilConnected()
        try page.browser.run("localStorage.setItem('tweaks.name', '\"of the site\"')")
        try page.press("Whole", "star", .space)
        try page.wait("localStorage.getItem('tweaks/ops/tweaks/favorites')?.includes('Kinds/Basic/Whole')")
        let names = try page.ask("[...Object.keys(localStorage), ...Object.keys(sessionStorage)].sort()").array ?? []
        let own = names.compactMap(\.string).filter { $0 != "tweaks.name" }
        #expect(own.allSatisfy { $0.hasPrefix("tweaks/ops/tweaks/") }, "\(own)")
        try page.browser.reload()
        try page.waitUntilConnected()
        try page.wait("part('Whole', 'star')?.ariaPressed === 'true'")
        #expect(try page.ask("byID('state').title.includes('of the site')") == false)
    }

    /// A link of the panel's own address, in the mail of a colleague.
    @Test func aCodeInTheAddressIsIgnored() throws {
        let visit = try open("/#code=1234567890123456789012")
        try visit.page.waitUntilConnected()
        #expect(try visit.page.ask("location.hash") == "")
        #expect(!visit.site.targets.contains { $0.hasSuffix("/login") })
    }

    /// The status by which the site asks for a sign-in. Nothing is typed: the first request that is answered so moves the
    /// focus to a button, where Enter would reload the page.
    @Test(arguments: [401, 403]) func aSiteThatEndsTheSignInIsNamed(_ status: Int) throws {
        let visit = try open()
        let page = visit.page
        try page.waitUntilConnected()
        visit.site.refuse(status)
        let line = try page.host.connect()
        let stream = try line.ask("sessions").first { $0.contains("caller ada") && !$0.contains("watches 0") }
        if let number = stream?.split(separator: " ").first { try line.ask("kick \(number)") }
        try page.wait("state() === 'login' && byID('login').textContent.includes('Sign in to the site again')")
        try page.expect("document.activeElement.textContent === 'Reload this page'")
        visit.site.refuse(nil)
        try page.browser.reload()
        try page.waitUntilConnected()
        try page.type("72", over: "Whole", then: .enter, sets: .int(72))
    }

    @Test func theSitesServiceWorkerIsNoImpostor() throws {
        let visit = try open()
        try visit.page.waitUntilConnected()
        try visit.page.browser.run(
            "Object.defineProperty(navigator.serviceWorker, 'controller', { value: {}, configurable: true })")
        try visit.page.type("72", over: "Whole", then: .enter, sets: .int(72))
    }
}
