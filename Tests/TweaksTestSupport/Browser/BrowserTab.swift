// Drives a browser tab: commands, page loads, downloads and console messages.

import Foundation
import Synchronization

/// A driven tab. All calls block.
final class BrowserTab: Sendable {
    /// Counts loaded documents, navigations that load none, and saved files.
    private struct State {
        var loads = 0
        var moves = 0
        var files = 0
    }

    private let chromium: Chromium
    /// The browser's identifier of the tab.
    let target: String
    private let session: String
    // The condition guards the state: waiting needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var state = State()

    /// Attaches to a tab.
    /// - Parameter console: Receives a line for each message of the page's console, with its level first.
    init(_ target: String, of chromium: Chromium, console: LogLines) throws {
        (self.chromium, self.target) = (chromium, target)
        let reply = try chromium.ask(
            "Target.attachToTarget", ["targetId": .string(target), "flatten": true], about: "a tab")
        session = reply["sessionId"].string ?? ""
        chromium.listen(to: session) { [weak self] event, details in
            self?.count(event, details)
            if let line = Self.consoleLine(event, details) { console.note(line) }
        }
        for domain in ["Page", "Runtime", "Log"] { try ask("\(domain).enable") }
        // Makes every tab behave as if it had the keyboard focus.
        try ask("Emulation.setFocusEmulationEnabled", ["enabled": true])
    }

    deinit { chromium.listen(to: session, nil) }

    /// Sends the tab a command.
    @discardableResult
    func ask(_ name: String, _ parameters: PageValue = [:], about subject: String? = nil) throws -> PageValue {
        try chromium.ask(name, parameters, session: session, about: subject)
    }

    // MARK: Loading and saving

    private func count(_ event: String, _ details: PageValue) {
        condition.withLock {
            switch event {
            case "Page.loadEventFired": state.loads += 1
            // A navigation within the document, or a document restored from the cache: neither is loaded.
            case "Page.navigatedWithinDocument": state.moves += 1
            case "Page.frameNavigated" where details["type"] == "BackForwardCacheRestore": state.moves += 1
            case "Page.downloadProgress" where details["state"] == "completed": state.files += 1
            default: return
            }
            condition.broadcast()
        }
    }

    /// Runs a body that makes the tab load a document, and waits until it is loaded.
    /// - Parameter orMove: Whether a navigation within the document is enough.
    func load(about subject: String, orMove: Bool = false, _ body: () throws -> Bool) throws {
        try wait("\(subject): not loaded", after: body) { before, now in
            now.loads != before.loads || orMove && now.moves != before.moves
        }
    }

    /// Runs a body that makes the tab save a file, and waits until it is saved.
    func save(about subject: String, _ body: () throws -> Void) throws {
        try wait("\(subject): not saved") {
            try body()
            return true
        } until: { before, now in
            now.files != before.files
        }
    }

    /// Runs a body and, if it returns true, waits for the condition.
    private func wait(
        _ problem: String, after body: () throws -> Bool, until isDone: (_ before: State, _ now: State) -> Bool
    ) throws {
        let before = condition.withLock { state }
        guard try body() else { return }
        let end = Date(timeIntervalSinceNow: Browser.timeout / .seconds(1))
        try condition.withLock {
            while !isDone(before, state) {
                guard condition.wait(until: end) else {
                    throw BrowserError(code: "timeout", description: "\(problem) after \(Browser.timeout)")
                }
            }
        }
    }

    // MARK: Console

    private static func consoleLine(_ event: String, _ details: PageValue) -> String? {
        switch event {
        case "Runtime.consoleAPICalled":
            let words = (details["args"].array ?? []).map { $0["value"].string ?? $0["description"].string ?? "\($0)" }
            return "\(level(details["type"].string)) \(words.joined(separator: " "))"
        case "Runtime.exceptionThrown":
            let (exception, text) = (details["exceptionDetails"], details["exceptionDetails"]["text"].string ?? "")
            return "error \(text) \(exception["exception"]["description"].string ?? "")"
        case "Log.entryAdded":
            let entry = details["entry"]
            return "\(level(entry["level"].string)) \(entry["text"].string ?? "") \(entry["url"].string ?? "")"
        default: return nil
        }
    }

    private static func level(_ name: String?) -> String {
        switch name {
        case "error", "assert": "error"
        case "warning": "warning"
        default: "info"
        }
    }
}
