// What a test finds on a page, looks at and handles.

/// An element of a page. It is of no more use once the page has dropped it.
package struct Element {
    /// What elements are marked with on their way; the mark's value is a number of their document's.
    static let mark = "tweaks.element"
    /// The property of a page that holds the elements by number.
    static let table = "globalThis[Symbol.for('tweaks.test')]"

    private let browser: Browser
    /// As an argument of a script.
    package let value: PageValue
    /// How it was found, for errors.
    private let name: String

    fileprivate init?(_ value: PageValue, in browser: Browser, name: String) {
        guard value[Self.mark].number != nil else { return nil }
        (self.browser, self.value, self.name) = (browser, value, name)
    }

    /// Runs the body of a function with the element as its first argument, `element`.
    private func ask(_ script: String, _ arguments: PageValue...) throws -> PageValue {
        try browser.evaluate("const element = arguments[0]; \(script)", [value] + arguments, about: name)
    }

    // MARK: Handling

    /// Clicks its middle, which nothing may cover.
    package func click() throws {
        let point = try ask(Self.pointing)
        // What a menu offers is drawn by the system.
        guard let x = point[0].number, let y = point[1].number else { return }
        try browser.perform(.mouse(.moveTo(x: x, y: y), .press, .release))
        // An element that moves or is replaced meanwhile gets no click; its replacement in the same place may. A page that
        // the click leaves cannot be asked.
        let fault = try? browser.run(
            """
            const { elements, clicked } = \(Self.table), element = elements[arguments[0]];
            if (element.isConnected) return clicked?.includes(element) ? '' : 'missed';
            return clicked ? '' : 'stale';
            """, value[Self.mark])
        switch fault?.string {
        case "stale":
            throw BrowserError(code: "stale element reference", description: "\(name): gone while clicked")
        case "missed":
            throw BrowserError(code: "element click missed", description: "\(name): moved while clicked, or disabled")
        default: return
        }
    }

    /// Finds the point to click, and notes where the click comes.
    private static let pointing = """
        const refuse = (code, message) => { throw Object.assign(new Error(message), { refusal: code }); };
        if (element.localName === 'option') {
            element.closest('select').focus();
            element.selected = true;
            for (const name of ['input', 'change'])
                element.closest('select').dispatchEvent(new Event(name, { bubbles: true }));
            return null;
        }
        element.scrollIntoViewIfNeeded(true);
        const [box] = element.getClientRects();
        if (!box || !box.width || !box.height) refuse('element not interactable', 'it has no size');
        const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
        const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
        const found = document.elementFromPoint(x, y);
        if (!element.contains(found)) refuse('element click intercepted', `${found?.outerHTML.slice(0, 200)} gets the click`);
        const table = \(table);
        table.clicked = null;
        addEventListener('click', (event) => { table.clicked = event.composedPath(); }, { once: true, capture: true });
        return [x, y];
        """

    /// Types into it, at the end of what it holds.
    package func type(_ text: String) throws { try handle(text.map { .character($0) }) }

    /// Presses keys on it. A modifier stays down to the end.
    package func press(_ keys: Key...) throws {
        let held = keys.filter { $0.modifier != nil }
        try handle(keys.flatMap { held.contains($0) ? [.press($0)] : [.press($0), .release($0)] })
        try browser.perform(.keyboard(held.map(KeyStep.release)))
    }

    /// Chooses a file, in a field for that.
    package func choose(_ path: String) throws {
        let number = Int(value[Self.mark].number ?? 0)
        let object = try browser.command(
            "Runtime.evaluate", ["expression": .string("\(Self.table).elements[\(number)]")])
        try browser.command(
            "DOM.setFileInputFiles", ["files": [.string(path)], "objectId": object["result"]["objectId"]], about: name)
    }

    private func handle(_ steps: [KeyStep]) throws {
        _ = try ask(
            """
            if (document.activeElement === element) return;
            element.focus();
            element.setSelectionRange?.(element.value.length, element.value.length);
            """)
        try browser.perform(.keyboard(steps))
    }

    /// Empties a field.
    package func clear() throws {
        _ = try ask("element.focus(); element.select()")
        try browser.perform(.keys(.delete))
    }

    // MARK: Looking

    /// The text that a reader sees.
    package var text: String { get throws { try ask("return element.innerText.trim()").string ?? "" } }

    /// An attribute as it was written; nil where there is none.
    package func attribute(_ name: String) throws -> String? {
        try ask("return element.getAttribute(arguments[1])", .string(name)).string
    }

    /// A property as it is now.
    package func property(_ name: String) throws -> PageValue {
        try ask("return element[arguments[1]]", .string(name))
    }

    /// A property of its style, as computed.
    package func style(_ name: String) throws -> String {
        try ask("return getComputedStyle(element).getPropertyValue(arguments[1])", .string(name)).string ?? ""
    }

    /// What assistive technology says it is.
    package var role: String { get throws { try ask("return element.computedRole").string ?? "" } }

    /// What assistive technology calls it.
    package var label: String { get throws { try ask("return element.computedName").string ?? "" } }

    /// Whether it is there to be seen.
    package var isDisplayed: Bool {
        get throws { try ask("return element.checkVisibility({ visibilityProperty: true })").bool ?? false }
    }

    /// Where it is on the page, and its size.
    package var frame: (x: Double, y: Double, width: Double, height: Double) {
        get throws {
            let box = try ask(
                "const box = element.getBoundingClientRect();"
                    + "return [box.x + scrollX, box.y + scrollY, box.width, box.height]")
            return (box[0].number ?? 0, box[1].number ?? 0, box[2].number ?? 0, box[3].number ?? 0)
        }
    }

    /// The first element within this one that a selector fits.
    package func element(_ selector: String) throws -> Element {
        try browser.found(ask("return element.querySelector(arguments[1])", .string(selector)), selector)
    }

    /// All elements within this one that a selector fits.
    package func elements(_ selector: String) throws -> [Element] {
        let found = try ask("return element.querySelectorAll(arguments[1])", .string(selector))
        return try (found.array ?? []).map { try browser.found($0, selector) }
    }
}

extension Browser {
    /// The first element that a selector fits.
    package func element(_ selector: String) throws -> Element {
        try found(run("return document.querySelector(arguments[0])", .string(selector)), selector)
    }

    /// All elements that a selector fits.
    package func elements(_ selector: String) throws -> [Element] {
        let found = try run("return document.querySelectorAll(arguments[0])", .string(selector))
        return try (found.array ?? []).map { try self.found($0, selector) }
    }

    /// The element that has the keyboard.
    package var focused: Element {
        get throws { try found(run("return document.activeElement"), "focused element") }
    }

    /// The element that a script has returned.
    package func found(_ value: PageValue, _ name: String = "result of a script") throws -> Element {
        if value == nil { throw BrowserError(code: "no such element", description: "\(name): no such element") }
        guard let element = Element(value, in: self, name: name) else {
            throw BrowserError(code: "no element", description: "\(name): not an element: \(value)")
        }
        return element
    }
}
