// Operates the panel's page in a browser, as a user does.

import Synchronization
import Testing
import Tweaks
import TweaksPanel
import TweaksTestSupport

/// One page of the panel.
struct PanelView {
    let host: PanelHost
    let browser: Browser

    // MARK: Finding

    /// The selector of a part of a tweak's row.
    static func selector(_ name: String, _ part: String = "") -> String {
        let path = PanelHost.path(name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "[data-path=\"\(path)\"]" + (part.isEmpty ? "" : " [data-part=\"\(part)\"]")
    }

    /// A part of a tweak's row, scrolled to the middle of the view.
    func part(_ name: String, _ part: String = "") throws -> Element {
        // Rows are made when they come near the view.
        let found = try browser.wait(until: "document.querySelector(arguments[0])", .string(Self.selector(name, part)))
        let element = try browser.found(found, name)
        try browser.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element.value)
        return element
    }

    /// The element with this id.
    func element(_ identity: String) throws -> Element { try browser.element("#\(identity)") }

    /// The button with this text in an element, once it is there.
    func button(_ text: String, in selector: String = "body") throws -> Element {
        try browser.found(wait("named(given[0], given[1])", .string(text), .string(selector)), "button \(text)")
    }

    // MARK: Operating
    //
    // `sets:` waits until the tweak has that value in the process, `saying:` for that text in the page.

    /// Clicks a button, which may be drawn again at any moment until then.
    func press(
        button text: String, in selector: String, sets name: String? = nil, to value: TweakValue = .notSet,
        saying said: String? = nil, at location: SourceLocation = #_sourceLocation
    ) throws {
        try retry("stale element reference") { try button(text, in: selector).click() }
        if let name { try host.wait(name, value, at: location) }
        if let said { try waitUntilSaid(said) }
    }

    /// Clicks undo or redo, once it is enabled. Both are disabled while the process is slow to answer.
    func step(
        _ identity: String, sets name: String? = nil, to value: TweakValue = .notSet, saying said: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try retry("element click missed") {
            try wait("!byID(given[0]).disabled", .string(identity))
            try element(identity).click()
        }
        if let name { try host.wait(name, value, at: location) }
        if let said { try waitUntilSaid(said) }
    }

    func retry(_ code: String, _ body: () throws -> Void) throws {
        for _ in 0..<20 {
            do { return try body() } catch let error as BrowserError where error.code == code { continue }
        }
        try body()
    }

    /// Opens a drawer by its button, and waits for its content.
    func open(_ drawer: String, until condition: String = "document.querySelector('#pane h2') != null") throws {
        try element(drawer).click()
        try wait(condition)
    }

    /// Opens the color picker.
    func openPicker() throws {
        try click("Color", "swatch")
        try wait("isShown(byID('picker'))")
    }

    /// Opens the menu of durations of a tweak, and chooses an item.
    func choose(_ item: String, ofMenuOf name: String) throws {
        try click(name, "for")
        try wait("isShown(byID('menu'))")
        try browser.element("#menu [data-part=\(item)]").click()
    }

    /// Clicks a part of a row, once it is visible: permitted controls are drawn a frame after the values.
    func click(
        _ name: String, _ part: String, sets value: TweakValue? = nil, at location: SourceLocation = #_sourceLocation
    ) throws {
        let element = try self.part(name, part)
        try browser.wait(until: "arguments[0].checkVisibility({ visibilityProperty: true })", element.value)
        try element.click()
        if let value { try host.wait(name, value, at: location) }
    }

    /// Focuses a part of a row, once that accepts the focus.
    func focus(_ name: String, _ part: String) throws {
        try browser.wait(
            until: "(arguments[0].focus(), document.activeElement === arguments[0])", self.part(name, part).value)
    }

    /// Replaces the text of a field, once the previous text is answered: an answer would undo the selection.
    func type(
        _ text: String, over name: String, _ part: String = "field", then keys: Key..., sets value: TweakValue? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try wait("!row(given[0])?.row.sender.isBusy", .string(name))
        try type(text, over: self.part(name, part), then: keys)
        if let value { try host.wait(name, value, at: location) }
    }

    /// Replaces the text of a field.
    func type(_ text: String, over element: Element, then keys: [Key] = []) throws {
        try browser.run("arguments[0].focus(); arguments[0].select()", element.value)
        let typed = text.map { KeyStep.character($0) } + keys.flatMap { [.press($0), .release($0)] }
        try browser.perform(.keyboard(typed))
    }

