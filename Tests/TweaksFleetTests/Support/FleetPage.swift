// Operates the page of a fleet in a browser, as a user does.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleetOperator

/// One page of a fleet.
struct FleetPage {
    let host: FleetPanelHost
    let browser: Browser

    /// Opens the page in a new profile, runs a body, checks the console, and ends the panel.
    /// - Parameter expected: Parts of console messages that are allowed.
    static func visit(
        _ host: FleetPanelHost, width: Int = 1_280, touch hasTouch: Bool = false, expecting expected: [String] = [],
        _ body: (FleetPage) async throws -> Void
    ) async throws {
        let page = FleetPage(
            host: host, browser: try Browser(width: width, reducesMotion: true, touch: hasTouch))
        try page.browser.open(host.panel.address)
        try page.wait("state() === 'connected' && part('Service/Pool/Size', 'slider')")
        // The page asks for the user's name at the first change in a browser.
        try page.browser.run("localStorage.setItem('tweaks.asked', 'true')")
        do {
            try await body(page)
        } catch {
            await host.panel.stop()
            let text = try? page.browser.run("return document.body.innerText").string
            Issue.record("the page is \(text ?? "not there")")
            throw error
        }
        // Console messages arrive in order.
        try page.browser.run("console.log('the end of a visit')")
        let complaints = try page.browser.console(through: "the end of a visit").filter { line in
            line.level != "info" && !expected.contains { line.message.contains($0) }
        }
        #expect(complaints.isEmpty, "\(complaints)")
        await host.panel.stop()
    }

    @discardableResult
    func wait(_ condition: String, _ given: PageValue...) throws -> PageValue {
        try browser.wait(until: "await \(Self.call(condition))", .array(given))
    }

    @discardableResult
    func ask(_ expression: String, _ given: PageValue...) throws -> PageValue {
        try browser.run("return await \(Self.call(expression))", .array(given))
    }

    private static func call(_ expression: String) -> String {
        """
        (async () => {
            const given = arguments[0];
            const byID = (id) => document.getElementById(id);
            const isShown = (element) => element != null && element.checkVisibility({ visibilityProperty: true });
            const row = (path) => document.querySelector(`[data-path="${CSS.escape(path)}"]`);
            const part = (path, part) => row(path)?.querySelector(`[data-part="${part}"]`);
            const one = (part) => [...document.querySelectorAll(`[data-part="${part}"]`)].find(isShown);
            const state = () => document.documentElement.dataset.state;
            const dialog = () => byID('ask').open ? byID('ask').innerText : '';
            const pane = () => byID('drawer').open ? byID('pane').innerText : '';
            return (\(expression));
        })()
        """
    }

    /// Clicks a part of the page, which may be drawn again at any moment until then.
    /// - Parameter path: The tweak whose row has the part; nil for the first one of the page.
    func click(_ part: String, of path: String? = nil) throws {
        let expression = path == nil ? "one(given[0])" : "part(given[1], given[0])"
        for attempt in 0..<20 {
            do {
                let found = try wait(
                    "isShown(\(expression)) && !\(expression).disabled && \(expression)", .string(part),
                    .string(path ?? ""))
                return try browser.found(found, part).click()
            } catch let error as BrowserError where error.code == "stale element reference" && attempt < 19 { continue }
        }
    }

    /// Replaces the text of a field.
    func type(_ text: String, over part: String) throws {
        let field = try browser.found(try wait("one(given[0])", .string(part)), part)
        try field.clear()
        try field.type(text)
    }

    /// Drags the slider of a tweak.
    func drag(_ path: String = FleetPanelHost.size, x: Double) throws {
        let slider = try browser.found(try wait("part(given[0], 'slider')", .string(path)), path)
        try browser.perform(
            .mouse([.move(to: slider), .press, .moveBy(x: x, y: 0, over: .milliseconds(200)), .release]))
    }

    /// Confirms in the dialog, and waits until that is done.
    func confirm() throws {
        try click("confirm")
        try wait("!byID('ask').open")
    }

    /// Opens a tab of the drawer.
    func open(_ tab: String) throws {
        if try ask("byID('drawer').open") == false { try click("fleet") }
        try wait("document.querySelector(`[data-tab=${given[0]}]`)", .string(tab))
        try ask("document.querySelector(`[data-tab=${given[0]}]`).click()", .string(tab))
        try wait(
            "document.querySelector(`[data-tab=${given[0]}][aria-current]`) && byID('pane').querySelector('h2')",
            .string(tab))
    }

    /// Checks that the page does not scroll sideways, nor the drawer, nor the dialog.
    func expectRoom(_ subject: String, at location: SourceLocation = #_sourceLocation) throws {
        let beyond = try ask(
            """
            [document.documentElement, byID('pane'), byID('ask')].filter((box) =>
                isShown(box) && box.scrollWidth > box.clientWidth).map((box) => box.id || 'page')
            """)
        #expect(beyond == [], "\(subject): \(beyond)", sourceLocation: location)
    }

    /// Attaches pictures of the page in light and dark.
    func attachPictures(_ name: String) throws {
        guard Browser.attachesScreenshots else { return }
        for scheme in Browser.Scheme.allCases {
            try browser.change(to: scheme)
            try browser.attach("\(name)-\(scheme)")
        }
        try browser.change(to: .light)
    }

    /// axe-core, where `TWEAKS_AXE` names its file.
    private static let axe = ProcessInfo.processInfo.environment["TWEAKS_AXE"].flatMap {
        try? String(contentsOfFile: $0, encoding: .utf8)
    }

    /// Lets axe-core look for faults of accessibility, in light and dark.
    func expectAccessible(_ subject: String, at location: SourceLocation = #_sourceLocation) throws {
        guard let axe = Self.axe else { return }
        try browser.command("Runtime.evaluate", ["expression": .string(axe)])
        for scheme in Browser.Scheme.allCases {
            try browser.change(to: scheme)
            let found = try ask(
                """
                axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
                    ({ id, nodes }) => nodes.map(({ html, any }) =>
                        `${id}: ${html.slice(0, 120)} ${any[0]?.message ?? ''}`)))
                """)
            #expect(found == [], "\(subject), \(scheme): \(found)", sourceLocation: location)
        }
        try browser.change(to: .light)
    }

    static func refused(_ status: Int) -> String { "the server responded with a status of \(status)" }
}
