// Tests the color control: the hex field, the picker with its opacity, recent colors, and the label.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ColorTests {
    private static func color(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) -> TweakValue {
        .color(TweakColor(red8: red, green8: green, blue8: blue, alpha8: alpha))
    }

    @Test func theHexFieldTakesColorsAndRefusesOthers() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            for (text, value) in [
                ("#00FF00", Self.color(0, 255, 0)), ("#f80", Self.color(255, 136, 0)),
                ("#01020304", Self.color(1, 2, 3, 4)), ("tomato", Self.color(255, 99, 71)),
            ] {
                try page.type(text, over: "Color", "hex", then: .enter, sets: value)
            }
            try page.wait("field('Color') === '#FF6347'")
            try page.wait("text('Color', 'meaning') === 'tomato = #FF6347'")
            try page.type("#12", over: "Color", "hex", then: .enter)
            #expect(try page.error("Color").contains("#12"))
            #expect(host.value("Color") == Self.color(255, 99, 71))
        }
    }

    @Test func thePickerSetsColorAndOpacityByMouseAndKeys() throws {
        try PanelHost.visit { host, page in
            try page.openPicker()
            let area = try page.browser.element("#picker [data-part=area]")
            let (width, height) = (try area.frame.width, try area.frame.height)
            // The lower left corner is black.
            let corner = PointerStep.moveBy(x: 1 - width / 2, y: height / 2 - 1, over: .milliseconds(100))
            try page.browser.perform(.mouse(.move(to: area), .press, corner, .moveBy(x: -50, y: 50), .release))
            try host.wait("Color", Self.color(0, 0, 0))
            // Opacity to zero, then one step back.
            try page.browser.run("document.querySelector('#picker [data-part=alpha]').focus()")
            try page.keys(.home, sets: "Color", to: Self.color(0, 0, 0, 0))
            try page.keys(.right, sets: "Color", to: Self.color(0, 0, 0, 1))
            try page.browser.run("arguments[0].focus()", area.value)
            for _ in 0..<10 { try page.keys(.up, holding: [.shift]) }
            try host.wait("Color", Self.color(255, 255, 255, 1))
            try page.keys(.enter)
            try page.wait("!isShown(byID('picker')) && document.activeElement === part('Color', 'swatch')")
            // The picked color is among the recent ones.
            try host.set("Color", "red")
            try page.press("Color", "swatch", .enter)
            try page.wait("isShown(byID('picker'))")
            try page.browser.element("#picker [aria-label='#FFFFFF01']").click()
            try host.wait("Color", Self.color(255, 255, 255, 1))
        }
    }

    @Test func aPickedColorIsRememberedIfThePickerClosesBeforeTheReply() throws {
        try PanelHost.visit { host, page in
            try page.browser.run(
                """
                const send = fetch;
                window.fetch = async (...all) => {
                    while (all[1]?.method === 'PATCH' && !window.isOpen) await new Promise((go) => setTimeout(go, 5));
                    return send(...all);
                };
                """)
            try page.openPicker()
            try page.browser.run("document.querySelector('#picker [data-part=alpha]').focus()")
            try page.browser.perform(.keys(.home), .keys(.enter))
            try page.wait("!isShown(byID('picker'))")
            #expect(host.value("Color") == Self.color(255, 0, 0))
            try page.browser.run("window.isOpen = true")
            try host.wait("Color", Self.color(255, 0, 0, 0))
            try page.press("Color", "swatch", .enter)
            try page.wait("isShown(byID('picker'))")
            let recent = "[...document.querySelectorAll('#picker .recent button')].map((chip) => chip.title)"
            #expect(try page.ask(recent) == ["#FF000000"])
        }
    }

    @Test(arguments: ["hue", "area"]) func consecutiveKeysInThePickerAreOneStep(_ part: String) throws {
        try PanelHost.visit { host, page in
            try page.openPicker()
            try page.browser.run("document.querySelector('#picker [data-part=\(part)]').focus()")
            let key: Key = part == "hue" ? .right : .down
            try page.keys(key, key, key, key)
            try host.wait("Color") { $0 != Self.color(255, 0, 0) }
            try page.keys(.enter)
            try page.step("undo", sets: "Color", to: Self.color(255, 0, 0))
            #expect(host.registry.history.count(where: { $0.kind == .change }) == 1)
        }
    }

    /// WCAG's formula, for the label on the swatch.
    @Test func labelsHaveEnoughContrast() throws {
        let ratio = """
            contrast(getComputedStyle(part('Color', 'swatch')).color.match(/\\d+/g).map(Number),
                given[0].slice(1).match(/../g).map((pair) => parseInt(pair, 16)))
            """
        try PanelHost.visit { host, page in
            for scheme in Browser.Scheme.allCases {
                try page.browser.change(to: scheme)
                for text in ["#000000", "#FFFFFF", "#FF0000", "#0000FF", "#00FF00", "#777777", "#808000"] {
                    try host.set("Color", text)
                    try page.wait("field('Color') === given[0]", .string(text))
                    let ratio = try page.ask(ratio, .string(text)).number ?? 0
                    #expect(ratio >= 4.5, "\(scheme) \(text)")
                }
            }
        }
    }
}
