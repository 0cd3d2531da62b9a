// The panel's page in a browser, and the hands of somebody who uses it.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

/// One page of the panel.
struct PanelView {
    let browser: Browser

    // MARK: Finding

    /// A part of a tweak's row.
    static func selector(_ name: String, _ part: String = "") -> String {
        let path = PanelHost.path(name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "[data-path=\"\(path)\"]" + (part.isEmpty ? "" : " [data-part=\"\(part)\"]")
    }

    /// A part of a tweak's row, in the middle of the view.
    func part(_ name: String, _ part: String = "") throws -> Element {
        // Rows are made when they come near the view.
        let found = try browser.wait(until: "document.querySelector(arguments[0])", .string(Self.selector(name, part)))
        return try shown(browser.found(found, name))
    }

    /// The part of the page with this identity.
    func element(_ identity: String) throws -> Element { try browser.element("#\(identity)") }

    /// The button with this text, within what a selector fits, once it is there.
    func button(_ text: String, in selector: String = "body") throws -> Element {
        try browser.found(wait("named(given[0], given[1])", .string(text), .string(selector)), "button \(text)")
    }

    /// Clicks a button, which may be drawn again at any moment until then.
    func press(button text: String, in selector: String) throws {
        for _ in 0..<20 {
            do { return try button(text, in: selector).click() } catch let error as BrowserError
                where error.code == "stale element reference"
            { continue }
        }
        try button(text, in: selector).click()
    }

    private func shown(_ element: Element) throws -> Element {
        try browser.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element.value)
        return element
    }

    // MARK: Handling

    /// Clicks undo or redo, once there is something to go back to. Both are gray while the process is slow to answer.
    func step(_ identity: String) throws {
        for _ in 0..<20 {
            try wait("!document.getElementById(given[0]).disabled", .string(identity))
            do { return try element(identity).click() } catch let error as BrowserError
                where error.code == "element click missed"
            { continue }
        }
        try element(identity).click()
    }

    /// Clicks a part of a row, once it is shown: what may be done is drawn a frame after what is known.
    func click(_ name: String, _ part: String) throws {
        let element = try self.part(name, part)
        try browser.wait(until: "arguments[0].checkVisibility({ visibilityProperty: true })", element.value)
        try element.click()
    }

    /// Gives the keyboard to a part of a row, once that takes it.
    func focus(_ name: String, _ part: String) throws {
        try browser.wait(
            until: "(arguments[0].focus(), document.activeElement === arguments[0])", self.part(name, part).value)
    }

    /// Types over what a field holds, when what was typed before has been answered: an answer would undo the selection.
    func type(_ text: String, over name: String, _ part: String = "field", then keys: Key...) throws {
        try wait("!row(given[0])?.row.sender.isBusy", .string(name))
        try type(text, over: self.part(name, part), then: keys)
    }

    /// Types over what a field holds.
    func type(_ text: String, over element: Element, then keys: [Key] = []) throws {
        try browser.run("arguments[0].focus(); arguments[0].select()", element.value)
        let typed = text.map { KeyStep.character($0) } + keys.flatMap { [.press($0), .release($0)] }
        try browser.perform(.keyboard(typed))
    }

    /// Presses keys on a part of a row.
    func press(_ name: String, _ part: String, _ keys: Key..., holding modifiers: [Key] = []) throws {
        try focus(name, part)
        for key in keys { try browser.perform(.keys(key, holding: modifiers)) }
    }

    // MARK: Looking

    /// Waits until an expression is true; it may use the helpers below, and `given`.
    @discardableResult
    func wait(_ condition: String, _ given: PageValue..., within limit: Duration = Browser.patience) throws -> PageValue
    {
        try browser.wait(until: "await \(Self.call(condition))", .array(given), within: limit)
    }

    /// The value of an expression, with the same helpers.
    @discardableResult
    func ask(_ expression: String, _ given: PageValue...) throws -> PageValue {
        try browser.run("return await \(Self.call(expression))", .array(given))
    }

