// Tests the parts of a row beside its control: reset, temporary values, layers, favorites, badges, metrics.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct RowTests {
    @Test func aRowShowsThatItIsModifiedItsBadgesAndItsLayers() throws {
        try PanelHost.visit { host, page in
            #expect(try page.ask("row('Whole').hasAttribute('data-modified')") == false)
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.wait("row('Whole').textContent.includes('default 50')")
            try page.click("Whole", "reset", sets: .int(50))
            try page.wait("!row('Whole').hasAttribute('data-modified') && field('Whole') === '50'")
            try page.type("73", over: "Whole", then: .enter)
            try page.wait("isShown(part('Whole', 'reset'))")
            try page.press("Whole", "reset", .enter, sets: .int(50))
            try page.expect("row('Bool').textContent.includes('On or off')")
            #expect(try page.ask("row('Real').querySelector('.unit').textContent") == "pt")
            try page.wait("text('Other/Far/Workers', 'badge') !== ''")
            try page.type("5", over: "Other/Far/Workers", then: .enter)
            try page.wait("text('Other/Far/Workers', 'badge').includes('needs restart')")
            try host.set("Real", "72")
            try page.press("Real", "explain", .enter)
            try page.wait("row('Real').querySelectorAll('tbody tr').length >= 2")
            let text = try page.ask("row('Real').querySelector('[role=region]').textContent").string ?? ""
            for part in ["default", "60", "override", "72", "10…100", "step 0.5", "PageTweaks.swift"] {
                #expect(text.contains(part), "\(text)")
            }
            try host.set("Real", "73")
            try page.wait("row('Real').querySelector('table').textContent.includes('73')")
            try page.click("Real", "explain")
            try page.wait("!isShown(row('Real').querySelector('table'))")
        }
    }

    @Test(arguments: [1_280, 390]) func noRowMovesWhenValuesChange(_ width: Int) throws {
        let rows = "[...document.querySelectorAll('#list .row')]"
        let places = "\(rows).map((row) => Math.round(row.getBoundingClientRect().top + scrollY))"
        try PanelHost.visit(width: width) { host, page in
            try page.wait("\(rows).length > 15")
            try page.ask("globalThis.places = String(\(places))")
            for (name, text) in [("Bool", "on"), ("Text", "short"), ("Side", "right"), ("Real", "61"), ("Day", "sun")] {
                try host.set(name, text)
                try page.wait("row(given[0]).hasAttribute('data-modified')", .string(name))
            }
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified') && text('Whole', 'default') === 'default 50'")
            // Rows below are made as they come near the view.
            try page.expect("String(\(places)).startsWith(places)")
        }
    }

    @Test(arguments: [1_280, 800, 390]) func notificationsCoverNoRow(_ width: Int) throws {
        try PanelHost.visit(LargeRegistry.make(100), width: width, expecting: [PanelView.refused(409)]) { host, page in
            try host.set("\"Category 0/Group 0/Size 0\"", "17")
            try page.wait("!byID('undo').disabled")
            // The longest notification: it has a button, and stays.
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try page.waitUntilSaid("'s change: Size 0")
            let covered = try page.ask(
                """
                (() => {
                    const box = (element) => element.getBoundingClientRect();
                    const note = box(document.querySelector('.toast'));
                    return [...document.querySelectorAll('#list .row')].map(box).filter((row) => row.top < note.bottom
                        && row.bottom > note.top && row.left < note.right && row.right > note.left).length;
                })()
                """)
            #expect(covered == 0)
            try page.expect("document.querySelector('.toast').getBoundingClientRect().height > 20")
        }
    }

    /// A reply to a request from before the change arrives after it.
    @Test func anOutdatedExplanationIsIgnored() throws {
        try PanelHost.visit { host, page in
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.holdReplies(where: "path.startsWith('/api/explain')")
            try page.click("Whole", "reset")
            try page.wait("held === 1")
            try page.type("73", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.browser.run("window.isOpen = true")
            try page.wait("held === 2")
            try page.press("Whole", "reset", .enter, sets: .int(50))
        }
    }

    @Test func aTemporaryValueCountsDownAndCanBeMadePermanent() throws {
        try PanelHost.visit { host, page in
            try page.choose("for-10m", ofMenuOf: "Whole")
            try page.wait("text('Whole', 'badge').includes('10m')")
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            try page.wait("/temporary.*[0-9]/.test(text('Whole', 'badge'))")
            let left = try #require(host.registry["Kinds/Basic/Whole"]?.timeLeft)
            #expect(left > .seconds(540) && left <= .seconds(600))
            // By keys it is made permanent.
            try page.press("Whole", "for", .enter)
            for part in ["for-1m", "for-10m", "for-1h"] {
                try page.wait("document.activeElement.dataset.part === given[0]", .string(part))
                try page.keys(.down)
            }
            try page.wait("document.activeElement.dataset.part === 'keep'")
            try page.keys(.enter)
            try page.wait("!text('Whole', 'badge').includes('temporary')")
            #expect(host.registry["Kinds/Basic/Whole"]?.timeLeft == nil)
            #expect(host.value("Whole") == .int(72))
        }
    }

    /// Holds events back while `isHeld`, and explanations forever, which contain the duration, too.
    private static let holdingEvents: PageValue = """
        const send = fetch;
        window.fetch = async (...all) => {
            if (String(all[0]).startsWith('/api/explain')) return new Promise(() => {});
            const response = await send(...all);
            if (!String(all[0]).startsWith('/api/events')) return response;
            return new Response(response.body.pipeThrough(new TransformStream({
                async transform(part, events) {
                    while (window.isHeld) await new Promise((go) => setTimeout(go, 5));
                    events.enqueue(part);
                }
            })), response);
        };
        """

    /// The event of a change, which may come after the reply, has no duration.
    @Test func anEventAfterTheReplyKeepsTheDuration() throws {
        try PanelHost.visit { host, page in
            try page.browser.command("Page.addScriptToEvaluateOnNewDocument", ["source": Self.holdingEvents])
            try page.browser.reload()
            try page.waitUntilConnected()
            try page.browser.run("window.isHeld = true")
            try page.choose("for-10m", ofMenuOf: "Whole")
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').row.tweak.until != null")
            try page.browser.run("window.isHeld = false")
            try host.set("Text", "later")
            try page.wait("field('Text') === 'later'")
            try page.expect("row('Whole').row.tweak.until != null")
        }
    }

    @Test func theTemporaryModeCanBeCanceled() throws {
        let arm = { (page: PanelView) in
            try page.choose("for-10m", ofMenuOf: "Whole")
            try page.wait("text('Whole', 'badge').includes('10m') && part('Whole', 'for').ariaPressed === 'true'")
        }
        let isOff = "text('Whole', 'badge') === '' && part('Whole', 'for').ariaPressed == null"
        try PanelHost.visit { host, page in
            let revision = host.registry.revision
            try arm(page)
            #expect(try page.ask("getComputedStyle(row('Whole')).boxShadow !== 'none'") == true)
            try page.browser.attach("panel-for-a-while")
            try page.click("Whole", "for")
            try page.wait(isOff)
            #expect(try page.ask("isShown(byID('menu'))") == false)
            try arm(page)
            try page.keys(.escape)
            try page.wait(isOff)
            // The first Escape only discards the typed text.
            try arm(page)
            try page.type("7", over: "Whole", then: .escape)
            try page.wait("field('Whole') === '50' && part('Whole', 'for').ariaPressed === 'true'")
            try page.keys(.escape)
            try page.wait(isOff)
            #expect(host.registry.revision == revision)
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            #expect(host.registry["Kinds/Basic/Whole"]?.timeLeft == nil)
        }
    }

    @Test func theTemporaryModeAppliesToAllChangesUntilAReset() throws {
        try PanelHost.visit { host, page in
            let whole = host.registry["Kinds/Basic/Whole"]
            try page.choose("for-1h", ofMenuOf: "Whole")
            try page.press("Whole", "slider", .right, sets: .int(51))
            try page.type("+=9", over: "Whole", then: .enter, sets: .int(60))
            #expect(whole?.timeLeft != nil)
            try page.wait("/temporary.*[0-9]/.test(text('Whole', 'badge'))")
            // A reset ends the mode.
            try page.click("Whole", "reset", sets: .int(50))
            try page.wait("text('Whole', 'badge') === ''")
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            #expect(whole?.timeLeft == nil)
        }
    }

    @Test func aPageThatIsOpenedLaterShowsThatARestartIsNeeded() throws {
        let registry = PageTweaks().registry
        _ = Tweak("Other", "Far", "Threads", 4, in: 1...64, flags: .needsRestart, registry: registry)
        // Set before the server starts, so it is in effect.
        try registry["Other/Far/Threads"]?.set(.int(8))
        let host = try PanelHost(registry)
        try host.visit { page in
            try page.wait("text('Other/Far/Workers', 'badge') === 'applies after restart'")
            // Times are reported in whole seconds.
            try page.wait("(await (await asPage('/api/stats')).json()).uptimeSeconds >= 8")
        }
        try host.set("Other/Far/Workers", "9")
        try host.visit { page in
            try page.wait("text('Other/Far/Workers', 'badge') === 'needs restart'")
            let isRequested = "({ name }) => name.endsWith('path=Other%2FFar%2FThreads')"
            try page.wait("performance.getEntriesByType('resource').some(\(isRequested))")
            #expect(try page.ask("text('Other/Far/Threads', 'badge')") == "applies after restart")
        }
    }

    @Test func temporaryValuesOfOthersEndInThePage() throws {
        try PanelHost.visit { host, page in
            let client = try host.connect()
            #expect(try client.ask("set Kinds/Basic/Whole 72 for 1h").last?.hasPrefix("ok") == true)
            try page.wait("field('Whole') === '72' && text('Whole', 'badge').includes('temporary')")
            #expect(try client.ask("set Kinds/Basic/Whole 73 for 1ms").last?.hasPrefix("ok") == true)
            try page.wait("field('Whole') === '50' && text('Whole', 'badge') === ''")
        }
    }

    @Test func favoritesStayInTheBrowser() throws {
        try PanelHost.visit { _, page in
            try page.click("Day", "star")
            try page.press("Other/Far/Distance", "star", .space)
            try page.browser.run("location.hash = '#?favorites'")
            try page.wait("String(listed()) === 'Kinds/Basic/Day,Other/Far/Distance'")
            try page.browser.reload()
            try page.wait("String(listed()) === 'Kinds/Basic/Day,Other/Far/Distance'")
            try page.click("Day", "star")
            try page.wait("part('Day', 'star').ariaPressed === 'false'")
        }
    }

    @Test func metricsUpdateAndDrawALine() throws {
        let (tweaks, frames) = (PageTweaks(), "row('Kinds/Status/Frames')")
        try PanelHost.visit(tweaks.registry) { _, page in
            try page.wait("\(frames) != null")
            for figure in [12.5, 60, 59.94] {
                try tweaks.frames.set(figure)
                let text = PageValue.string("\(figure)".replacing(".0", with: ""))
                try page.wait("text('Kinds/Status/Frames', 'value').startsWith(given[0])", text)
            }
            // The line of the last minute, which ends with the current value, once it is in view.
            _ = try page.part("Kinds/Status/Frames", "sparkline")
            try page.wait("\(frames).querySelector('.spark path').getAttribute('d')?.startsWith('M')")
            #expect(try page.ask("\(frames).querySelectorAll('input').length") == 0)
        }
    }
}