    /// Gives timers of one delay another one from now on, in milliseconds: a pause ends at once, or never.
    func replaceDelay(_ delay: Int, by other: Int = 1_000_000_000) throws {
        try browser.run(
            """
            const timer = setTimeout;
            globalThis.setTimeout = (body, delay, ...more) =>
                timer(body, delay === \(delay) ? \(other) : delay, ...more);
            """)
    }

    /// Presses keys on the focused element.
    func keys(
        _ keys: Key..., holding modifiers: [Key] = [], sets name: String? = nil, to value: TweakValue = .notSet,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        for key in keys { try browser.perform(.keys(key, holding: modifiers)) }
        if let name { try host.wait(name, value, at: location) }
    }

    /// Presses keys on a part of a row.
    func press(
        _ name: String, _ part: String, _ keys: Key..., holding modifiers: [Key] = [], sets value: TweakValue? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try focus(name, part)
        for key in keys { try browser.perform(.keys(key, holding: modifiers)) }
        if let value { try host.wait(name, value, at: location) }
    }

    /// Drags a part of a row sideways by the mouse.
    func drag(
        _ name: String, _ part: String = "slider", x: Double, over time: Int = 200, isReleased: Bool = true
    ) throws {
        let steps: [PointerStep] = [.move(to: try self.part(name, part)), .press]
        let end: [PointerStep] = [.moveBy(x: x, y: 0, over: .milliseconds(time))] + (isReleased ? [.release] : [])
        try browser.perform(.mouse(steps + end))
    }

    static let undoKeys: [KeyStep] = [.press(.control), .character("z"), .release(.control)]
    static let redoKeys: [KeyStep] = [
        .press(.control), .press(.shift), .character("z"), .release(.shift), .release(.control),
    ]

    /// Holds back replies to requests whose `path` fits a condition, until `isOpen`; `held` counts them.
    func holdReplies(where condition: String) throws {
        try browser.run(
            """
            const send = fetch;
            window.held = 0;
            window.fetch = async (...all) => {
                const [reply, path] = [await send(...all), String(all[0])];
                if (!(\(condition))) return reply;
                window.held += 1;
                while (!window.isOpen) await new Promise((go) => setTimeout(go, 5));
                return reply;
            };
            """)
    }

    // MARK: Looking

    /// Waits until an expression is true; it may use the helpers below, and `given`.
    @discardableResult
    func wait(_ condition: String, _ given: PageValue..., within limit: Duration = Browser.timeout) throws -> PageValue
    {
        do {
            return try browser.wait(until: "await \(Self.call(condition))", .array(given), within: limit)
        } catch {
            // A test that waits for less tries again.
            if limit < Browser.timeout { throw error }
            // The reason is on the page.
            let page = try? ask(
                """
                [state(), byID('state').title, byID('drawer').open, byID('pane').innerText, document.hidden,
                    [...document.querySelectorAll(':active')].map((element) => element.id || element.tagName)]
                """)
            Issue.record("\(condition): the page is \(page.map { "\($0)" } ?? "not there")")
            throw error
        }
    }

    /// The value of an expression, with the same helpers.
    @discardableResult
    func ask(_ expression: String, _ given: PageValue...) throws -> PageValue {
        try browser.run("return await \(Self.call(expression))", .array(given))
    }

    /// Expects that an expression is true now.
    func expect(_ condition: String, at location: SourceLocation = #_sourceLocation) throws {
        #expect(try ask(condition) == true, "\(condition)", sourceLocation: location)
    }

