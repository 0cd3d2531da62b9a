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
        return try session ?? BrowserSession(of: WebDriver.shared.get())
    }

    /// For the next test. One that cannot be tidied ends.
    /// - Parameter origins: Whose data it may hold.
    func putBack(_ origins: Set<String>) {
        guard (try? tidy(origins)) != nil else { return }
        Self.idle.withLock { if $0.count < 3 { $0.append(self) } }
    }

    /// Leaves one window, a new one, and nothing of what pages have kept.
    private func tidy(_ origins: Set<String>) throws {
        let old = try ask("GET", "window/handles", nil, about: "windows").array ?? []
        _ = try ask("POST", "window", ["handle": old.first ?? nil], about: "window")
        _ = try ask("DELETE", "actions", nil, about: "what is held")
        let new = try ask("POST", "window/new", ["type": "tab"], about: "a new tab")["handle"]
        for handle in old {
            _ = try ask("POST", "window", ["handle": handle], about: "window")
            _ = try ask("DELETE", "window", nil, about: "window")
        }
        _ = try ask("POST", "window", ["handle": new], about: "window")
        _ = try ask(
            "POST", "goog/cdp/execute", ["cmd": "Network.clearBrowserCookies", "params": [:]], about: "cookies")
        for origin in origins {
            let data: PageValue = ["origin": .string(origin), "storageTypes": "all"]
            _ = try ask(
                "POST", "goog/cdp/execute", ["cmd": "Storage.clearDataForOrigin", "params": data], about: "data")
        }
        _ = try ask("POST", "se/log", ["type": "browser"], about: "console")
    }
}
