// One running Chromium, and its way from test to test: starting one takes longer than most tests do.

import Foundation
import Synchronization

/// A session of the driver, and so a browser with a profile of its own. It ends when nobody holds it.
final class BrowserSession: Sendable {
    private static let idle = Mutex<[BrowserSession]>([])

    private static let arguments: PageValue = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad",
        "--disable-extensions", "--no-first-run", "--force-color-profile=srgb", "--lang=en",
        "--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE ::1",
    ]

    private let driver: WebDriver
    private let identity: String
    /// What the driver says of it: its port, its profile.
    let details: PageValue

    /// Starts one.
    init(of driver: WebDriver) throws {
        let capabilities: PageValue = [
            "browserName": "chrome", "unhandledPromptBehavior": "ignore",
            "timeouts": ["script": .milliseconds(Browser.patience * 2), "pageLoad": .milliseconds(Browser.patience)],
            "goog:loggingPrefs": ["browser": "ALL"],
            "goog:chromeOptions": ["binary": .string(Tool.chromium.path), "args": Self.arguments],
        ]
        let reply = try driver.ask(
            "POST", "/session", ["capabilities": ["alwaysMatch": capabilities]], about: "a new browser")
        self.driver = driver
        identity = reply["sessionId"].string ?? ""
        details = reply["capabilities"]
    }

    deinit { _ = try? driver.ask("DELETE", "/session/\(identity)", nil, about: "the end of a browser") }

    /// Sends a command of WebDriver.
    func ask(_ method: String, _ path: String, _ body: PageValue?, about subject: String) throws -> PageValue {
        try driver.ask(method, "/session/\(identity)/\(path)", body, about: subject)
    }

    // MARK: From test to test

    /// One that nobody uses, as good as new.
    static func taken() throws -> BrowserSession {
        let session = idle.withLock { $0.popLast() }
        if let session { return session }
        let new = try BrowserSession(of: WebDriver.shared.get())
        _ = try new.ask("POST", "url", ["url": "about:blank"], about: "an empty page")
        return new
    }

    /// For the next test. One that cannot be tidied ends.
    /// - Parameter origins: Whose data it may hold.
    func putBack(_ origins: Set<String>) {
        guard (try? tidy(origins)) != nil else { return }
        Self.idle.withLock { if $0.count < 3 { $0.append(self) } }
    }

    /// Replaces the window by a new one: the position of the pointer stays with a window, and touch tests see it.
    func renewWindow() throws {
        let old = try ask("GET", "window", nil, about: "window")
        let new = try ask("POST", "window/new", ["type": "tab"], about: "a new tab")["handle"]
        _ = try ask("POST", "window", ["handle": old], about: "window")
        _ = try ask("DELETE", "window", nil, about: "window")
        _ = try ask("POST", "window", ["handle": new], about: "window")
    }

    /// Leaves one window, empty, and nothing of what pages have kept. The window stays, and with it the process that shows
    /// its pages: a new one would be half of a test's work.
    private func tidy(_ origins: Set<String>) throws {
        _ = try ask("DELETE", "actions", nil, about: "what is held")
        let windows = try ask("GET", "window/handles", nil, about: "windows").array ?? []
        for handle in windows.dropFirst() {
            _ = try ask("POST", "window", ["handle": handle], about: "window")
            _ = try ask("DELETE", "window", nil, about: "window")
        }
        _ = try ask("POST", "window", ["handle": windows.first ?? nil], about: "window")
        let forget: PageValue = ["script": "try { sessionStorage.clear() } catch {}", "args": []]
        _ = try ask("POST", "execute/sync", forget, about: "session storage")
        _ = try ask("POST", "url", ["url": "about:blank"], about: "an empty page")
        try command("Network.disable")
        try command("Browser.setDownloadBehavior", ["behavior": "default"])
        try command("Network.clearBrowserCookies")
        for origin in origins {
            try command("Storage.clearDataForOrigin", ["origin": .string(origin), "storageTypes": "all"])
        }
        _ = try ask("POST", "se/log", ["type": "browser"], about: "console")
    }

    private func command(_ name: String, _ parameters: PageValue = [:]) throws {
        _ = try ask("POST", "goog/cdp/execute", ["cmd": .string(name), "params": parameters], about: name)
    }
}
