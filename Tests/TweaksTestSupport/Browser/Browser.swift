// Drives the tabs of a headless Chromium for one test.

import Foundation

/// A separate profile, with its tabs, of the browser that all tests share. Every call blocks until it is done.
///
/// Host names that end in `.test` resolve to this machine, so that a page can have another origin; no others resolve.
package final class Browser {
    /// The color scheme of the system.
    package enum Scheme: String, CaseIterable, Sendable { case light, dark }

    /// Identifies a tab.
    package struct TabID: Equatable, Sendable { fileprivate let target: String }

    /// A profile that one test has left for another, with the files in its cache, and a blank tab.
    package struct Profile: Sendable {
        fileprivate let id: String
        fileprivate let target: String
        /// The origin whose pages it has shown.
        fileprivate let origin: String
    }

    /// Whether Chromium and bash are installed.
    package static var isAvailable: Bool { Tool.chromium.exists && Tool.bash.exists }

    /// The timeout of page loads, scripts and conditions.
    package static let timeout = Duration.milliseconds(Int(TestClient.timeout))

    private let chromium: Chromium
    /// The browser's identifier of the profile.
    let profile: String
    private let lines = LogLines()
    private var consumed = 0
    private var tabs: [BrowserTab]
    /// The tab that commands are sent to.
    private var tab: BrowserTab
    private var view: View
    private var isLeft = false
    /// The state of mouse, finger and keyboard.
    var inputState = InputState()

    /// The emulated screen and system settings.
    private struct View {
        var width: Int
        var height: Int
        var scheme: Scheme
        var reducesMotion: Bool
        var forcesColors = false
        var hasTouch: Bool
    }

    /// Opens a tab in a new profile. The size is that of the page's view. With touch it is a mobile device: a page
    /// without a viewport declaration is laid out for a wide one.
    /// - Parameter earlier: A profile to use instead; cookies and stored data are removed from it first.
    package init(
        width: Int = 1_280, height: Int = 800, scheme: Scheme = .light, reducesMotion: Bool = false,
        touch hasTouch: Bool = false, in earlier: Profile? = nil
    ) throws {
        view = View(width: width, height: height, scheme: scheme, reducesMotion: reducesMotion, hasTouch: hasTouch)
        chromium = try Chromium.shared.get()
        profile = try earlier?.id ?? chromium.ask("Target.createBrowserContext")["browserContextId"].string ?? ""
        let target = try earlier?.target ?? Self.newTarget(of: chromium, in: profile)
        tab = try BrowserTab(target, of: chromium, console: lines)
        tabs = [tab]
        if let earlier {
            _ = try chromium.ask("Storage.clearCookies", ["browserContextId": .string(profile)])
            try command("Storage.clearDataForOrigin", ["origin": .string(earlier.origin), "storageTypes": "all"])
        }
        try applyView()
    }

    deinit {
        if isLeft { return }
        _ = try? chromium.ask("Target.disposeBrowserContext", ["browserContextId": .string(profile)])
    }

    /// Closes all tabs and leaves the profile to another test. The browser cannot be used any more.
    /// - Parameter origin: The origin of its pages.
    package func leave(_ origin: String) throws -> Profile {
        // Opened before the others are closed: it keeps their process, which has compiled the page's scripts.
        let blank = try Self.newTarget(of: chromium, in: profile)
        for id in try tabIDs where id.target != blank { try close(id) }
        isLeft = true
        return Profile(id: profile, target: blank, origin: origin)
    }

    // MARK: Commands

    /// Sends a command of the DevTools protocol to the current tab: `Accessibility.getFullAXTree`.
    @discardableResult
    package func command(
        _ name: String, _ parameters: PageValue = [:], about subject: String? = nil
    ) throws -> PageValue { try tab.ask(name, parameters, about: subject) }

    /// Runs a body that starts a download, and waits until the file is in a directory, under the name that the page
    /// gives it.
    package func saveFile(in directory: String, _ body: () throws -> Void) throws {
        let profile = PageValue.string(profile)
        _ = try chromium.ask(
            "Browser.setDownloadBehavior",
            ["behavior": "allow", "browserContextId": profile, "downloadPath": .string(directory)])
        try tab.save(about: directory, body)
    }

    // MARK: Pages

    /// Navigates to an address and waits until the page is loaded.
    package func open(_ address: String) throws {
        try tab.load(about: address) {
            let reply = try command("Page.navigate", ["url": .string(address)], about: address)
            if let error = reply["errorText"].string, !error.isEmpty {
                throw BrowserError(code: "not loaded", description: "\(address): \(error)")
            }
            // A navigation within the same document has no loader.
            return reply["loaderId"].string != nil
        }
    }

    /// Reloads the page.
    package func reload() throws {
        try tab.load(about: "reload") {
            try command("Page.reload")
            return true
        }
    }

    /// Navigates back.
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

    /// The address in the address bar.
    package var address: String {
        get throws {
            let history = try command("Page.getNavigationHistory", about: "address")
            return history["entries"][Int(history["currentIndex"].number ?? 0)]["url"].string ?? ""
        }
    }

    /// The cookies of the page's host, including `HttpOnly` ones.
    package var cookies: [PageValue] { get throws { try command("Network.getCookies")["cookies"].array ?? [] } }

    // MARK: Console

    /// The console messages since the last call, with their level (`error`, `warning`, `info`), including those of the
    /// browser itself.
    /// - Parameter last: Waits for a message with this text.
    package func console(through last: String? = nil) throws -> [(level: String, message: String)] {
        if let last, lines.firstIndex(from: consumed, where: { $0.contains(last) }) == nil {
            throw BrowserError(code: "timeout", description: "console: no message with \(last)")
        }
        let new = lines.all[consumed...]
        consumed += new.count
        return new.map { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    // MARK: Tabs

    /// The tab that commands are sent to.
    package var tabID: TabID { TabID(target: tab.target) }

    /// All open tabs, including those that pages have opened.
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
        try BrowserTab(newTarget(of: chromium, in: profile), of: chromium, console: console)
    }

    private static func newTarget(of chromium: Chromium, in profile: String) throws -> String {
        let reply = try chromium.ask(
            "Target.createTarget", ["url": "about:blank", "browserContextId": .string(profile)], about: "a new tab")
        return reply["targetId"].string ?? ""
    }

    /// Opens another tab and makes it the current one. It shares the cookies.
    @discardableResult
    package func openTab() throws -> TabID {
        tab = try Self.newTab(of: chromium, in: profile, console: lines)
        tabs.append(tab)
        try applyView()
        return tabID
    }

    /// Makes another tab the current one.
    package func go(to id: TabID) throws {
        if let known = tabs.first(where: { $0.target == id.target }) {
            tab = known
        } else {
            tab = try BrowserTab(id.target, of: chromium, console: lines)
            tabs.append(tab)
        }
        try applyView()
    }

    /// Closes the current tab; the caller then has to go to another one.
    package func closeTab() throws { try close(tabID) }

    private func close(_ closed: TabID) throws {
        _ = try chromium.ask("Target.closeTarget", ["targetId": .string(closed.target)], about: "close")
        let end = ContinuousClock.now + Self.timeout
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
        // Frames of other sites run in separate processes.
        let far = try targets("iframe").map { target in
            let tab = try BrowserTab(target["targetId"].string ?? "", of: chromium, console: lines)
            return try evaluate(script, about: "a frame", in: tab)
        }
        return near + far
    }

    /// Runs the body of a function in the current tab.
    func evaluate(
        _ script: String, _ arguments: [PageValue], callsBack: Bool = false, about subject: String
    ) throws -> PageValue { try evaluate(script, arguments, callsBack: callsBack, about: subject, in: tab) }

    // MARK: Looks

    /// Resizes the page's view; it may be narrower than a window can be.
    package func resize(width: Int, height: Int) throws {
        (view.width, view.height) = (width, height)
        try applyView()
    }

    /// Changes the color scheme of the system.
    package func change(to scheme: Scheme) throws {
        view.scheme = scheme
        try applyView()
    }

    /// Replaces the page's colors by a few of the system, as it does for those who need contrast.
    package func forceColors(_ isForced: Bool) throws {
        view.forcesColors = isForced
        try applyView()
    }

    /// Applies the screen settings to the current tab; each tab needs them.
    private func applyView() throws {
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
                    ["name": "forced-colors", "value": view.forcesColors ? "active" : "none"],
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