    private static func call(_ expression: String) -> String {
        """
        (async () => {
            const given = arguments[0];
            const path = (name) => name.includes('/') ? name : '\(PageTweaks.group)/' + name;
            const row = (name) => document.querySelector(`[data-path="${CSS.escape(path(name))}"]`);
            const part = (name, part) => row(name)?.querySelector(`[data-part="${part}"]`);
            const isShown = (element) => element != null && element.checkVisibility({ visibilityProperty: true });
            const signInKey = () => new Promise((done, fail) => {
                const open = indexedDB.open('tweaks', 1);
                open.onupgradeneeded = () => open.result.createObjectStore('keys');
                open.onerror = () => fail(open.error);
                open.onsuccess = () => {
                    const ask = open.result.transaction('keys').objectStore('keys').get('sign-in');
                    ask.onsuccess = () => { open.result.close(); done(ask.result); };
                };
            });
            const logIn = async (body) => (await (await fetch('/login', { method: 'POST',
                headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json());
            const asPage = async (path, options = {}) => {
                const { challenge } = await logIn({});
                const proof = await crypto.subtle.sign('HMAC', await signInKey(), new TextEncoder().encode(challenge));
                const answer = btoa(String.fromCharCode(...new Uint8Array(proof)));
                const { key } = await logIn({ challenge, answer });
                return fetch(path, { ...options, headers: { ...options.headers, 'Tweaks-Key': key } });
            };
            const text = (name, of) => isShown(part(name, of)) ? part(name, of).textContent : '';
            const field = (name) => (part(name, 'field') ?? part(name, 'hex')).value;
            const state = () => document.documentElement.dataset.state;
            const said = () => ['live', 'toasts'].map((id) => document.getElementById(id).textContent).join(' ');
            const named = (text, within) => [...document.querySelectorAll(within + ' button')].find((button) =>
                button.textContent.trim() === text && isShown(button));
            const listed = () => [...document.querySelectorAll('#list [data-path]')].filter(isShown)
                .map((row) => row.dataset.path);
            return (\(expression));
        })()
        """
    }

    /// Waits until the page shows what the process has: rows are made when they come within 400 pixels of the view.
    func waitUntilConnected() throws {
        try wait(
            """
            state() === 'connected' && [...document.querySelectorAll('#list .chunk')].every((chunk) =>
                !chunk.paths || chunk.getBoundingClientRect().top > innerHeight + 400)
            """)
    }

    /// The error beside a tweak, once there is one.
    func error(_ name: String) throws -> String { try wait("text('\(name)', 'error')").string ?? "" }

    /// Everything that is said at the foot of the page, or was said to screen readers last.
    func waitUntilSaid(_ text: String) throws {
        try wait("said().includes(given[0])", .string(text))
    }
}

// MARK: - Visits

extension PanelHost {
    /// Opens the page, does something there, and sees that the page had nothing to complain of meanwhile.
    /// - Parameters:
    ///   - guest: Whose token is in the link.
    ///   - place: What stands behind the token.
    ///   - isStill: Whether the system asks for no motion: what moves is drawn sixty times a second, which takes most of
    ///     a test's time.
    ///   - expected: Parts of messages of the console that are no complaints here.
    func visit(
        as guest: Guest = owner, at place: String = "", width: Int = 1_280, scheme: Browser.Scheme = .light,
        touch hasTouch: Bool = false, reducedMotion isStill: Bool = true, expecting expected: [String] = [],
        _ body: (PanelView) throws -> Void
    ) throws {
        let browser = try Browser(width: width, scheme: scheme, reducesMotion: isStill, touch: hasTouch)
        let view = PanelView(browser: browser)
        try browser.open(link(guest, place))
        try view.waitUntilConnected()
        try body(view)
        try view.checkConsole(expecting: expected)
    }
}

extension PanelView {
    /// Nothing but what is expected was complained of: no error, no warning, no breach of the policy.
    func checkConsole(expecting expected: [String] = [], at location: SourceLocation = #_sourceLocation) throws {
        // What was written before this line was heard before it.
        try browser.run("console.log('the end of a visit')")
        let complaints = try browser.console(through: "the end of a visit").filter { line in
            line.level != "info" && !expected.contains { line.message.contains($0) }
        }
        #expect(complaints.isEmpty, "\(complaints)", sourceLocation: location)
    }

    /// Nothing has to be moved sideways to be read.
    func expectRoom(at location: SourceLocation = #_sourceLocation) throws {
        let beyond = try ask(
            """
            document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
                .filter((element) => isShown(element) && element.getBoundingClientRect().right > innerWidth + 1)
                .map((element) => element.outerHTML.slice(0, 120)).slice(0, 5)
            """)
        #expect(beyond == [], "\(beyond)", sourceLocation: location)
        #expect(try ask("document.documentElement.scrollWidth <= innerWidth") == true, sourceLocation: location)
    }

    /// What the browser says of a request that the server has refused with a status.
    static func refused(_ status: Int) -> String { "the server responded with a status of \(status)" }
}
