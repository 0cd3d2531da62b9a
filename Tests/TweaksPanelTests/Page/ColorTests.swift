// Colours: the hex field, the picker with its opacity, recent ones, and labels that stay readable.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ColorTests {
    private static func color(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) -> TweakValue {
        .color(TweakColor(red8: red, green8: green, blue8: blue, alpha8: alpha))
    }

    @Test func hexFields() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(400)]) { page in
            for (text, value) in [
                ("#00FF00", Self.color(0, 255, 0)), ("#f80", Self.color(255, 136, 0)),
                ("#01020304", Self.color(1, 2, 3, 4)), ("tomato", Self.color(255, 99, 71)),
            ] {
                try page.type(text, over: "Colour", "hex", then: .enter)
                try host.wait("Colour", value)
            }
            try page.wait("field('Colour') === '#FF6347'")
            // What was understood is said.
            try page.wait("text('Colour', 'meaning') === 'tomato = #FF6347'")
            try page.type("#12", over: "Colour", "hex", then: .enter)
            #expect(try page.error("Colour").contains("#12"))
            #expect(host.value("Colour") == Self.color(255, 99, 71))
        }
    }

    @Test func pickers() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.click("Colour", "swatch")
            try page.wait("isShown(document.getElementById('picker'))")
            let area = try page.browser.element("#picker [data-part=area]")
            // Its lower left corner is black.
            let frame = try area.frame
            let (x, y) = (1 - frame.width / 2, frame.height / 2 - 1)
            try page.browser.perform(
                .mouse(
                    .move(to: area), .press, .moveBy(x: x, y: y, over: .milliseconds(100)), .moveBy(x: -50, y: 50),
                    .release))
            try host.wait("Colour", Self.color(0, 0, 0))
            // By keys: opacity to nothing, then one step back.
            try page.browser.run("document.querySelector('#picker [data-part=alpha]').focus()")
            try page.browser.perform(.keys(.home))
            try host.wait("Colour", Self.color(0, 0, 0, 0))
            try page.browser.perform(.keys(.right))
            try host.wait("Colour", Self.color(0, 0, 0, 1))
            try page.browser.run("arguments[0].focus()", area.value)
            for _ in 0..<10 { try page.browser.perform(.keys(.up, holding: [.shift])) }
            try host.wait("Colour", Self.color(255, 255, 255, 1))
            try page.browser.perform(.keys(.escape))
            try page.wait(
                "!isShown(document.getElementById('picker')) && document.activeElement === part('Colour', 'swatch')")
            // What was picked comes back.
            try host.set("Colour", "red")
            try page.press("Colour", "swatch", .enter)
            try page.wait("isShown(document.getElementById('picker'))")
            try page.browser.element("#picker [aria-label='#FFFFFF01']").click()
            try host.wait("Colour", Self.color(255, 255, 255, 1))
        }
    }

    /// What was picked is remembered even if the picker is closed before the process has answered.
    @Test func closedBeforeTheAnswer() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.run(
                """
                const send = fetch;
                window.fetch = async (...all) => {
                    while (all[1]?.method === 'PATCH' && !window.isOpen) await new Promise((go) => setTimeout(go, 5));
                    return send(...all);
                };
                """)
            try page.click("Colour", "swatch")
            try page.wait("isShown(document.getElementById('picker'))")
            try page.browser.run("document.querySelector('#picker [data-part=alpha]').focus()")
            try page.browser.perform(.keys(.home))
            try page.browser.perform(.keys(.escape))
            try page.wait("!isShown(document.getElementById('picker'))")
            #expect(host.value("Colour") == Self.color(255, 0, 0))
            try page.browser.run("window.isOpen = true")
            try host.wait("Colour", Self.color(255, 0, 0, 0))
            try page.press("Colour", "swatch", .enter)
            try page.wait("isShown(document.getElementById('picker'))")
            #expect(
                try page.ask("[...document.querySelectorAll('#picker .recent button')].map((chip) => chip.title)")
                    .array?
                    .compactMap(\.string) == ["#FF000000"])
        }
    }

    /// Keys in the picker are one step as long as they follow each other.
    @Test(arguments: ["hue", "area"]) func aRunOfKeysIsOneStep(_ part: String) throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.click("Colour", "swatch")
            try page.wait("isShown(document.getElementById('picker'))")
            try page.browser.run("document.querySelector('#picker [data-part=\(part)]').focus()")
            let key: Key = part == "hue" ? .right : .down
            try page.browser.perform(.keys(key, key, key, key))
            try host.wait("Colour") { $0 != Self.color(255, 0, 0) }
            try page.browser.perform(.keys(.escape))
            try page.step("undo")
            try host.wait("Colour", Self.color(255, 0, 0))
            #expect(host.registry.history.count(where: { $0.kind == .change }) == 1)
        }
    }

    /// The label on a swatch against it, by WCAG's formula.
    @Test(arguments: Browser.Scheme.allCases) func labelsStayReadable(_ scheme: Browser.Scheme) throws {
        let host = try PanelHost()
        try host.visit(scheme: scheme) { page in
            for text in ["#000000", "#FFFFFF", "#FF0000", "#0000FF", "#00FF00", "#777777", "#808000"] {
                try host.set("Colour", text)
                try page.wait("field('Colour') === given[0]", .string(text))
                let ratio = try page.ask(
                    """
                    (() => {
                        const light = (rgb) => rgb.map((part) => part / 255)
                            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                            .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
                        const ink = light(getComputedStyle(part('Colour', 'swatch')).color.match(/\\d+/g).map(Number));
                        const paper = light(given[0].slice(1).match(/../g).map((pair) => parseInt(pair, 16)));
                        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
                    })()
                    """, .string(text))
                #expect((ratio.number ?? 0) >= 4.5, "\(text): \(ratio)")
            }
        }
    }
}
