// Tests how the page hands tuned values to the source, and what it offers for overrides that the source has adopted.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BakePageTests {
    private static let file = "TweaksPanelTests/BakePageTests.swift"

    /// Tweaks in the lines after `line`, one in each.
    private static func tweaks(in registry: TweakRegistry) -> (line: Int, values: [(String, String)]) {
        _ = Tweak("Ball", "Shape", "Size", 16.0, in: 4...72, registry: registry); let line = #line
        _ = Tweak("Ball", "Shape", "Sides", 3, registry: registry)
        _ = Tweak("Ball", "Shape", "Shown", true, registry: registry)
        _ = Tweak("Ball", "Look", "Words", "a", registry: registry)
        _ = Tweak("Ball", "Look", "Color", TweakColor.black, registry: registry)
        _ = Tweak("Ball", "Look", "Shade", TweakColor.black, registry: registry)
        _ = Tweak("Ball", "Look", "Day", PageTweaks.Day.mon, registry: registry)
        _ = Tweak("Ball", "Move", "Fade", .milliseconds(250), registry: registry)
        _ = Tweak("Ball", "Move", "Place", TweakPoint(x: 1, y: 2), registry: registry)
        _ = Tweak("Ball", "Move", "Curve", TweakCurve.linear, registry: registry)
        _ = Tweak("Ball", "Move", "Steps", TweakCurve(0.2, 0, 0, 1), registry: registry)
        _ = Tweak("Ball", "Move", "List", [0.5, 2], registry: registry)
        _ = Tweak("Ball", "Move", "Names", ["a"], registry: registry)
        _ = Tweak<Int?>("Ball", "Move", "Maybe", nil, registry: registry)
        _ = Tweak<Int?>("Ball", "Move", "Certain", 5, registry: registry)
        _ = Tweak("Ball", "Key", "Secret", "x", flags: .secret, registry: registry)
        _ = Tweak("Ball", "Key", "Brief", 1, registry: registry)
        return (
            line,
            [
                ("Shape/Size", "33"), ("Shape/Sides", "4"), ("Shape/Shown", "false"),
                ("Look/Words", #""say \"hi\"\n\\ ü""#), ("Look/Color", "tomato"), ("Look/Shade", "#10203040"),
                ("Look/Day", "tue"), ("Move/Fade", "1.5s"), ("Move/Place", "3,-0.5"), ("Move/Curve", "ease-in-out"),
                ("Move/Steps", "\"steps(4, jump-none)\""), ("Move/List", "[1,2.25]"), ("Move/Names", #"["b","c d"]"#),
                ("Move/Maybe", "7"), ("Move/Certain", "none"), ("Key/Secret", "hidden"), ("Key/Brief", "2 for 10m"),
            ]
        )
    }

    /// The old and the new literals of those tweaks.
    private static let literals = [
        ("16.0", "33.0"), ("3", "4"), ("true", "false"), (#""a""#, #""say \"hi\"\n\\ ü""#),
        ("TweakColor(0x000000)", "TweakColor(0xFF6347)"),
        ("TweakColor(0x000000)", "TweakColor(red8: 16, green8: 32, blue8: 48, alpha8: 64)"), (".mon", ".tue"),
        (".milliseconds(250)", ".milliseconds(1500)"), ("TweakPoint(x: 1, y: 2)", "TweakPoint(x: 3, y: -0.5)"),
        ("TweakCurve.linear", "TweakCurve.easeInOut"), ("TweakCurve(0.2, 0, 0, 1)", "TweakCurve.steps(4, .jumpNone)"),
        ("[0.5, 2.0]", "[1.0, 2.25]"), (#"["a"]"#, #"["b", "c d"]"#), ("nil", "7"), ("5", "nil"),
    ]

    /// Tunes all of them, lists them, and has copies end in `copied`; or has the browser refuse.
    private func visit(isAllowed: Bool, _ body: (PanelView, Int, [String]) throws -> Void) throws {
        let registry = TweakRegistry()
        let (line, values) = Self.tweaks(in: registry)
        try PanelHost.visit(registry) { host, page in
            let client = try host.connect()
            for (name, value) in values {
                let reply = try client.ask("set Ball/\(name) \(value)")
                #expect(reply.last?.hasPrefix("ok") == true, "\(name): \(reply)")
            }
            try page.wait("document.querySelector('#modified-only .count').textContent === '\(values.count)'")
            try page.expect("!isShown(document.querySelector('[data-part=copy-swift]'))")
            try page.element("modified-only").click()
            try page.wait("isShown(document.querySelector('[data-part=copy-swift]'))")
            try page.browser.run(
                """
                const isAllowed = arguments[0];
                navigator.clipboard.write = async ([item]) => {
                    if (!isAllowed) throw new Error('forbidden');
                    globalThis.copied = await (await item.getType('text/plain')).text();
                };
                """, .bool(isAllowed))
            try body(page, line, values.map(\.0))
        }
    }

    @Test func modifiedTweaksAreCopiedAsSwift() throws {
        try visit(isAllowed: true) { page, line, names in
            try page.expect("document.querySelector('[data-part=tuned]').textContent.startsWith('16 values here')")
            try page.press(button: "Copy as Swift", in: "#strips", saying: "Copied 15 values as Swift")
            let entries = Self.literals.enumerated().map { offset, literals in
                "// \(Self.file):\(line + offset) · Ball/\(names[offset]), was \(literals.0)\n\(literals.1)\n"
            }
            let expected =
                "// 15 new defaults of example; tweakctl example bake --write puts them into the source\n\n"
                + entries.joined() + "\n// Ball/Key/Brief is left out: its value is of the temporary override\n"
            #expect(try page.ask("copied") == .string(expected))
        }
    }

    @Test func aForbiddenCopyIsShownToBeCopiedByHand() throws {
        try visit(isAllowed: false) { page, line, names in
            try page.press(button: "Copy as diff", in: "#strips")
            try page.wait("isShown(byID('copied'))")
            let entries = Self.literals.enumerated().map { offset, literals in
                "@@ -\(line + offset) +\(line + offset) @@ Ball/\(names[offset])\n-\(literals.0)\n+\(literals.1)\n"
            }
            let expected =
                "# To read; tweakctl example bake prints the diff that git apply takes\n--- \(Self.file)\n+++ \(Self.file)\n"
                + entries.joined() + "# Ball/Key/Brief is left out: its value is of the temporary override\n"
            // It is selected.
            #expect(try page.ask("String(getSelection())") == .string(expected))
            try page.attachPictures("bake-copied")
            try page.keys(.escape)
            try page.wait("byID('copied') == null")
        }
    }

    @Test func aValueThatWasResetIsNotCopiedAndMovesNoRow() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "51")
            try page.wait("document.querySelector('#modified-only .count').textContent === '1'")
            try page.element("modified-only").click()
            try page.wait("document.querySelector('[data-part=tuned]').textContent.startsWith('1 value here')")
            let top = try page.ask("row('Whole').getBoundingClientRect().top")
            try page.click("Whole", "reset", sets: .int(50))
            try page.wait("document.querySelector('[data-part=copy-swift]').disabled")
            #expect(try page.ask("row('Whole').getBoundingClientRect().top") == top)
        }
    }

    // MARK: Overrides that are the defaults by now

    private static let offer = "document.querySelector('[data-part=stale]')"
    private static let isOffered = "isShown(\(offer))"

    /// The tweaks of the page tests, two of which have their defaults as overrides.
    private func adopted() throws -> TweakRegistry {
        let registry = PageTweaks().registry
        try registry["Kinds/Basic/Whole"]?.set(.int(50))
        try registry["Other/Far/Distance"]?.set(.int(7))
        return registry
    }

    @Test func overridesThatAreTheirDefaultsAreResetInOneStep() throws {
        try PanelHost.visit(adopted()) { host, page in
            let client = try host.connect()
            try page.expect("\(Self.offer).textContent.startsWith('2 tweaks are set to what is their default now')")
            try page.press(button: "Show", in: "#strips")
            try page.wait("String(listed()) === 'Kinds/Basic/Whole,Other/Far/Distance'")
            try page.press(button: "Show", in: "#strips")
            try page.wait("listed().length > 5")
            try page.press(button: "Reset them", in: "#strips", saying: "2 overrides reset; no value has changed")
            try page.wait("!\(Self.isOffered)")
            #expect(try client.ask("modified --stale") == ["ok"])
            try page.step("undo")
            try page.waitUntilSaid("Undone")
            #expect(try client.ask("modified --stale").count == 3)
        }
    }

    @Test func whoDeclinesIsNotAskedAgainUntilTheNextStart() throws {
        try PanelHost.visit(adopted(), expecting: ["net::ERR_"]) { host, page in
            try page.attachPictures("bake-stale")
            try page.press(button: "Not now", in: "#strips")
            try page.wait("!\(Self.isOffered)")
            try page.browser.reload()
            try page.waitUntilConnected()
            // The strip is drawn at the count after the snapshot.
            try page.wait("performance.getEntriesByName(location.origin + '/api/history?count=1').length > 0")
            try page.wait("!\(Self.isOffered)")
            host.stop()
            try host.restart()
            try page.wait(Self.isOffered)
        }
    }

    @Test func aReaderIsNotAsked() throws {
        let reader = PanelHost.User(name: "reader", scopes: ["read", "write:Other"])
        try PanelHost.visit(adopted(), as: reader) { _, page in
            try page.wait("\(Self.offer).textContent.startsWith('1 tweak is set')")
        }
    }

    /// A field that moves away while one types in it would be worse than a late offer.
    @Test func theOfferWaitsWhileARowIsInUse() throws {
        try PanelHost.visit { host, page in
            try page.type("5", over: "Count")
            let top = try page.ask("part('Count', 'field').getBoundingClientRect().top")
            try host.set("Whole", "50")
            _ = Tweak("Kinds", "Basic", "Later", 1, registry: host.registry)
            try page.wait("row('Later') != null")
            try page.wait("performance.getEntriesByName(location.origin + '/api/history?count=1').length > 1")
            try page.expect("!\(Self.isOffered)")
            #expect(try page.ask("part('Count', 'field').getBoundingClientRect().top") == top)
            try page.keys(.escape, .escape)
            try page.ask("document.activeElement.blur()")
            try page.wait(Self.isOffered)
        }
    }

    @Test(arguments: [1_280, 390]) func theStripsFitAndHaveTheirPictures(_ width: Int) throws {
        try PanelHost.visit(adopted(), width: width, touch: width < 500) { host, page in
            try host.set("Count", "11")
            try page.wait("document.querySelector('#modified-only .count').textContent === '1'")
            try page.element("modified-only").click()
            try page.wait("isShown(document.querySelector('[data-part=copy-diff]')) && \(Self.isOffered)")
            try page.expectRoom()
            try page.attachPictures("bake-strips-\(width)")
            guard Browser.attachesScreenshots else { return }
            try page.browser.forceColors(true)
            try page.browser.attach("bake-strips-\(width)-forced")
        }
    }
}
