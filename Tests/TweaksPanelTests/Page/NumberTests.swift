// Tests numbers and durations: sliders, fields, steps, scrubbing, and refusals.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct NumberTests {
    /// Tweak, typed text, and the resulting value.
    static let entries: [(name: String, text: String, value: TweakValue)] = [
        ("Whole", "72", .int(72)), ("Whole", "0x2a", .int(42)), ("Whole", "+=5", .int(47)), ("Whole", "-=7", .int(40)),
        ("Whole", " 5 ", .int(5)), ("Free", "1e-12", .number(1e-12)), ("Free", "-2.5", .number(-2.5)),
        ("Free", "0.1", .number(0.1)), ("Free", "+=0.2", .number(0.3)), ("Free", "1e300", .number(1e300)),
        ("Count", "9223372036854775807", .int(.max)), ("Count", "-9223372036854775808", .int(.min)),
        ("Count", "1_000", .int(1_000)), ("Real", "99.5", .number(99.5)),
        ("Fade", "1s500ms", .duration(.milliseconds(1_500))), ("Fade", "20ms", .duration(.milliseconds(20))),
        ("Fade", ".5s", .duration(.milliseconds(500))), ("Fade", "*=2", .duration(.seconds(1))),
        ("Fade", "/= 4", .duration(.milliseconds(250))), ("Fade", "2*10", .duration(.milliseconds(20))),
        ("Fade", "+=1s", .duration(.milliseconds(1_020))), ("Free", "0x20", .number(32)),
        ("Free", "*=0.1", .number(3.2)),
        ("Free", "/=(1+1)", .number(1.6)), ("Whole", "*=3", .int(15)), ("Whole", "/=3", .int(5)),
    ]

    @Test func fieldsAcceptWhatTheTypeHolds() throws {
        try PanelHost.visit { host, page in
            for entry in Self.entries {
                try page.type(entry.text, over: entry.name, then: .enter)
                try host.wait(entry.name) { value in
                    // The server rounds 0.1 + 0.2.
                    if case (.number(let now), .number(let then)) = (value, entry.value) {
                        return abs(now - then) <= abs(then) * 1e-15
                    }
                    return value == entry.value
                }
            }
            try page.wait(
                "field('Count') === '1000' && field('Whole') === '5' && /^1(.02s|s20ms)$/.test(field('Fade'))")
            try page.expect("![...document.querySelectorAll('[data-part=error]')].some(isShown)")
        }
    }

    /// Tweak, refused text, and a part of the error.
    static let refusals = [
        ("Whole", "many", "many"), ("Whole", "101", "0...100"), ("Whole", "1.5", "1.5"), ("Whole", "+=99", "0...100"),
        ("Whole", "/=4", "50/4"), ("Real", "72,5", "write 72.5"), ("Fade", "2s*2s", "multiplied"),
        ("Real", "60.3", "60.3"), ("Fade", "3 apples", "3 apples"), ("Fade", "6s", "0s...5s"),
        ("Count", "1e99", "1e99"),
    ]

    @Test func refusedTextStaysAndChangesNothing() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400), PanelView.refused(422)]) { host, page in
            let revision = host.registry.revision
            for (name, text, reason) in Self.refusals {
                try page.type(text, over: name, then: .enter)
                try page.wait("text('\(name)', 'error').includes(given[0])", .string(reason))
                // The text stays, to be corrected.
                #expect(try page.ask("field('\(name)')") == .string(text))
                try page.keys(.escape)
                try page.wait("text('\(name)', 'error') === ''")
            }
            #expect(host.registry.revision == revision)
        }
    }

    /// Expects that the page and the process have the same value after a drag to the right from 60. Some of the values
    /// on the way arrive after the pointer is released.
    private func expectDragged(_ host: PanelHost, _ page: PanelView) throws -> Double {
        let shown = try #require(try page.ask("Number(field('Real'))").number)
        #expect(shown > 60 && shown <= 100)
        try host.wait("Real", .number(shown))
        try page.wait("Number(field('Real')) === given[0]", .number(shown))
        return shown
    }

    @Test func slidersFollowTheMouse() throws {
        try PanelHost.visit { host, page in
            try page.drag("Real", x: 40)
            let now = try expectDragged(host, page)
            #expect((now * 2).rounded() == now * 2)
            for (x, end) in [(400.0, 100.0), (-400, 10)] {
                try page.drag("Real", x: x, over: 0)
                try host.wait("Real", .number(end))
            }
        }
    }

    @Test func slidersFollowAFinger() throws {
        try PanelHost.visit(width: 400, touch: true) { host, page in
            let slider = try page.part("Real", "slider")
            try page.browser.perform(
                .touch(.move(to: slider), .press, .moveBy(x: 60, y: 0, over: .milliseconds(200)), .release))
            _ = try expectDragged(host, page)
            // A tap while the page still scrolls is ignored; users tap again.
            for _ in 0..<5 {
                try page.browser.perform(.touch(.move(to: page.part("Bool", "switch")), .press, .release))
                let isOn = "part('Bool', 'switch').ariaChecked === 'true'"
                if (try? page.wait(isOn, within: .seconds(2))) != nil { break }
            }
            try host.wait("Bool", .bool(true))
        }
    }

    /// Keys, and the value after each: from 60, in steps of 0.5.
    static let keys: [(key: Key, modifiers: [Key], value: Double)] = [
        (.right, [], 60.5), (.left, [], 60), (.up, [], 60.5), (.down, [], 60), (.up, [.shift], 65), (.pageUp, [], 70),
        (.pageDown, [], 65), (.up, [.alt], 65.5), (.home, [], 10), (.end, [], 100), (.down, [.shift], 95),
    ]

    @Test func keysMoveSlidersAndFieldsByExactSteps() throws {
        try PanelHost.visit { host, page in
            for (key, modifiers, value) in Self.keys {
                try page.press("Real", "slider", key, holding: modifiers, sets: .number(value))
            }
            try page.press("Real", "field", .down, sets: .number(94.5))
            try page.press("Real", "field", .up, holding: [.shift], sets: .number(99.5))
            try page.press("Fade", "field", .up, sets: .duration(.milliseconds(260)))
            try page.press("Whole", "field", .up, holding: [.shift], sets: .int(60))
            try page.press("Count", "field", .down, sets: .int(9))
            // Steps of a tenth add up to tenths.
            for (step, text) in ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"].enumerated() {
                try page.press("Dust", "slider", .right, sets: .number(Double(step + 1) / 10))
                try page.wait(
                    "field('Dust') === given[0] && part('Dust', 'slider').ariaValueText === given[0]", .string(text))
            }
        }
    }

    @Test func scrubbingChangesEveryNumber() throws {
        try PanelHost.visit { host, page in
            try page.drag("Count", "field", x: 60)
            try host.wait("Count", .int(30))
            try page.drag("Count", "field", x: -90, isReleased: false)
            try host.wait("Count", .int(0))
            // Escape cancels the drag.
            try page.keys(.escape, sets: "Count", to: .int(30))
            try page.browser.perform(.mouse(.release))
            try page.wait("field('Count') === '30'")
            #expect(host.value("Count") == .int(30))
            // Coarsely with Shift, finely with Alt.
            let drags: [(name: String, modifiers: [Key], value: TweakValue)] = [
                ("Whole", [], .int(60)), ("Real", [], .number(65)), ("Real", [.shift], .number(100)),
                ("Free", [], .number(1.2)), ("Free", [.alt], .number(1.22)),
                ("Fade", [], .duration(.milliseconds(350))),
            ]
            for (name, modifiers, value) in drags {
                try page.browser.perform(.keyboard(modifiers.map(KeyStep.press)))
                try page.drag(name, "field", x: 30, over: 100)
                try page.browser.perform(.keyboard(modifiers.map(KeyStep.release)))
                try host.wait(name, value)
                try page.wait("!row(given[0]).row.sender.isBusy", .string(name))
            }
        }
    }

    /// A press without movement is a click; in a field that has the focus a drag selects text.
    @Test func aFieldIsScrubbedByAPressThatMoves() throws {
        try PanelHost.visit { host, page in
            let field = try page.part("Count", "field")
            try page.browser.perform(.mouse([.move(to: field), .press, .release]))
            try page.wait("document.activeElement === part('Count', 'field') && document.pointerLockElement == null")
            try page.browser.perform(.keyboard([.character("7"), .press(.enter), .release(.enter)]))
            try host.wait("Count", .int(7))
            let revision = host.registry.revision
            try page.drag("Count", "field", x: 60)
            #expect(host.registry.revision == revision)
        }
    }

    /// The browser sends no key when Escape ends the lock of the pointer.
    @Test func theEndOfThePointersLockCancelsTheDrag() throws {
        try PanelHost.visit { host, page in
            try page.browser.run(
                """
                // As in a browser, the lock changes after the call. During the release it would cancel the drag.
                const lock = (element) => setTimeout(() => {
                    window.locked = element;
                    document.dispatchEvent(new Event('pointerlockchange'));
                });
                Object.defineProperty(document, 'pointerLockElement', { get: () => window.locked ?? null });
                Element.prototype.requestPointerLock = async function () { lock(this); };
                document.exitPointerLock = () => window.locked && lock(null);
                """)
            try page.drag("Count", "field", x: 60)
            try host.wait("Count") { $0 != .int(10) }
            try page.wait("!row('Count').row.drag && !row('Count').row.sender.isBusy")
            try page.expect("document.pointerLockElement == null")
            // How far depends on how the browser rounds movements.
            let before = try #require(host.value("Count"))
            try page.drag("Count", "field", x: 60, isReleased: false)
            try host.wait("Count") { $0 != before }
            try page.browser.run("document.exitPointerLock()")
            try host.wait("Count", before)
            try page.browser.perform(.mouse([.moveBy(x: 30, y: 0, over: .milliseconds(50)), .release]))
            try page.wait("!row('Count').row.drag && field('Count') === given[0]", .string(before.text))
            #expect(host.value("Count") == before)
        }
    }

    /// The value of an expression that uses one of the page's modules.
    private func module(_ name: String, _ expression: String, _ page: PanelView) throws -> PageValue {
        try page.ask("import(document.querySelector(`link[href$='\(name)']`).href).then((module) => \(expression))")
    }

    /// A double holds only 53 bits.
    @Test func unsignedNumbersStayExact() throws {
        let registry = TweakRegistry()
        _ = Tweak("Kinds", "Basic", "Mask", UInt64.max - 2, registry: registry)
        _ = Tweak("Kinds", "Basic", "Upper", UInt64.max, in: (.max - 10)..., registry: registry)
        try PanelHost.visit(registry) { host, page in
            try page.wait("field('Mask') === '18446744073709551613' && field('Upper') === '18446744073709551615'")
            try page.press("Mask", "field", .up, sets: .unsigned(.max - 1))
            try page.wait("field('Mask') === '18446744073709551614'")
            for (text, value) in [
                ("18446744073709551615", UInt64.max), ("-=4", .max - 4), ("9223372036854775809", 1 << 63 + 1),
            ] {
                try page.type(text, over: "Mask", then: .enter, sets: .unsigned(value))
                try page.wait("field('Mask') === given[0]", .string("\(value)"))
            }
            try host.set("Mask", "18446744073709551612")
            try page.wait("field('Mask') === '18446744073709551612'")
            try page.press("Upper", "slider", .left, sets: .unsigned(.max - 1))
            try page.press("Upper", "slider", .home, sets: .unsigned(.max - 10))
            try page.wait("field('Upper') === '18446744073709551605'")
        }
    }

    /// A tweak, and steps: value, count, and result. They count from the lower bound, or else from the default, where a
    /// single step stops.
    static let grid: [(tweak: String, steps: [(value: String, count: Int, next: String)])] = [
        ("kind: 'number', step: 0.5, default: 0.25", [("1.25", 1, "1.75"), ("0.25", -1, "-0.25")]),
        ("kind: 'number', step: 0.5, default: 0.25, max: 3", [("0.25", 10, "3"), ("3", -1, "2.75")]),
        ("kind: 'number', step: 0.5, default: 11.7, min: 10", [("11.5", 1, "11.7"), ("11.7", 1, "12")]),
        ("kind: 'number', step: 0.5, default: 11.7, min: 10", [("12", -1, "11.7"), ("11.7", -1, "11.5")]),
        ("kind: 'number', step: 0.5, default: 11.7, min: 10", [("11.5", 10, "16.5")]),
        ("kind: 'int', step: 7, default: 3", [("10", 1, "17"), ("10", -10, "-60")]),
        ("kind: 'int', step: 4, default: 6, min: 0, max: 24", [("6", 1, "8"), ("8", -1, "6")]),
        ("kind: 'duration', step: '10ms', default: '5ms'", [("15ms", 1, "25ms")]),
        // Without a step, as in the editor of tweakctl: a round hundredth of the range, or of twice the value.
        ("kind: 'number', min: 10, max: 100", [("60", 1, "60.5")]),
        ("kind: 'number', min: 0, max: 1", [("1", -1, "0.99")]),
        ("kind: 'number', min: 0, max: 200", [("28", 1, "30")]),
        ("kind: 'number', min: 4, max: 120", [("16", 1, "17")]),
        ("kind: 'number'", [("60", 1, "61"), ("0", 1, "0.1"), ("-60", -10, "-70"), ("1", 1, "1.02")]),
        ("kind: 'int', min: 0, max: 24", [("8", 1, "9")]), ("kind: 'int'", [("800", 1, "801")]),
        ("kind: 'duration', min: '0s', max: '5s'", [("400ms", 1, "450ms")]),
        // On a logarithmic scale by the value, near 0 by a thousandth of the range.
        ("kind: 'number', min: 0, max: 10000, scale: 'logarithmic'", [("10", 1, "10.2"), ("0", 1, "0.2")]),
        ("kind: 'number', min: 0, max: 10000, scale: 'logarithmic'", [("5000", 1, "5100"), ("20", -10, "18")]),
        ("kind: 'int', min: -10000, max: 10000, scale: 'logarithmic'", [("10", 1, "11"), ("-5000", 1, "-4900")]),
        ("kind: 'duration', min: '0s', max: '24h', scale: 'logarithmic'", [("5m", 1, "5m5s"), ("0s", 1, "1s")]),
        ("kind: 'duration'", [("400ms", 1, "405ms"), ("0s", 1, "10ms"), ("3ns", 1, "4ns")]),
    ]

    @Test func stepsCountFromTheLowerBoundOrTheDefault() throws {
        try PanelHost.visit { _, page in
            for (tweak, steps) in Self.grid {
                for (value, count, next) in steps {
                    let call = "module.stepped({ \(tweak) }, module.gridOf({ \(tweak) }), '\(value)', \(count))"
                    let result = try module("/numbers/grid.js", call, page)
                    #expect(result == .string(next), "\(tweak) \(value) \(count)")
                }
            }
        }
    }

    /// The table of the tests of `TweakScale`: value, bounds, and the position on the logarithmic scale.
    static let scale: [[Double]] = [
        [1, 1, 1_000, 0], [10, 1, 1_000, 1 / 3], [1_000, 1, 1_000, 1], [0.01, 0.000_1, 1, 0.5], [60, 1, 3_600, 0.5],
        [-100, -1_000, -1, 1 / 3], [0, 0, 3_600, 0], [3.6, 0, 3_600, 0.100_328_82], [10, 0, 3_600, 0.192_384_30],
        [60, 0, 3_600, 0.415_658_06], [600, 0, 3_600, 0.741_374_97], [0, -1_000, 1_000, 0.5],
        [1, -1_000, 1_000, 0.550_164_41], [999, -1_000, 1_000, 0.999_927_66], [-1, -1_000, 0, 0.899_671_18],
        [5_000, 1, 1_000, 1], [-3, 0, 10, 0], [5, 5, 5, 0],
    ]

    @Test func logarithmicSlidersHaveTheScaleOfTweakScale() throws {
        let rows = PageValue.array(Self.scale.map { .array($0.map { .number($0) }) })
        try PanelHost.visit { _, page in
            let wrong = try page.ask(
                """
                import(document.querySelector(`link[href$='/numbers/scale.js']`).href)
                    .then(({ positionOf, valueAt }) => given[0].filter(([value, low, high, place]) =>
                        Math.abs(positionOf(value, low, high) - place) > 1e-8
                        || low < high && Math.abs(valueAt(place, low, high) - Math.min(high, Math.max(low, value)))
                            > (high - low) * 1e-7))
                """, rows)
            #expect(wrong == [])
            // Ten seconds on a slider of an hour: a pixel is a hundredth of the value, not twelve seconds.
            let timeout = "{ kind: 'duration', min: '0s', max: '1h', scale: 'logarithmic' }"
            let indices = "[0, 1, 192, 193, 500, 999, 1000]"
            let atIndex = "\(indices).map((index) => module.atIndex(\(timeout), module.gridOf(\(timeout)), index))"
            let stops = try module("/numbers/grid.js", atIndex, page)
            #expect(stops == ["0s", "25ms", "9.96s", "10.1s", "1m50s", "59m40s", "1h"])
            let index = "module.indexOf(\(timeout), module.gridOf(\(timeout)), '10s')"
            #expect(try module("/numbers/grid.js", index, page) == 192)
            // A declared step is kept.
            let even = "{ kind: 'int', min: 1, max: 100001, step: 2, scale: 'logarithmic' }"
            let odd = "[1, 300, 900].map((index) => Number(module.atIndex(\(even), module.gridOf(\(even)), index)) % 2)"
            #expect(try module("/numbers/grid.js", odd, page) == [1, 1, 1])
        }
    }
}
