// Tabs of a headless Chromium that a test has for itself.

import Foundation

/// A profile of the browser that all tests share, which holds nothing of other tests, and its tabs. Every call blocks until
/// it is done.
///
/// Names that end in `.test` are this machine, so that a page can be served by a stranger; no others are resolved.
package final class Browser {
    /// What the system's settings say of colors.
    package enum Scheme: String, CaseIterable, Sendable { case light, dark }

    /// Which tab is meant.
    package struct TabID: Equatable, Sendable { fileprivate let target: String }

    /// Whether this machine has what it takes.
    package static var isAvailable: Bool { Tool.chromium.exists && Tool.bash.exists }

    /// How long pages, scripts and conditions are waited for.
    package static let patience = Duration.milliseconds(Int(TestClient.patience))

    private let chromium: Chromium
    /// What the browser calls the profile.
    let profile: String
    private let lines = LogLines()
    private var heard = 0
    private var tabs: [BrowserTab]
    /// The one that commands go to.
    private var tab: BrowserTab
    private var view: View
    /// What the hands hold.
    var hands = Hands()

    /// How pages see the screen and the system.
    private struct View {
        var width: Int
        var height: Int
        var scheme: Scheme
        var reducesMotion: Bool
        var hasTouch: Bool
    }

    /// Opens a tab in a new profile. Its size is that of the page's view, without frames. With touch it is a telephone: a
    /// page that says nothing of its viewport is laid out for a wide one.
    package init(
        width: Int = 1_280, height: Int = 800, scheme: Scheme = .light, reducesMotion: Bool = false,
        touch hasTouch: Bool = false
    ) throws {
        view = View(width: width, height: height, scheme: scheme, reducesMotion: reducesMotion, hasTouch: hasTouch)
        chromium = try Chromium.shared.get()
        profile = try chromium.ask("Target.createBrowserContext")["browserContextId"].string ?? ""
        tab = try Self.newTab(of: chromium, in: profile, console: lines)
        tabs = [tab]
        try show()
    }

    deinit { _ = try? chromium.ask("Target.disposeBrowserContext", ["browserContextId": .string(profile)]) }

    // MARK: Commands

    /// Sends a command of the DevTools protocol to the tab at hand: `Accessibility.getFullAXTree`.
    @discardableResult
    package func command(
        _ name: String, _ parameters: PageValue = [:], about subject: String? = nil
    ) throws -> PageValue { try tab.ask(name, parameters, about: subject) }

    /// Does what makes the page hand out a file, and waits until that is in a directory, under the name that the page
    /// gives it.
    package func saveFile(in directory: String, _ body: () throws -> Void) throws {
        let profile = PageValue.string(profile)
        _ = try chromium.ask(
            "Browser.setDownloadBehavior",
            ["behavior": "allow", "browserContextId": profile, "downloadPath": .string(directory)])
        try tab.save(about: directory, body)
    }

    // MARK: Pages

    /// Goes to an address and waits until the page is loaded.
    package func open(_ address: String) throws {
        try tab.load(about: address) {
            let reply = try command("Page.navigate", ["url": .string(address)], about: address)
            if let error = reply["errorText"].string, !error.isEmpty {
                throw BrowserError(code: "not loaded", description: "\(address): \(error)")
            }
            // Another place of the same page has no loader.
            return reply["loaderId"].string != nil
        }
    }

    /// Loads the page again.
    package func reload() throws {
        try tab.load(about: "reload") {
            try command("Page.reload")
            return true
        }
    }

    /// Goes to the page before.
    package func goBack() throws {
        let history = try command("Page.getNavigationHistory")
        let position = Int(history["currentIndex"].number ?? 0) - 1
        try tab.load(about: "back", orMove: true) {
            try command("Page.navigateToHistoryEntry", ["entryId": history["entries"][position]["id"]], about: "back")
            return true
        }
    }

    /// The title of the page.
    package var title: String { get throws { try run("return document.title").string ?? "" } }

    /// What the address bar shows.
    package var address: String {
        get throws {
            let history = try command("Page.getNavigationHistory", about: "address")
            return history["entries"][Int(history["currentIndex"].number ?? 0)]["url"].string ?? ""
        }
    }

    /// The cookies that the page's host has set, `HttpOnly` ones among them.
    package var cookies: [PageValue] { get throws { try command("Network.getCookies")["cookies"].array ?? [] } }

    // MARK: Console

    /// What was written to the console since this was asked last, by level (`error`, `warning`, `info`), with what the
    /// browser itself complains of.
    /// - Parameter last: Waits for a message with this text.
    package func console(through last: String? = nil) throws -> [(level: String, message: String)] {
        if let last, lines.firstIndex(from: heard, where: { $0.contains(last) }) == nil {
            throw BrowserError(code: "timeout", description: "console: nothing with \(last)")
        }
        let new = lines.all[heard...]
        heard += new.count
        return new.map { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    // MARK: Tabs

    /// The one that commands go to.
    package var tabID: TabID { TabID(target: tab.target) }

    /// All open tabs, those that pages have opened among them.
    package var tabIDs: [TabID] {
        get throws {
            try targets("page").map { TabID(target: $0["targetId"].string ?? "") }
        }
    }

    private func targets(_ type: PageValue) throws -> [PageValue] {
        let all = try chromium.ask("Target.getTargets")["targetInfos"].array ?? []
        return all.filter { $0["browserContextId"] == .string(profile) && $0["type"] == type }
    }

    private static func newTab(
        of chromium: Chromium, in profile: String, console: LogLines
    ) throws -> BrowserTab {
        let reply = try chromium.ask(
            "Target.createTarget", ["url": "about:blank", "browserContextId": .string(profile)], about: "a new tab")
        return try BrowserTab(reply["targetId"].string ?? "", of: chromium, console: console)
    }

    /// Opens a tab beside the others and goes there. It shares their cookies.
    @discardableResult
    package func openTab() throws -> TabID {
        tab = try Self.newTab(of: chromium, in: profile, console: lines)
        tabs.append(tab)
        try show()
        return tabID
    }

    /// Sends the commands that follow to another tab.
    package func go(to id: TabID) throws {
        if let known = tabs.first(where: { $0.target == id.target }) {
            tab = known
        } else {
            tab = try BrowserTab(id.target, of: chromium, console: lines)
            tabs.append(tab)
        }
        try show()
    }

    /// Closes the tab that commands go to; another one has to be gone to.
    package func closeTab() throws {
        _ = try chromium.ask("Target.closeTarget", ["targetId": .string(tab.target)], about: "close")
        let (closed, end) = (tabID, ContinuousClock.now + Self.patience)
        while try tabIDs.contains(closed) {
            if ContinuousClock.now > end {
                throw BrowserError(code: "timeout", description: "close: the tab stays open")
            }
        }
        tabs.removeAll { $0.target == closed.target }
    }

    /// Runs the body of a function in each frame of the page.
    package func runInFrames(_ script: String) throws -> [PageValue] {
        let near = try (command("Page.getFrameTree")["frameTree"]["childFrames"].array ?? []).map { child in
            let world = try command("Page.createIsolatedWorld", ["frameId": child["frame"]["id"]])
            return try evaluate(script, context: world["executionContextId"], about: "a frame", in: tab)
        }
        // Those of other sites have processes of their own.
        let far = try targets("iframe").map { target in
            let tab = try BrowserTab(target["targetId"].string ?? "", of: chromium, console: lines)
            return try evaluate(script, about: "a frame", in: tab)
        }
        return near + far
    }

    /// Runs the body of a function in the tab at hand.
    func evaluate(
        _ script: String, _ arguments: [PageValue], callsBack: Bool = false, about subject: String
    ) throws
        -> PageValue
    { try evaluate(script, arguments, callsBack: callsBack, about: subject, in: tab) }

    // MARK: Looks

    /// Makes the page's view so large, narrower than a window can be if need be.
    package func resize(width: Int, height: Int) throws {
        (view.width, view.height) = (width, height)
        try show()
    }

    /// Moves the whole system to another color scheme.
    package func change(to scheme: Scheme) throws {
        view.scheme = scheme
        try show()
    }

    /// Tells the tab at hand what it looks like; every tab has to be told.
    private func show() throws {
        let (width, height) = (PageValue(view.width), PageValue(view.height))
        try command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": .bool(view.hasTouch)])
        if view.hasTouch { try command("Emulation.setTouchEmulationEnabled", ["enabled": true]) }
        try command(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": .string(view.scheme.rawValue)],
                    ["name": "prefers-reduced-motion", "value": view.reducesMotion ? "reduce" : "no-preference"],
                ]
            ])
    }
}

extension PageValue {
    /// A whole number.
    package init(_ value: Int) { self = .number(Double(value)) }

    /// A time in milliseconds, as JavaScript counts it.
    package static func milliseconds(_ duration: Duration) -> PageValue {
        .number((duration / .milliseconds(1)).rounded())
    }
}
