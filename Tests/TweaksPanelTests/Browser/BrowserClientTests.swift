// Tests the client that drives the browser: elements, fields, scripts, waiting, and the console.

import Foundation
import Testing

@testable import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BrowserClientTests {
    private static let page = """
        <!doctype html><title>Fixture</title>
        <style>body { margin: 0 } button { display: block; width: 100px; height: 50px }</style>
        <button aria-label="Push &quot;me&quot;" onclick="this.textContent = 'pushed'">push</button>
        <ul><li>one<li><b>two</b></ul><input id="field" value="old"><i hidden>unseen</i>
        """

    private func browser(_ html: String = page) throws -> Browser {
        let browser = try Browser()
        try browser.open("data:text/html;base64,\(Data(html.utf8).base64EncodedString())")
        return browser
    }

    private func error(_ body: () throws -> Void) throws -> BrowserError {
        try #require(throws: BrowserError.self) { try body() }
    }

    @Test func pagesHaveTitlesAndAddresses() throws {
        let browser = try browser()
        #expect(try browser.title == "Fixture")
        #expect(try browser.address.hasPrefix("data:text/html;base64,"))
        try browser.open("about:blank")
        #expect(try browser.address == "about:blank")
        try browser.goBack()
        #expect(try browser.title == "Fixture")
    }

    @Test func elementsAreFoundAndRead() throws {
        let browser = try browser()
        #expect(try browser.elements("li").map { try $0.text } == ["one", "two"])
        #expect(try browser.element("ul").element("b").text == "two")
        #expect(try browser.element("ul").elements("input").isEmpty)
        let button = try browser.element("button")
        #expect(try button.role == "button" && button.label == "Push \"me\"")
        #expect(try button.frame == (0, 0, 100, 50) && button.style("display") == "block")
        #expect(try button.attribute("aria-label") == "Push \"me\"" && button.attribute("title") == nil)
        #expect(try !browser.element("i").isDisplayed)
        try button.click()
        #expect(try button.text == "pushed")
    }

    @Test func fieldsAreTypedInto() throws {
        let browser = try browser()
        let field = try browser.element("#field")
        try field.type("er 🎈")
        #expect(try field.property("value") == "older 🎈")
        try field.press(.home, .delete, .shift, .end)
        #expect(try browser.run("return getSelection().toString()") == "lder 🎈")
        #expect(try browser.focused.attribute("id") == "field")
        try field.clear()
        #expect(try field.property("value") == "")
    }

    @Test func missingElementsAreErrors() throws {
        let browser = try browser()
        let missing = try error { _ = try browser.element("#nowhere") }
        #expect(missing.code == "no such element" && missing.description.hasPrefix("#nowhere: no such element"))
        let button = try browser.element("button")
        try browser.run("arguments[0].remove()", button.value)
        #expect(try error { try button.click() }.code == "stale element reference")
    }

    /// A click needs the button until it is released; the click itself may remove it.
    @Test func aClickOnAReplacedButtonIsAnError() throws {
        let browser = try browser(
            """
            <!doctype html><button id="redrawn" onmousedown="this.replaceWith(this.cloneNode(true))">redrawn</button>
            <button id="gone" onclick="document.title = 'clicked'; this.remove()">gone</button>
            """)
        let redrawn = try browser.element("#redrawn")
        #expect(try error { try redrawn.click() }.code == "stale element reference")
        try browser.element("#gone").click()
        #expect(try browser.title == "clicked")
    }

    private static let values: [PageValue] = [
        nil, true, false, 0, -1, 0.1, 1e300, 9_007_199_254_740_991, "", "\"'\\ \u{1}</script>", "שלום 🎈", [],
        [1, "two", [nil]], [:], ["a": ["b": [true]], "": 1],
    ]

    @Test func valuesArePassedAndReturned() throws {
        let browser = try Browser()
        for value in Self.values {
            #expect(try browser.run("return arguments[0]", value) == value)
            #expect(try browser.runUntilCalled("arguments[1](arguments[0])", value) == value)
            #expect(try browser.run("return JSON.stringify(arguments[0])", value).string?.isEmpty == false)
        }
    }

    @Test func elementsAreValues() throws {
        let browser = try browser()
        let element = try browser.found(try browser.run("return document.querySelector('b')"))
        #expect(try element.text == "two")
        #expect(try browser.run("return arguments[0].tagName", element.value) == "B")
        #expect(throws: BrowserError.self) { try browser.found("b") }
    }

    @Test func errorsOfScriptsAreThrown() throws {
        let browser = try Browser()
        let thrown = try error { try browser.run("throw new Error('so it is')") }
        #expect(thrown.code == "javascript error" && thrown.description.contains("so it is"))
    }

    @Test func conditionsAreWaitedFor() throws {
        let browser = try browser()
        try browser.run("setTimeout(() => { document.title = 'later' }, 100)")
        #expect(try browser.wait(until: "document.title == arguments[0] && 7", "later") == 7)
        // No change of the document; the value is a promise, and missing at first.
        try browser.run("setTimeout(() => { window.late = { value: Promise.resolve('x') } }, 100)")
        #expect(try browser.wait(until: "await window.late.value") == "x")
    }

    @Test(arguments: [
        ("document.title == 'never'", "at the end bool(false)"), ("missing.value", "missing is not defined"),
    ]) func aConditionThatStaysFalseTimesOut(_ condition: String, _ detail: String) throws {
        let browser = try browser()
        let timeout = try error { try browser.wait(until: condition, within: .milliseconds(50)) }
        #expect(timeout.code == "timeout")
        #expect(timeout.description.contains(condition) && timeout.description.contains(detail))
    }

    @Test func aPageMayBeReplacedDuringAWait() throws {
        let server = try PageServer(["/": .init("<title>one</title>"), "/two": .init("<title>two</title>")])
        let browser = try Browser()
        try browser.open(server.address("/"))
        try browser.run("setTimeout(() => { location.href = '/two' }, 100)")
        try browser.wait(until: "document.title == 'two'")
    }

    @Test func theStrictestPolicyDoesNotPreventScripts() throws {
        let policy = "Content-Security-Policy: default-src 'none'; require-trusted-types-for 'script'"
        let server = try PageServer(["/": .init("<title>strict</title>", fields: [policy])])
        let browser = try Browser()
        try browser.open(server.address("/"))
        try browser.wait(until: "document.title == 'strict'")
        #expect(try browser.run("return document.title") == "strict")
    }

    @Test func theConsoleIsRead() throws {
        let browser = try browser()
        #expect(try browser.console().isEmpty)
        try browser.run("console.error('bad', 1); console.log('good'); setTimeout(() => { throw new Error('late') })")
        let lines = try browser.console(through: "late")
        try #require(lines.count == 3)
        #expect(lines.map(\.level) == ["error", "info", "error"])
        #expect(lines[0].message == "bad 1")
        #expect(lines[2].message.contains("Error: late"))
        #expect(try browser.console().isEmpty)
    }
}
