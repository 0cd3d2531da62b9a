// Tests figures over time in the page: the line of a row, the chart below it, and the own changes in it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct FigurePageTests {
    private static let frames = "Kinds/Status/Frames"

    /// Replies to requests for samples in place of the process; `asked` has their queries. The samples are of every
    /// `period` seconds, `count` of them that end a moment ago, without those in the middle.
    private func replaceSamples(_ page: PanelView, count: Int = 40, values: String = "second % 10") throws {
        try page.browser.run(
            """
            const send = fetch;
            window.asked = [];
            window.fetch = async (...all) => {
                const query = /^.api.figures\\?(.*)/.exec(all[0])?.[1];
                if (!query) return send(...all);
                window.asked.push(query);
                const period = Number(/seconds=(\\d+)/.exec(query)[1]) > 300 ? 6 : 1;
                // The clock of the process is an hour ahead.
                const now = Date.now() + 3600000;
                const samples = [];
                for (let second = \(count); second > 0; second--) {
                    if (second > \(count) * .4 && second < \(count) * .6) continue;
                    const value = \(values);
                    const sample = { time: new Date(now - 1000 * period * second).toISOString(), value };
                    samples.push(period === 6 ? { ...sample, min: value - 1, max: value + 1 } : sample);
                }
                const reply = { ok: true, period, now: new Date(now).toISOString(), samples };
                return new Response(JSON.stringify(reply), { status: 200 });
            };
            """)
    }

    /// Opens the chart of a figure.
    private func open(_ page: PanelView, _ name: String = frames) throws {
        try page.click(name, "sparkline")
        try page.wait("part(given[0], 'chart') != null", .string(name))
    }

    private static let curve = "row('\(frames)').querySelector('.curve').getAttribute('d')"

    @Test func aClickOpensAChartWithTheGapsOfThePast() throws {
        try PanelHost.visit(PageTweaks().registry) { _, page in
            try page.wait("row(given[0]) != null", .string(Self.frames))
            try replaceSamples(page)
            try open(page)
            try page.expect("part('\(Self.frames)', 'sparkline').ariaExpanded === 'true'")
            // Two parts, of which the second one continues to the current value.
            try page.wait("\(Self.curve).split('M').length === 3")
            // The row itself may have asked for its last minute.
            let asked = "asked.filter((query) => !query.endsWith('=60')).join(' ')"
            let path = "path=Kinds%2FStatus%2FFrames&seconds="
            try page.expect("\(asked) === '\(path)300'")
            try page.expect("part('\(Self.frames)', 'plot').offsetHeight === 140")
            let labels = try page.ask(
                "[...row('\(Self.frames)').querySelectorAll('text')].map((one) => one.textContent)")
            #expect(labels == ["9", "4.5", "0", "now", "−1 min", "−2 min", "−3 min", "−4 min", "−5 min"], "\(labels)")
            // Five minutes are there already, and one is a part of them.
            try page.click(Self.frames, "time-60")
            try page.wait("part('\(Self.frames)', 'time-60').ariaPressed === 'true'")
            try page.click(Self.frames, "time-1800")
            try page.wait("\(asked) === '\(path)300 \(path)1800'")
            // The extremes of six seconds are a band.
            try page.wait("row('\(Self.frames)').querySelector('.band').getAttribute('d').split('Z').length === 3")
            try page.click(Self.frames, "sparkline")
            try page.wait("part('\(Self.frames)', 'chart') == null")
            try page.expect("part('\(Self.frames)', 'sparkline').ariaExpanded === 'false'")
        }
    }

    @Test func theKeyboardOpensTheChartAndReadsItsValues() throws {
        try PanelHost.visit(PageTweaks().registry) { _, page in
            try page.wait("row(given[0]) != null", .string(Self.frames))
            try replaceSamples(page, count: 10, values: "100 + second")
            try page.press(Self.frames, "sparkline", .enter)
            try page.wait("\(Self.curve).split('L').length > 7")
            let text = "part('\(Self.frames)', 'plot').ariaValueText"
            try page.press(Self.frames, "plot", .home)
            try page.wait("\(text).endsWith(' · 110 fps')")
            try page.keys(.right)
            try page.wait("\(text).endsWith(' · 109 fps')")
            try page.keys(.left)
            try page.wait("\(text).endsWith(' · 110 fps')")
            try page.expect("text('\(Self.frames)', 'readout') === \(text)")
            try page.keys(.end)
            try page.wait("\(text).endsWith(' · 0 fps')")
            try page.keys(.escape)
            try page.wait("document.activeElement === part('\(Self.frames)', 'sparkline')")
            try page.expect("part('\(Self.frames)', 'chart') == null")
        }
    }

    /// Cause beside effect: what this window has changed, and not what others have.
    @Test func ownChangesAreTicks() throws {
        try PanelHost.visit(PageTweaks().registry) { host, page in
            try open(page)
            try page.type("60", over: "Whole", then: .enter, sets: .int(60))
            let titles = "[...document.querySelectorAll('[data-part=own] title')].map((title) => title.textContent)"
            try page.wait("String(\(titles)) === 'Whole 50 → 60'")
            try host.set("Other/Far/Distance", "8")
            try page.type("1.5", over: "Free", then: .enter, sets: .number(1.5))
            try page.wait("String(\(titles)) === 'Whole 50 → 60,Free 1 → 1.5'")
            // The newest value is near them.
            try page.press(Self.frames, "plot", .end)
            try page.wait("text('\(Self.frames)', 'readout').includes('Whole 50 → 60')")
            try page.attachPictures("figure")
        }
    }

    @Test func undoIsATickAndADragIsOne() throws {
        try PanelHost.visit(PageTweaks().registry) { host, page in
            try open(page)
            try page.drag("Whole", x: 40)
            let titles = "[...document.querySelectorAll('[data-part=own] title')].map((title) => title.textContent)"
            try page.wait("/^Whole 50 → \\d+$/.test(String(\(titles)))")
            try page.step("undo", sets: "Whole", to: .int(50))
            try page.wait("/^Whole 50 → (\\d+),Whole \\1 → 50$/.test(String(\(titles)))")
        }
    }

    @Test func theDeclaredRangeIsTheScale() throws {
        let registry = PageTweaks().registry
        _ = Tweak("Kinds", "Status", "Load", 20.0, in: 0...100, unit: "%", flags: .readOnly, registry: registry)
        _ = Tweak("Kinds", "Status", "Lag", Duration.milliseconds(12), flags: .readOnly, registry: registry)
        try PanelHost.visit(registry) { _, page in
            let labels = "[...row(given[0]).querySelectorAll('text')].slice(0, 3).map((one) => one.textContent)"
            try open(page, "Kinds/Status/Load")
            try page.wait("String(\(labels)) === '100,50,0'", "Kinds/Status/Load")
            try open(page, "Kinds/Status/Lag")
            try page.wait("String(\(labels)) === '13.2ms,12ms,10.8ms'", "Kinds/Status/Lag")
        }
    }

    /// The process has them while a page is open: they are there in the next one.
    @Test func theProcessKeepsTheSamplesOfAFigure() throws {
        let tweaks = PageTweaks()
        try PanelHost.visit(tweaks.registry) { _, page in
            try page.wait("row(given[0]) != null", .string(Self.frames))
            let path = "/api/figures?path=Kinds/Status/Frames&seconds=60"
            let samples = "(await (await asPage('\(path)')).json()).samples"
            try page.wait("\(samples).length > 0 && \(samples)[0].value === 0")
        }
    }

    /// Figures are only looked at: no right to change them is needed.
    @Test func aReaderOpensTheChart() throws {
        let reader = PanelHost.User(name: "reader", scopes: ["read"])
        try PanelHost.visit(PageTweaks().registry, as: reader) { _, page in
            try open(page)
            try page.expect("!part('\(Self.frames)', 'sparkline').disabled")
        }
    }
}
