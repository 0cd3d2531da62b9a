// Tests the controls of points, lists and optionals: the pad, and text fields.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PointTests {
    private static func point(_ x: Double, _ y: Double) -> TweakValue { .point(TweakPoint(x: x, y: y)) }

    @Test func pointsListsAndOptionalsHaveTextFields() throws {
        try PanelHost.visit(expecting: [PanelView.refused(422)]) { host, page in
            try page.wait("part('Point', 'x').value === '10' && part('Point', 'y').value === '20'")
            try page.type("42.5", over: "Point", "x", then: .enter, sets: Self.point(42.5, 20))
            try page.type("2*3", over: "Point", "y", then: .enter, sets: Self.point(42.5, 6))
            try page.type("51", over: "Point", "y", then: .enter)
            #expect(try page.error("Point").contains("51 is outside 0...50"))
            #expect(host.value("Point") == Self.point(42.5, 6))
            try host.set("Point", "1,2")
            try page.type("[10]", over: "List", "field", then: .enter)
            #expect(try page.error("List").contains("10 is outside 0...9"))
        }
    }

    /// The texts of the chips of the list.
    private static func chips(_ numbers: [Int64]) -> (condition: String, texts: PageValue) {
        (
            """
            JSON.stringify([...row('List').querySelectorAll('[data-part=chip]')].map((chip) => chip.textContent))
                === JSON.stringify(given[0])
            """, .array(numbers.map { .string(String($0)) })
        )
    }

    @Test func elementsAreAddedMovedAndRemoved() throws {
        try PanelHost.visit { host, page in
            func expect(_ numbers: Int64...) throws {
                try host.wait("List", .list(numbers.map { .int($0) }))
                let chips = Self.chips(numbers)
                try page.wait(chips.condition, chips.texts)
            }
            try expect(1, 2)
            try page.type("[3,4]", over: "List", "field", then: .enter)
            try expect(3, 4)
            try page.type("5", over: "List", "field", then: .enter)
            try expect(3, 4, 5)
            // The last, by keys: to the left, and away.
            try page.ask("row('List').querySelectorAll('[data-part=chip]')[2].focus()")
            try page.keys(.left, holding: [.alt])
            try expect(3, 5, 4)
            try page.wait("document.activeElement.textContent === '5'")
            try page.keys(.delete)
            try expect(3, 4)
            try page.retry("stale element reference") {
                try page.wait("!row('List').row.sender.isBusy")
                try page.browser.element("[data-path='Kinds/Basic/List'] [data-part=chip] button").click()
            }
            try expect(4)
            try page.type("[7, 8, 9]", over: "List", "field", then: .enter)
            try expect(7, 8, 9)
            // The reply draws the chips once more.
            try page.wait("!row('List').row.sender.isBusy")
            // The first, by the mouse, to the place of the last.
            let places = [1, 3].map { "[data-path='Kinds/Basic/List'] [data-part=chip]:nth-child(\($0)) bdi" }
            let (first, last) = (try page.browser.element(places[0]), try page.browser.element(places[1]))
            try page.browser.perform(.mouse([.move(to: first), .press, .move(to: last), .release]))
            try expect(8, 9, 7)
        }
    }

    @Test func aSwitchSaysWhetherAnOptionalIsSet() throws {
        try PanelHost.visit { host, page in
            try page.wait("field('Maybe') === '' && part('Maybe', 'switch').ariaChecked === 'false'")
            try host.set("Maybe", "0.25")
            try page.wait("field('Maybe') === '0.25' && part('Maybe', 'switch').ariaChecked === 'true'")
            try host.set("Maybe", "none")
            try page.wait("field('Maybe') === ''")
            try page.click("Maybe", "switch", sets: .number(0.25))
            try page.type("0.5", over: "Maybe", "field", then: .enter, sets: .number(0.5))
            try page.wait("!row('Maybe').row.sender.isBusy && field('Maybe') === '0.5'")
            try page.click("Maybe", "switch", sets: .notSet)
            try page.wait("field('Maybe') === ''")
            // What it was comes back.
            try page.click("Maybe", "switch", sets: .number(0.5))
            try page.type("none", over: "Maybe", "field", then: .enter, sets: .notSet)
            try page.wait("part('Maybe', 'switch').textContent === 'not set'")
        }
    }

    @Test func arrowKeysInItsFieldsMoveAPoint() throws {
        try PanelHost.visit { host, page in
            try page.press("Point", "x", .up, sets: Self.point(11, 20))
            try page.press("Point", "y", .down, holding: [.shift], sets: Self.point(11, 19))
            try page.wait("part('Point', 'y').value === '19'")
        }
    }

    @Test func theMouseAndTheKeysMoveBothNumbersOfAPad() throws {
        try PanelHost.visit { host, page in
            try page.wait("part('Point', 'pad').ariaValueText === 'x 10, y 20'")
            let pad = try page.browser.element("[data-path='Kinds/Basic/Point'] [data-part=pad]")
            let moves = [PointerStep.moveBy(x: 10, y: 10, over: .milliseconds(100)), .moveBy(x: 500, y: 500)]
            try page.browser.perform(.mouse([.move(to: pad), .press] + moves + [.release]))
            try host.wait("Point", Self.point(100, 50))
            try page.step("undo", sets: "Point", to: Self.point(10, 20))
            try page.wait("part('Point', 'pad').ariaValueText === 'x 10, y 20'")
            try page.browser.run("arguments[0].scrollIntoView(); arguments[0].focus()", pad.value)
            for _ in 0..<3 { try page.keys(.right) }
            try page.keys(.up, holding: [.shift], sets: "Point", to: Self.point(13, 19))
            try page.wait("part('Point', 'pad').ariaValueText === 'x 13, y 19'")
            try page.attachPictures("panel-point")
        }
    }

    /// A second key finds what the first has left, before the process has answered.
    @Test func elementsAreRemovedWhileTheProcessIsSlow() throws {
        let registry = TweakRegistry()
        _ = Tweak("Kinds", "Basic", "List", [1, 2, 3, 4], registry: registry)
        _ = Tweak<String?>("Kinds", "Basic", "Maybe", nil, registry: registry)
        try PanelHost.visit(registry) { host, page in
            try page.wait("row('List').querySelectorAll('[data-part=chip]').length === 4")
            try page.holdReplies(where: "path.includes('/api/tweaks')")
            try page.ask("row('List').querySelector('[data-part=chip]').focus()")
            for _ in 0..<2 { try page.keys(.delete) }
            try page.ask("window.isOpen = true")
            try host.wait("List", .list([.int(3), .int(4)]))
            try page.wait("!row('List').row.sender.isBusy && document.activeElement.textContent === '3'")
            // A text that is set for the first time is empty.
            try page.click("Maybe", "switch", sets: .string(""))
        }
    }

    @Test func aReaderCannotRemoveElements() throws {
        let reader = PanelHost.User(name: "reader", scopes: [.read])
        try PanelHost.visit(as: reader) { _, page in
            try page.wait("row('List').querySelectorAll('[data-part=chip] button:disabled').length === 2")
            // Its row is a stop of Tab: nothing in it can be used.
            try page.expect("row('List').tabIndex === 0 && row('Whole').tabIndex === 0")
        }
    }
}
