// What a row says and does beside its control: reset, a while, layers, favourites, badges, figures.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct RowTests {
    @Test func aModifiedOneIsMarkedAndResets() throws {
        let host = try PanelHost()
        try host.visit { page in
            #expect(try page.ask("row('Whole').hasAttribute('data-modified')") == false)
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.wait("row('Whole').textContent.includes('default 50')")
            try page.click("Whole", "reset")
            try host.wait("Whole", .int(50))
            try page.wait("!row('Whole').hasAttribute('data-modified') && field('Whole') === '50'")
            try page.type("73", over: "Whole", then: .enter)
            try page.wait("isShown(part('Whole', 'reset'))")
            try page.press("Whole", "reset", .enter)
            try host.wait("Whole", .int(50))
        }
    }

    /// Nothing moves under the pointer when values are changed, here or elsewhere.
    @Test(arguments: [1_280, 390]) func noRowMoves(_ width: Int) throws {
        let host = try PanelHost()
        let places =
            "[...document.querySelectorAll('#list .row')].map((row) => Math.round(row.getBoundingClientRect().top + scrollY))"
        try host.visit(width: width) { page in
            try page.wait("document.querySelectorAll('#list .row').length > 15")
            try page.ask("globalThis.places = String(\(places))")
            for (name, text) in [("Bool", "on"), ("Text", "short"), ("Side", "right"), ("Real", "61"), ("Day", "sun")] {
                try host.set(name, text)
                try page.wait("row(given[0]).hasAttribute('data-modified')", .string(name))
            }
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified') && text('Whole', 'default') === 'default 50'")
            // Rows below are made as they come near the view.
            #expect(try page.ask("String(\(places)).startsWith(places)") == true)
        }
    }

    /// Short notes stand where no row is.
    @Test(arguments: [1_280, 800, 390]) func notesCoverNoRow(_ width: Int) throws {
        let host = try PanelHost(CrowdedRegistry.make(100))
        try host.visit(width: width, expecting: [PanelView.refused(409)]) { page in
            try host.set("\"Category 0/Group 0/Size 0\"", "17")
            try page.wait("!document.getElementById('undo').disabled")
            // The longest one: it offers something, and stays.
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
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
            #expect(try page.ask("document.querySelector('.toast').getBoundingClientRect().height > 20") == true)
        }
    }

    /// What the page asked before a change, and hears after it, says nothing of it: the button to reset stays.
    @Test func anOlderExplanationIsNotTaken() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.browser.run(
                """
                const send = fetch;
                window.explanations = 0;
                window.fetch = async (...all) => {
                    const response = await send(...all);
                    if (!String(all[0]).startsWith('/api/explain')) return response;
                    window.explanations += 1;
                    while (!window.isOpen) await new Promise((go) => setTimeout(go, 5));
                    return response;
                };
                """)
            try page.click("Whole", "reset")
            try page.wait("window.explanations === 1")
            try page.type("73", over: "Whole", then: .enter)
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.browser.run("window.isOpen = true")
            try page.wait("window.explanations === 2")
            try page.press("Whole", "reset", .enter)
            try host.wait("Whole", .int(50))
        }
    }

    @Test func rowsSayWhatTheyAre() throws {
        let host = try PanelHost()
        try host.visit { page in
            #expect(try page.ask("row('Bool').textContent.includes('On or off')") == true)
            #expect(try page.ask("row('Real').querySelector('.unit').textContent") == "pt")
            try page.wait("text('Other/Far/Workers', 'badge') !== ''")
            try page.type("5", over: "Other/Far/Workers", then: .enter)
            try page.wait("text('Other/Far/Workers', 'badge').includes('needs restart')")
        }
    }

    /// A change for a while ends by itself; the badge counts.
    @Test func forAWhile() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.click("Whole", "for")
            try page.wait("isShown(document.getElementById('menu'))")
            try page.browser.element("#menu [data-part=for-10m]").click()
            try page.wait("text('Whole', 'badge').includes('10m')")
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            try page.wait("/temporary.*[0-9]/.test(text('Whole', 'badge'))")
            let left = try #require(host.registry["Kinds/Basic/Whole"]?.timeLeft)
            #expect(left > .seconds(540) && left <= .seconds(600))
            // It may stay, after all; by keys.
            try page.press("Whole", "for", .enter)
            for part in ["for-1m", "for-10m", "for-1h"] {
                try page.wait("document.activeElement.dataset.part === given[0]", .string(part))
                try page.browser.perform(.keys(.down))
            }
            try page.wait("document.activeElement.dataset.part === 'keep'")
            try page.browser.perform(.keys(.enter))
            try page.wait("!text('Whole', 'badge').includes('temporary')")
            #expect(host.registry["Kinds/Basic/Whole"]?.timeLeft == nil)
            #expect(host.value("Whole") == .int(72))
        }
    }

    /// The event of a change, which may come behind the answer, does not say how long it lasts, and does not end that.
    @Test func forAWhileAnEventBehindItsAnswer() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.command(
                "Page.addScriptToEvaluateOnNewDocument",
                [
                    "source": """
                    const send = fetch;
                    window.fetch = async (...all) => {
                        // What else could say it.
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
                ])
            try page.browser.reload()
            try page.waitUntilConnected()
            try page.browser.run("window.isHeld = true")
            try page.click("Whole", "for")
            try page.browser.element("#menu [data-part=for-10m]").click()
            try page.type("72", over: "Whole", then: .enter)
            try page.wait("row('Whole').row.tweak.until != null")
            try page.browser.run("window.isHeld = false")
            try host.set("Text", "later")
            try page.wait("field('Text') === 'later'")
            #expect(try page.ask("row('Whole').row.tweak.until != null") == true)
        }
    }

    /// That the next change is for a while is plain to see; Escape or a second click ends it, and nothing has changed.
    @Test func forAWhileCanBeCalledOff() throws {
        let host = try PanelHost()
        let arm = { (page: PanelView) in
            try page.click("Whole", "for")
            try page.wait("isShown(document.getElementById('menu'))")
            try page.browser.element("#menu [data-part=for-10m]").click()
            try page.wait("text('Whole', 'badge').includes('10m') && part('Whole', 'for').ariaPressed === 'true'")
        }
        let isOff = "text('Whole', 'badge') === '' && part('Whole', 'for').ariaPressed == null"
        try host.visit { page in
            let revision = host.registry.revision
            try arm(page)
            #expect(try page.ask("getComputedStyle(row('Whole').querySelector('.control')).outlineStyle") == "dashed")
            try page.browser.attach("panel-for-a-while")
            try page.click("Whole", "for")
            try page.wait(isOff)
            #expect(try page.ask("isShown(document.getElementById('menu'))") == false)
            try arm(page)
            try page.browser.perform(.keys(.escape))
            try page.wait(isOff)
            // What is typed goes first.
            try arm(page)
            try page.type("7", over: "Whole", then: .escape)
            try page.wait("field('Whole') === '50' && part('Whole', 'for').ariaPressed === 'true'")
            try page.browser.perform(.keys(.escape))
            try page.wait(isOff)
            #expect(host.registry.revision == revision)
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            #expect(host.registry["Kinds/Basic/Whole"]?.timeLeft == nil)
        }
    }

    /// All changes last so long then, however they are made, until the time is over.
    @Test func forAWhileGoesOn() throws {
        let host = try PanelHost()
        let whole = host.registry["Kinds/Basic/Whole"]
        try host.visit { page in
            try page.click("Whole", "for")
            try page.browser.element("#menu [data-part=for-1h]").click()
            try page.press("Whole", "slider", .right)
            try host.wait("Whole", .int(51))
            try page.type("+=9", over: "Whole", then: .enter)
            try host.wait("Whole", .int(60))
            #expect(whole?.timeLeft != nil)
            try page.wait("/temporary.*[0-9]/.test(text('Whole', 'badge'))")
            // Back at its default, it is as it was before.
            try page.click("Whole", "reset")
            try host.wait("Whole", .int(50))
            try page.wait("text('Whole', 'badge') === ''")
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            #expect(whole?.timeLeft == nil)
        }
    }

    /// Who opens the page later sees that a restart is due, though nobody told it of the change.
    @Test func aRestartIsDue() throws {
        let registry = PageTweaks().registry
        _ = Tweak("Other", "Far", "Threads", 4, in: 1...64, flags: .needsRestart, registry: registry)
        // Set before the server starts: that is what it runs with.
        try registry["Other/Far/Threads"]?.set(.int(8))
        let host = try PanelHost(registry)
        try host.visit { page in
            try page.wait("text('Other/Far/Workers', 'badge') === 'applies after restart'")
            // Times are told in whole seconds.
            try page.wait("(await (await asPage('/api/stats')).json()).uptimeSeconds >= 3")
        }
        try host.set("Other/Far/Workers", "9")
        try host.visit { page in
            try page.wait("text('Other/Far/Workers', 'badge') === 'needs restart'")
            try page.wait(
                "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('path=Other%2FFar%2FThreads'))"
            )
            #expect(try page.ask("text('Other/Far/Threads', 'badge')") == "applies after restart")
        }
    }

    /// A temporary value that somebody else has set ends in the page, too.
    @Test func temporaryOnesEnd() throws {
        let host = try PanelHost()
        try host.visit { page in
            let reply = try host.connect().ask("set Kinds/Basic/Whole 72 for 2s")
            #expect(reply.last?.hasPrefix("ok") == true, "\(reply)")
            try page.wait("field('Whole') === '72' && text('Whole', 'badge').includes('temporary')")
            try page.wait("field('Whole') === '50' && text('Whole', 'badge') === ''")
        }
    }

    @Test func layersUnfold() throws {
        let host = try PanelHost()
        try host.visit { page in
            try host.set("Real", "72")
            try page.press("Real", "explain", .enter)
            try page.wait("row('Real').querySelectorAll('tbody tr').length >= 2")
            let text = try page.ask("row('Real').querySelector('[role=region]').textContent").string ?? ""
            for part in ["default", "60", "override", "72", "10…100", "step 0.5", "PageTweaks.swift"] {
                #expect(text.contains(part), "\(text)")
            }
            // It follows.
            try host.set("Real", "73")
            try page.wait("row('Real').querySelector('table').textContent.includes('73')")
            try page.click("Real", "explain")
            try page.wait("!isShown(row('Real').querySelector('table'))")
        }
    }

    @Test func favouritesStayInTheBrowser() throws {
        let host = try PanelHost()
        try host.visit { page in
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

    @Test func figuresMove() throws {
        let tweaks = PageTweaks()
        let host = try PanelHost(tweaks.registry)
        try host.visit { page in
            try page.wait("row('Kinds/Status/Frames') != null")
            for figure in [12.5, 60, 59.94] {
                try tweaks.frames.set(figure)
                try page.wait(
                    "text('Kinds/Status/Frames', 'value').startsWith(given[0])",
                    .string("\(figure)".replacing(".0", with: "")))
            }
            #expect(
                try page.ask(
                    "row('Kinds/Status/Frames').querySelector('polyline').getAttribute('points').split(' ').length")
                    == 4)
            #expect(try page.ask("row('Kinds/Status/Frames').querySelectorAll('input').length") == 0)
        }
    }
}
