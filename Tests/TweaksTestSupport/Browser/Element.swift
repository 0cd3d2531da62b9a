// Finds, inspects and operates elements of a page.

/// An element of a page. It becomes invalid when the page removes it.
package struct Element {
    /// The field that represents an element in JSON; its value is a number in the document's table.
    static let mark = "tweaks.element"
    /// The property of a page that holds the table of elements.
    static let table = "globalThis[Symbol.for('tweaks.test')]"

    private let browser: Browser
    /// The element as an argument of a script.
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

    // MARK: Input

    /// Clicks its middle, which no other element may cover.
    package func click() throws {
        let point = try ask(Self.pointing)
        // The script has chosen an option itself, because the system draws menus.
        guard let x = point[0].number, let y = point[1].number else { return }
        try browser.perform(.mouse(.moveTo(x: x, y: y), .press, .release))
        // An element that moves or is replaced meanwhile is not clicked; its replacement at the same position may be. A
        // page that the click leaves cannot be queried.
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

    /// Finds the point to click, and records which elements the click reaches.
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

    /// Types text at the end of its content.
    package func type(_ text: String) throws { try focusAndPerform(text.map { .character($0) }) }

    /// Presses keys on it. Modifiers stay down to the end.
    package func press(_ keys: Key...) throws {
        let held = keys.filter { $0.modifier != nil }
        try focusAndPerform(keys.flatMap { held.contains($0) ? [.press($0)] : [.press($0), .release($0)] })
        try browser.perform(.keyboard(held.map(KeyStep.release)))
    }

    /// Chooses a file in a file input.
    package func choose(_ path: String) throws {
        let number = Int(value[Self.mark].number ?? 0)
        let object = try browser.command(
            "Runtime.evaluate", ["expression": .string("\(Self.table).elements[\(number)]")])
        try browser.command(
            "DOM.setFileInputFiles", ["files": [.string(path)], "objectId": object["result"]["objectId"]], about: name)
    }

    private func focusAndPerform(_ steps: [KeyStep]) throws {
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

    // MARK: Inspection

    /// The visible text.
    package var text: String { get throws { try ask("return element.innerText.trim()").string ?? "" } }

    /// An attribute; nil where there is none.
    package func attribute(_ name: String) throws -> String? {
        try ask("return element.getAttribute(arguments[1])", .string(name)).string
    }

    /// The current value of a property.
    package func property(_ name: String) throws -> PageValue {
        try ask("return element[arguments[1]]", .string(name))
    }

    /// A property of its computed style.
    package func style(_ name: String) throws -> String {
        try ask("return getComputedStyle(element).getPropertyValue(arguments[1])", .string(name)).string ?? ""
    }

    /// Its role for assistive technology.
    package var role: String { get throws { try ask("return element.computedRole").string ?? "" } }

    /// Its name for assistive technology.
    package var label: String { get throws { try ask("return element.computedName").string ?? "" } }

    /// Whether it is visible.
    package var isDisplayed: Bool {
        get throws { try ask("return element.checkVisibility({ visibilityProperty: true })").bool ?? false }
    }

    /// Its position on the page, and its size.
    package var frame: (x: Double, y: Double, width: Double, height: Double) {
        get throws {
            let box = try ask(
                "const box = element.getBoundingClientRect();"
                    + "return [box.x + scrollX, box.y + scrollY, box.width, box.height]")
            return (box[0].number ?? 0, box[1].number ?? 0, box[2].number ?? 0, box[3].number ?? 0)
        }
    }

    /// The first element within this one that matches a selector.
    package func element(_ selector: String) throws -> Element {
        try browser.found(ask("return element.querySelector(arguments[1])", .string(selector)), selector)
    }

    /// All elements within this one that match a selector.
    package func elements(_ selector: String) throws -> [Element] {
        let found = try ask("return element.querySelectorAll(arguments[1])", .string(selector))
        return try (found.array ?? []).map { try browser.found($0, selector) }
    }
}

extension Browser {
    /// The first element that matches a selector.
    package func element(_ selector: String) throws -> Element {
        try found(run("return document.querySelector(arguments[0])", .string(selector)), selector)
    }

    /// All elements that match a selector.
    package func elements(_ selector: String) throws -> [Element] {
        let found = try run("return document.querySelectorAll(arguments[0])", .string(selector))
        return try (found.array ?? []).map { try self.found($0, selector) }
    }

    /// The element with the keyboard focus.
    package var focused: Element {
        get throws { try found(run("return document.activeElement"), "focused element") }
    }

    /// The element that a script has returned as a value.
    package func found(_ value: PageValue, _ name: String = "result of a script") throws -> Element {
        if value == nil { throw BrowserError(code: "no such element", description: "\(name): no such element") }
        guard let element = Element(value, in: self, name: name) else {
            throw BrowserError(code: "no element", description: "\(name): not an element: \(value)")
        }
        return element
    }
}
