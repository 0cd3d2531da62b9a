// A headless Chromium that a test has for itself.

import Foundation

/// A browser with a profile of its own, which holds nothing of other tests. Every call blocks until it is done.
///
/// Names that end in `.test` are this machine, so that a page can be served by a stranger; no others are resolved.
package final class Browser {
    /// What the system's settings say of colours.
    package enum Scheme: String, CaseIterable, Sendable { case light, dark }

    /// A window or a tab.
    package struct Window: Equatable, Sendable { fileprivate let handle: String }

    /// Whether this machine has what it takes.
    package static var isAvailable: Bool { Tool.chromedriver.exists && Tool.chromium.exists && Tool.bash.exists }

    /// How long pages, scripts and conditions are waited for.
    package static let patience = Duration.seconds(30)

    private let session: BrowserSession
    private var view: View
    /// Who may have kept something.
    private var origins: Set<String> = []

    /// How pages see the screen and the system.
    private struct View {
        var width: Int
        var height: Int
        var scheme: Scheme
        var reducesMotion: Bool
        var hasTouch: Bool
    }

    /// Starts one. Its size is that of the page's view, without frames. With touch it is a telephone: a page that says
    /// nothing of its viewport is laid out for a wide one.
    package init(
        width: Int = 1_280, height: Int = 800, scheme: Scheme = .light, reducesMotion: Bool = false,
        touch hasTouch: Bool = false
    ) throws {
        view = View(width: width, height: height, scheme: scheme, reducesMotion: reducesMotion, hasTouch: hasTouch)
        session = try BrowserSession.taken()
        if hasTouch { try session.renewWindow() }
        try show()
    }

    deinit { session.putBack(origins) }

    // MARK: Commands

    /// Sends a command of WebDriver.
    func ask(
        _ method: String, _ path: String, _ body: PageValue? = nil, about subject: String
    ) throws -> PageValue {
        try session.ask(method, path, body, about: subject)
    }

    /// Sends a command of Chromium's own protocol to the window at hand: `Accessibility.getFullAXTree`,
    /// `Network.emulateNetworkConditions`.
    @discardableResult
    package func command(_ name: String, _ parameters: PageValue = [:]) throws -> PageValue {
        try ask("POST", "goog/cdp/execute", ["cmd": .string(name), "params": parameters], about: name)
    }

    // MARK: Pages

    /// Goes to an address and waits until the page is loaded.
    package func open(_ address: String) throws {
        if let url = URL(string: address), let host = url.host(), let port = url.port {
            origins.insert("http://\(host):\(port)")
        }
        _ = try ask("POST", "url", ["url": .string(address)], about: address)
    }

    /// Loads the page again.
    package func reload() throws { _ = try ask("POST", "refresh", [:], about: "reload") }

    /// Goes to the page before.
    package func goBack() throws { _ = try ask("POST", "back", [:], about: "back") }

    /// The title of the page.
    package var title: String { get throws { try ask("GET", "title", about: "title").string ?? "" } }

    /// What the address bar shows.
    package var address: String { get throws { try ask("GET", "url", about: "address").string ?? "" } }

    /// The cookies that the page's host has set, `HttpOnly` ones among them.
    package var cookies: [PageValue] { get throws { try ask("GET", "cookie", about: "cookies").array ?? [] } }

    /// What was written to the console since somebody asked last, by level (`SEVERE`, `WARNING`, `INFO`), with what the
    /// browser itself complains of.
    package func console() throws -> [(level: String, message: String)] {
        let lines = try ask("POST", "se/log", ["type": "browser"], about: "console").array ?? []
        return lines.map { ($0["level"].string ?? "", $0["message"].string ?? "") }
    }

    // MARK: Windows

    /// The one that commands go to.
    package var window: Window {
        get throws { Window(handle: try ask("GET", "window", about: "window").string ?? "") }
    }

    /// All that are open.
    package var windows: [Window] {
        get throws {
            try (ask("GET", "window/handles", about: "windows").array ?? []).map { Window(handle: $0.string ?? "") }
        }
    }

    /// Opens a tab beside the others and goes there. It shares their cookies.
    @discardableResult
    package func openTab() throws -> Window {
        let reply = try ask("POST", "window/new", ["type": "tab"], about: "a new tab")
        let window = Window(handle: reply["handle"].string ?? "")
        try go(to: window)
        return window
    }

    /// Sends the commands that follow to another window.
    package func go(to window: Window) throws {
        _ = try ask("POST", "window", ["handle": .string(window.handle)], about: "window")
        try show()
    }

    /// Closes the window that commands go to; another one has to be gone to.
    package func closeWindow() throws { _ = try ask("DELETE", "window", about: "close") }

    // MARK: Looks

    /// Makes the page's view so large, narrower than a window can be if need be.
    package func resize(width: Int, height: Int) throws {
        (view.width, view.height) = (width, height)
        try show()
    }

    /// Moves the whole system to another colour scheme.
    package func change(to scheme: Scheme) throws {
        view.scheme = scheme
        try show()
    }

    /// Tells the window at hand what it looks like; every window has to be told.
    private func show() throws {
        let (width, height) = (PageValue(view.width), PageValue(view.height))
        try command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": .bool(view.hasTouch)])
        try command("Emulation.setTouchEmulationEnabled", ["enabled": .bool(view.hasTouch)])
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

    /// A time as WebDriver counts it.
    package static func milliseconds(_ duration: Duration) -> PageValue {
        .number((duration / .milliseconds(1)).rounded())
    }
}
