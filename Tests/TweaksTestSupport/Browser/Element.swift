// What a test finds on a page, looks at and handles.

/// An element of a page. It is of no more use once the page has dropped it.
package struct Element {
    /// What WebDriver marks elements with.
    private static let mark = "element-6066-11e4-a52e-4f735466cecf"

    private let browser: Browser
    private let identity: String
    /// How it was found, for errors.
    private let name: String

    fileprivate init?(_ value: PageValue, in browser: Browser, name: String) {
        guard let identity = value[Self.mark].string else { return nil }
        (self.browser, self.identity, self.name) = (browser, identity, name)
    }

    /// As an argument of a script.
    package var value: PageValue { [Self.mark: .string(identity)] }

    private func ask(_ method: String, _ path: String, _ body: PageValue? = nil) throws -> PageValue {
        try browser.ask(method, "element/\(identity)/\(path)", body, about: name)
    }

    // MARK: Handling

    /// Clicks its middle, which must be in nobody's shadow.
    package func click() throws { _ = try ask("POST", "click", [:]) }

    /// Types into it, at the end of what it holds.
    package func type(_ text: String) throws { _ = try ask("POST", "value", ["text": .string(text)]) }

    /// Presses keys on it.
    package func press(_ keys: Key...) throws { try type(keys.map(\.text).joined()) }

    /// Empties a field.
    package func clear() throws { _ = try ask("POST", "clear", [:]) }

    // MARK: Looking

    /// The text that a reader sees.
    package var text: String { get throws { try ask("GET", "text").string ?? "" } }

    /// An attribute as it was written; nil where there is none.
    package func attribute(_ name: String) throws -> String? { try ask("GET", "attribute/\(name)").string }

    /// A property as it is now.
    package func property(_ name: String) throws -> PageValue { try ask("GET", "property/\(name)") }

    /// A property of its style, as computed.
    package func style(_ name: String) throws -> String { try ask("GET", "css/\(name)").string ?? "" }

    /// What assistive technology says it is.
    package var role: String { get throws { try ask("GET", "computedrole").string ?? "" } }

    /// What assistive technology calls it.
    package var label: String { get throws { try ask("GET", "computedlabel").string ?? "" } }

    /// Whether it is there to be seen.
    package var isDisplayed: Bool { get throws { try ask("GET", "displayed").bool ?? false } }

    /// Where it is on the page, and its size.
    package var frame: (x: Double, y: Double, width: Double, height: Double) {
        get throws {
            let frame = try ask("GET", "rect")
            return (
                frame["x"].number ?? 0, frame["y"].number ?? 0, frame["width"].number ?? 0, frame["height"].number ?? 0
            )
        }
    }

    /// The first element within this one that a selector fits.
    package func element(_ selector: String) throws -> Element {
        try browser.found(try ask("POST", "element", .css(selector)), selector)
    }

    /// All elements within this one that a selector fits.
    package func elements(_ selector: String) throws -> [Element] {
        try (ask("POST", "elements", .css(selector)).array ?? []).map { try browser.found($0, selector) }
    }
}

extension Browser {
    /// The first element that a selector fits.
    package func element(_ selector: String) throws -> Element {
        try found(try ask("POST", "element", .css(selector), about: selector), selector)
    }

    /// All elements that a selector fits.
    package func elements(_ selector: String) throws -> [Element] {
        try (ask("POST", "elements", .css(selector), about: selector).array ?? []).map { try found($0, selector) }
    }

    /// The element that has the keyboard.
    package var focused: Element {
        get throws { try found(try ask("GET", "element/active", about: "focus"), "focused element") }
    }

    /// The element that a script has returned.
    package func found(_ value: PageValue, _ name: String = "result of a script") throws -> Element {
        guard let element = Element(value, in: self, name: name) else {
            throw BrowserError(code: "no element", description: "\(name): not an element: \(value)")
        }
        return element
    }
}

extension PageValue {
    fileprivate static func css(_ selector: String) -> PageValue {
        ["using": "css selector", "value": .string(selector)]
    }
}
