// Measures how fast the page is; the results are printed and attached, and never fail a test.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@Suite(
    .browsing, .tags(.browser, .quantity), .needsBrowser, .serialized,
    .enabled(if: isQuantityFull, "measurements only: TWEAKS_TEST_QUANTITY=full"))
struct PagePerformanceTests {
    /// Prints and attaches a result.
    private func report(_ line: String) {
        print("figures: \(line)")
        Attachment.record(
            Array("\(line)\n".utf8), named: "figures-\(line.prefix { $0 != ":" }).txt".replacing(" ", with: "-"))
    }

    /// The median, the 99th percentile, and the maximum.
    private func spread(_ samples: [Double]) -> String {
        let sorted = samples.sorted()
        guard let last = sorted.last else { return "none" }
        let at = { (part: Double) in sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
        return String(format: "p50 %.1f ms, p99 %.1f ms, worst %.1f ms of %d", at(0.5), at(0.99), last, sorted.count)
    }

    @Test(arguments: [500, 5_000]) func measuresOpeningAndSearching(_ count: Int) throws {
        try PanelHost.visit(LargeRegistry.make(count)) { host, page in
            var (paints, shown) = ([Double](), [Double]())
            for _ in 0..<5 {
                for address in ["about:blank", host.origin + "/"] { try page.browser.open(address) }
                try page.wait("performance.getEntriesByName('tweaks-shown').length === 1")
                try page.wait("performance.getEntriesByType('paint').length > 0")
                paints.append(try page.ask("performance.getEntriesByType('paint')[0].startTime").number ?? 0)
                shown.append(try page.ask("performance.getEntriesByName('tweaks-shown')[0].startTime").number ?? 0)
            }
            report("first paint of \(count): \(spread(paints))")
            report("tweaks shown of \(count): \(spread(shown))")
            let size = try page.ask("performance.getEntriesByType('navigation')[0].transferSize").number ?? 0
            let data = try page.ask("(await (await asPage('/api/tweaks')).text()).length").number ?? 0
            report("bytes of the page with \(count): \(Int(size)), and \(Int(data)) of the listing")
            let times = try search(page)
            let (whole, reply) = (spread(times.map(\.whole)), spread(times.map(\.reply)))
            report("search of \(count): \(whole); the reply alone: \(reply)")
        }
    }

    /// - Returns: Milliseconds from a key to the painted list, and until the server's reply.
    private func search(_ page: PanelView) throws -> [(whole: Double, reply: Double)] {
        let times = try page.browser.run(
            """
            const search = document.getElementById('search'), list = document.getElementById('list'), times = [];
            for (const word of ['size 49', 'title', 'tint 3', 'scale 12'])
                for (let end = 1; end <= word.length; end++) {
                    const query = word.slice(0, end).trim();
                    if (search.value.trim() === query) continue;
                    const start = performance.now();
                    search.value = query;
                    const drawn = new Promise((resolve) => new MutationObserver((_, observer) => {
                        observer.disconnect();
                        resolve();
                    }).observe(list, { childList: true }));
                    search.dispatchEvent(new InputEvent('input', { bubbles: true }));
                    await drawn;
                    list.offsetHeight;
                    const shown = performance.now();
                    times.push([shown - start, performance.getEntriesByType('resource').at(-1).responseEnd - start]);
                }
            return times;
            """)
        return times.array?.map { ($0[0].number ?? 0, $0[1].number ?? 0) } ?? []
    }

    @Test(arguments: [500, 5_000]) func measuresAChangeFromASocketToThePage(_ count: Int) throws {
        try PanelHost.visit(LargeRegistry.make(count), at: "/Category%200/Group%200/Size%200") { host, page in
            let client = try host.connect()
            try page.wait("document.activeElement?.dataset.path === 'Category 0/Group 0/Size 0'")
            try page.ask(
                """
                (globalThis.seen = [], new MutationObserver(() => seen.push(performance.timeOrigin + performance.now()))
                    .observe(part('Category 0/Group 0/Size 0', 'slider'), { attributeFilter: ['aria-valuetext'] }), 1)
                """)
            var starts: [Double] = []
            for round in 0..<150 {
                starts.append(Date().timeIntervalSince1970 * 1_000)
                _ = try client.ask("set \"Category 0/Group 0/Size 0\" \(round % 2 == 0 ? 30 : 70)")
                try page.wait("seen.length === \(round + 1)")
            }
            let ends = try page.ask("seen").array?.compactMap(\.number) ?? []
            report("set by nc to the page of \(count): \(spread(zip(starts, ends).map { $1 - $0 }))")
        }
    }

    @Test func measuresAChangeFromThePageToTheProcess() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Kinds", "Basic", "Bool", false, registry: registry)
        let times = Mutex<[Double]>([])
        let observation = tweak.observe { _ in
            let now = Date().timeIntervalSince1970 * 1_000
            times.withLock { $0.append(now) }
        }
        defer { observation.cancel() }
        try PanelHost.visit(registry) { host, page in
            let observed = times.withLock { $0.count }
            var starts: [Double] = []
            for round in 0..<150 {
                let start = try page.ask("[performance.timeOrigin + performance.now(), part('Bool', 'switch').click()]")
                starts.append(start[0].number ?? 0)
                try host.wait("Bool", .bool(round % 2 == 0))
                try page.wait("text('Bool', 'error') === ''")
            }
            let ends = times.withLock { Array($0.dropFirst(observed)) }
            report("set by the page to an observer: \(spread(zip(starts, ends).map { $1 - $0 }))")
        }
    }

