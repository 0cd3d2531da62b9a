// A browser tab: its commands, its page loads and its console messages.

import Foundation
import Synchronization

/// A tab that is driven. All calls block.
final class BrowserTab: Sendable {
    /// Counts of documents that were loaded, of moves that load none, and of files that were saved.
    private struct State {
        var loads = 0
        var moves = 0
        var files = 0
    }

    private let chromium: Chromium
    /// What the browser calls the tab.
    let target: String
    private let session: String
    // The condition guards the state: waiting needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var state = State()

    /// Takes hold of a tab.
    /// - Parameter console: Gets a line for each message of the page's console, its level first.
    init(_ target: String, of chromium: Chromium, console: LogLines) throws {
        (self.chromium, self.target) = (chromium, target)
        let reply = try chromium.ask(
            "Target.attachToTarget", ["targetId": .string(target), "flatten": true], about: "a tab")
        session = reply["sessionId"].string ?? ""
        chromium.listen(to: session) { [weak self] event, details in
            self?.note(event, details)
            if let line = Self.consoleLine(event, details) { console.add(line) }
        }
        for domain in ["Page", "Runtime", "Log"] { try ask("\(domain).enable") }
        // Every tab takes the keyboard to be its own.
        try ask("Emulation.setFocusEmulationEnabled", ["enabled": true])
    }

    deinit { chromium.listen(to: session, nil) }

    /// Sends it a command.
    @discardableResult
    func ask(_ name: String, _ parameters: PageValue = [:], about subject: String? = nil) throws -> PageValue {
        try chromium.ask(name, parameters, session: session, about: subject)
    }

    // MARK: Loading and saving

    private func note(_ event: String, _ details: PageValue) {
        condition.withLock {
            switch event {
            case "Page.loadEventFired": state.loads += 1
            // Another place of the same document, or one that was kept as it was: neither is loaded.
            case "Page.navigatedWithinDocument": state.moves += 1
            case "Page.frameNavigated" where details["type"] == "BackForwardCacheRestore": state.moves += 1
            case "Page.downloadProgress" where details["state"] == "completed": state.files += 1
            default: return
            }
            condition.broadcast()
        }
    }

    /// Does what makes the tab load a document, and waits until it has.
    /// - Parameter orMove: A move within the document is enough.
    func load(about subject: String, orMove: Bool = false, _ body: () throws -> Bool) throws {
        try wait("\(subject): not loaded", after: body) { before, now in
            now.loads != before.loads || orMove && now.moves != before.moves
        }
    }

    /// Does what makes the tab save a file, and waits until it has.
    func save(about subject: String, _ body: () throws -> Void) throws {
        try wait("\(subject): not saved") {
            try body()
            return true
        } until: { before, now in
            now.files != before.files
        }
    }

    /// Does something, and waits for what comes of it unless that says that nothing will.
    private func wait(
        _ problem: String, after body: () throws -> Bool, until isDone: (_ before: State, _ now: State) -> Bool
    ) throws {
        let before = condition.withLock { state }
        guard try body() else { return }
        let end = Date(timeIntervalSinceNow: Browser.patience / .seconds(1))
        try condition.withLock {
            while !isDone(before, state) {
                guard condition.wait(until: end) else {
                    throw BrowserError(code: "timeout", description: "\(problem) after \(Browser.patience)")
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
