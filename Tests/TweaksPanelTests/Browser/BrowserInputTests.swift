// Tests gestures and appearance: pointers, keys, sizes, color schemes, screenshots.

import Foundation
import Testing

@testable import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BrowserGestureTests {
    /// Records every event of pointers and keys.
    private static let page = """
        <!doctype html><style>body { margin: 0; height: 100vh; touch-action: none } \
        div { width: 100px; height: 100px }</style><div tabindex="0"></div><script>
        window.seen = []
        for (const name of ["pointerdown", "pointermove", "pointerup"])
            addEventListener(name, (event) =>
                seen.push([name, event.pointerType, event.clientX, event.clientY, event.buttons]))
        for (const name of ["keydown", "keyup"])
            addEventListener(name, (event) => seen.push([name, event.key, event.shiftKey]))
        </script>
        """

    private func browser(touch: Bool = false) throws -> Browser {
        let browser = try Browser(touch: touch)
        try browser.open("data:text/html;base64,\(Data(Self.page.utf8).base64EncodedString())")
        return browser
    }

    @Test func aMouseDrags() throws {
        let browser = try browser()
        let square = try browser.element("div")
        let move = PointerStep.moveBy(x: 60, y: 0, over: .milliseconds(200))
        try browser.perform(.mouse(.move(to: square), .press, move, .release))
        let seen = try browser.run("return seen").array ?? []
        #expect(seen.contains(["pointerdown", "mouse", 50, 50, 1]))
        #expect(seen.last == ["pointerup", "mouse", 110, 50, 0])
        let dragged = seen.filter { $0[0] == "pointermove" && $0[4] == 1 }
        #expect(dragged.count > 4 && dragged.last == ["pointermove", "mouse", 110, 50, 1])
    }

    @Test func aPressedButtonStaysPressedBetweenGestures() throws {
        let browser = try browser()
        try browser.perform(.mouse(.moveTo(x: 10, y: 10), .press, .moveTo(x: 20, y: 10)))
        #expect(try browser.run("return seen.at(-1)") == ["pointermove", "mouse", 20, 10, 1])
        try browser.perform(.mouse(.moveTo(x: 30, y: 10)))
        #expect(try browser.run("return seen.at(-1)") == ["pointermove", "mouse", 30, 10, 1])
        try browser.perform(.mouse(.release))
        #expect(try browser.run("return seen.at(-1)") == ["pointerup", "mouse", 30, 10, 0])
    }

    @Test func aFingerDrags() throws {
        let browser = try browser(touch: true)
        let touch = "[navigator.maxTouchPoints > 0, matchMedia('(pointer: coarse)').matches]"
        #expect(try browser.run("return \(touch)") == [true, true])
        let move = PointerStep.moveBy(x: 30, y: 0, over: .milliseconds(50))
        try browser.perform(.touch(.moveTo(x: 10, y: 10), .press, move, .release))
        // The headless shell reports its mouse in the corner before the first touch.
        let seen = (try browser.run("return seen").array ?? []).filter { $0 != ["pointermove", "mouse", 0, 0, 0] }
        #expect(seen.first == ["pointerdown", "touch", 10, 10, 1])
        #expect(seen.last == ["pointerup", "touch", 40, 10, 0])
    }

    @Test func modifiersAreHeld() throws {
        let browser = try browser()
        try browser.element("div").click()
        try browser.run("seen.length = 0")
        try browser.perform(.keys(.up, .escape, holding: [.shift]))
        try browser.perform(.keyboard(.character("a")))
        let events: [PageValue] = [
            ["keydown", "Shift", true], ["keydown", "ArrowUp", true], ["keyup", "ArrowUp", true],
            ["keydown", "Escape", true], ["keyup", "Escape", true], ["keyup", "Shift", false],
            ["keydown", "a", false], ["keyup", "a", false],
        ]
        #expect(try browser.run("return seen") == .array(events))
    }

    @Test func everyKeyHasItsCode() throws {
        let browser = try browser()
        for key in Key.allCases {
            try browser.element("div").click()
            try browser.run("seen.length = 0")
            try browser.perform(.keys(key))
            #expect(try browser.run("return seen[0].slice(0, 2)") == ["keydown", .string(key.rawValue)])
        }
    }
}

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BrowserLooksTests {
    private static let looks = """
        return [innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches,
            matchMedia('(prefers-reduced-motion: reduce)').matches]
        """

    /// The width and height in a PNG.
    private func size(of picture: [UInt8]) throws -> [Int] {
        #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        try #require(picture.count > 24)
        return [16, 20].map { start in picture[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test(arguments: zip([320, 1_600], Browser.Scheme.allCases))
    func pagesAndTabsHaveTheSizeAndScheme(_ width: Int, _ scheme: Browser.Scheme) throws {
        let browser = try Browser(width: width, height: 600, scheme: scheme, reducesMotion: scheme == .dark)
        let isDark = PageValue.bool(scheme == .dark)
        #expect(try browser.run(Self.looks) == [PageValue(width), 600, isDark, isDark])
        #expect(try size(of: browser.screenshot()) == [width, 600])
        try browser.openTab()
        #expect(try browser.run(Self.looks) == [PageValue(width), 600, isDark, isDark])
        try browser.attach("client-\(width)-\(scheme)")
    }

    @Test func sizeAndSchemeCanBeChanged() throws {
        let browser = try Browser()
        try browser.resize(width: 500, height: 400)
        try browser.change(to: .dark)
        #expect(try browser.run(Self.looks) == [500, 400, true, false])
        try browser.open("data:text/html,other")
        #expect(try browser.run(Self.looks) == [500, 400, true, false])
        try browser.change(to: .light)
        #expect(try browser.run(Self.looks) == [500, 400, false, false])
    }
}