    /// From the frame that draws a value under the pointer to the frame that draws it in a window of another browser.
    @Test(arguments: [16, 500, 5_000]) func measuresADragToAnotherWindow(_ count: Int) throws {
        let (name, place) = ("Category 0/Group 0/Size 0", "/Category%200/Group%200/Size%200")
        try PanelHost.visit(LargeRegistry.make(count), at: place) { host, page in
            let other = PanelView(host: host, browser: try Browser())
            try other.browser.open(host.link(PanelHost.owner, place))
            for view in [page, other] {
                try view.waitUntilConnected()
                try view.wait("part(given[0], 'slider') != null && !document.hidden", .string(name))
                try view.ask(
                    """
                    (globalThis.seen = [], new MutationObserver(([{ target }]) =>
                        seen.push([target.ariaValueText, performance.timeOrigin + performance.now()]))
                        .observe(part(given[0], 'slider'), { attributeFilter: ['aria-valuetext'] }), 1)
                    """, .string(name))
            }
            let moves = [120, -120, 120].map { PointerStep.moveBy(x: $0, y: 0, over: .milliseconds(800)) }
            try page.browser.perform(
                .mouse([.move(to: try page.part(name, "slider"), x: -60), .press] + moves + [.release]))
            let last = try page.ask("part(given[0], 'slider').ariaValueText", .string(name))
            try other.wait("part(given[0], 'slider').ariaValueText === given[1]", .string(name), last)
            let drawn = try [page, other].map { view in
                try view.ask("seen").array?.map { (text: $0[0], time: $0[1].number ?? 0) } ?? []
            }
            let delays = drawn[1].compactMap { seen in
                drawn[0].last { $0.text == seen.text && $0.time <= seen.time }.map { seen.time - $0.time }
            }
            report(
                "a drag to another window of \(count): \(spread(delays)), for \(drawn[0].count) values, of which the "
                    + "other drew \(drawn[1].count)")
        }
    }

    @Test(arguments: [16, 500]) func measuresDragging(_ count: Int) throws {
        try PanelHost.visit(LargeRegistry.make(count), at: "/Category%200/Group%200/Size%200") { _, page in
            try page.wait("document.activeElement?.dataset.path === 'Category 0/Group 0/Size 0'")
            try page.ask(
                """
                (globalThis.frames = [], globalThis.sent = 0, globalThis.isDown = false,
                    addEventListener('pointerdown', () => { isDown = true; }),
                    addEventListener('pointerup', () => { isDown = false; }),
                    new PerformanceObserver((list) => {
                        sent += list.getEntries().filter(({ name }) => name.endsWith('/api/tweaks')).length;
                    }).observe({ type: 'resource' }),
                    requestAnimationFrame(function frame(time) {
                        if (isDown) frames.push(time);
                        requestAnimationFrame(frame);
                    }), 1)
                """)
            let slider = try page.part("Category 0/Group 0/Size 0", "slider")
            let step = Duration.milliseconds(800)
            let moves = [120, -120, 120].map { PointerStep.moveBy(x: $0, y: 0, over: step) }
            try page.browser.perform(.mouse([.move(to: slider, x: -60), .press] + moves + [.release]))
            let frames = try page.ask("frames").array?.compactMap(\.number) ?? []
            let gaps = zip(frames, frames.dropFirst()).map { $1 - $0 }
            let seconds = ((frames.last ?? 0) - (frames.first ?? 0)) / 1_000
            let rate = Double(gaps.count) / max(seconds, 0.001)
            report(
                String(format: "a drag among %d: %.1f frames a second for %.1f s, ", count, rate, seconds)
                    + "gaps \(spread(gaps)), \(try page.ask("sent").number ?? 0) requests")
        }
    }
}