    private static func call(_ expression: String) -> String {
        """
        (async () => {
            const given = arguments[0];
            const byID = (id) => document.getElementById(id);
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
            const answer = async (key) => {
                const { challenge } = await logIn({});
                const proof = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(challenge));
                return logIn({ challenge, answer: btoa(String.fromCharCode(...new Uint8Array(proof))) });
            };
            const asPage = async (path, options = {}) => fetch(path,
                { ...options, headers: { ...options.headers, 'Tweaks-Key': (await answer(await signInKey())).key } });
            const text = (name, of) => isShown(part(name, of)) ? part(name, of).textContent : '';
            const field = (name) => (part(name, 'field') ?? part(name, 'hex')).value;
            const state = () => document.documentElement.dataset.state;
            const said = () => ['live', 'toasts'].map((id) => byID(id).textContent).join(' ');
            const named = (text, within) => [...document.querySelectorAll(within + ' button')].find((button) =>
                button.textContent.trim() === text && isShown(button));
            const listed = () => [...document.querySelectorAll('#list [data-path]')].filter(isShown)
                .map((row) => row.dataset.path);
            const luminance = (rgb) => rgb.map((part) => part / 255)
                .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
            const contrast = (one, other) => {
                const [a, b] = [luminance(one), luminance(other)];
                return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            };
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

    /// Waits for a text in the notifications, or in the announcement for screen readers.
    func waitUntilSaid(_ text: String) throws { try wait("said().includes(given[0])", .string(text)) }

    // MARK: Checking

    /// Checks that the console has no error, warning or policy violation but the expected ones.
    func checkConsole(expecting expected: [String] = [], at location: SourceLocation = #_sourceLocation) throws {
        // Console messages arrive in order.
        try browser.run("console.log('the end of a visit')")
        let complaints = try browser.console(through: "the end of a visit").filter { line in
            line.level != "info" && !expected.contains { line.message.contains($0) }
        }
        #expect(complaints.isEmpty, "\(complaints)", sourceLocation: location)
    }

    /// Checks that the page does not scroll sideways.
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

    /// Attaches pictures of the page in light and dark.
    func attachPictures(_ name: String) throws {
        guard Browser.attachesScreenshots else { return }
        for scheme in Browser.Scheme.allCases {
            try browser.change(to: scheme)
            try browser.attach("\(name)-\(scheme)")
        }
    }

    /// The console message for a request that the server refused with a status.
    static func refused(_ status: Int) -> String { "the server responded with a status of \(status)" }
}

// MARK: - Visits

extension PanelHost {
    /// A profile that a test has left, with the page in its cache, and the address of that page.
    private struct VisitedPage: Sendable {
        let profile: Browser.Profile
        let port: Int
        let pageID: String

        /// Those that no test uses.
        static let free = Mutex<[VisitedPage]>([])
    }

    /// Opens the page, runs the body, and checks the console.
    /// - Parameters:
    ///   - user: The user whose token is in the link.
    ///   - place: The rest of the fragment after the token.
    ///   - isStill: Whether the system asks for reduced motion: animations take most of a test's time.
    ///   - expected: Parts of console messages that are allowed.
    ///   - asksForName: Whether the page asks for the user's name, as it does once in a browser.
    func visit(
        as user: User = owner, at place: String = "", name: String? = nil, width: Int = 1_280,
        touch hasTouch: Bool = false, reducedMotion isStill: Bool = true, expecting expected: [String] = [],
        asksForName: Bool = false,
        _ body: (PanelView) throws -> Void
    ) throws {
        let browser = try Browser(width: width, reducesMotion: isStill, touch: hasTouch)
        let (link, host) = (link(user, place), PanelID.host(pageID))
        try visit(
            in: browser, link.replacing(host, with: name ?? host), expecting: expected, asksForName: asksForName, body)
    }

    private func visit(
        in browser: Browser, _ link: String, expecting expected: [String], asksForName: Bool = false,
        _ body: (PanelView) throws -> Void
    ) throws {
        let view = PanelView(host: self, browser: browser)
        try browser.open(link)
        try view.waitUntilConnected()
        let isOwnAddress = "location.hostname.length > 30"
        if !asksForName { try view.ask("\(isOwnAddress) && localStorage.setItem('tweaks.asked', 'true')") }
        // A browser without a screen answers each movement of a locked pointer with the opposite one.
        try view.ask("Element.prototype.requestPointerLock = () => Promise.reject(new Error('there is no screen'))")
        try body(view)
        try view.checkConsole(expecting: expected)
    }

    /// Opens the page of a new server, which knows the user. It has the address of an earlier one, in the profile that
    /// showed it: a page that is in the cache takes half the time.
    static func visit(
        _ registry: TweakRegistry = PageTweaks().registry, as user: User = owner, at place: String = "",
        width: Int = 1_280, touch hasTouch: Bool = false,
        reducedMotion isStill: Bool = true, expecting expected: [String] = [],
        _ body: (PanelHost, PanelView) throws -> Void
    ) throws {
        let earlier = VisitedPage.free.withLock { $0.popLast() }
        let users = user.name == owner.name ? [] : [user]
        let host = try PanelHost(registry, users: users, at: earlier.map { ($0.port, $0.pageID) })
        let browser = try Browser(width: width, reducesMotion: isStill, touch: hasTouch, in: earlier?.profile)
        try host.visit(in: browser, host.link(user, place), expecting: expected) { try body(host, $0) }
        let visited = VisitedPage(profile: try browser.leave(host.origin), port: host.port, pageID: host.pageID)
        // The next host needs the port.
        host.stop()
        VisitedPage.free.withLock { $0.append(visited) }
    }
}
