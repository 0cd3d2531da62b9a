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
            try page.wait("field('List') === '[1, 2]' && field('Maybe') === 'none'")
            try page.type("[3,4]", over: "List", "field", then: .enter, sets: .list([.int(3), .int(4)]))
            try page.wait("field('List') === '[3, 4]'")
            try page.type("0.5", over: "Maybe", "field", then: .enter, sets: .number(0.5))
            try page.type("none", over: "Maybe", "field", then: .enter, sets: .notSet)
            try page.type("[10]", over: "List", "field", then: .enter)
            #expect(try page.error("List").contains("10 is outside 0...9"))
            try host.set("Maybe", "0.25")
            try page.wait("field('Maybe') === '0.25'")
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
}
