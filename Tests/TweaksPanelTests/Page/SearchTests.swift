// Finding one's way: search as `find` ranks it, what is modified, addresses, and what is folded.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SearchTests {
    /// One after the other, in one page.
    @Test func searchIsRankedAsFind() throws {
        let host = try PanelHost()
        try host.visit { page in
            for words in ["a", "far", "kinds whole", "how", "wrkrs", "nothing of that"] {
                let lines = try host.connect().ask("find \(words)").dropLast()
                let found = lines.compactMap { line in line.split(separator: " ").first.map { String($0) } }
                try search(words, found.map { .string($0) }, page)
            }
        }
    }

    private func search(_ words: String, _ found: [PageValue], _ page: PanelView) throws {
        try page.type(words, over: page.element("search"))
        try page.wait(
            "location.hash === '#?q=' + encodeURIComponent(given[0]) && document.querySelector('#list h2')?.textContent.includes(given[0])",
            .string(words))
        // Rows are made as they come into view.
        try page.wait("JSON.stringify(listed()) === JSON.stringify(given[0])", .array(found))
        if let first = found.first {
            // On to the first of them.
            try page.browser.perform(.keys(.down))
            try page.wait("document.activeElement.dataset.path === given[0]", first)
            try page.browser.perform(.keyboard([.character("/")]))
        }
        try page.wait("document.activeElement.id === 'search'")
        try page.browser.perform(.keys(.escape))
        try page.wait("listed().length > 10 && document.getElementById('search').value === ''")
    }

    /// From far down the list, the best results are in view at once; who leaves them is back at the same row.
    @Test func resultsBeginAtTheTop() throws {
        let host = try PanelHost(CrowdedRegistry.make(500))
        let top = "Math.round(row('Category 0/Group 11/Scale 279').getBoundingClientRect().top)"
        try host.visit { page in
            try page.wait("(scrollTo(0, 5000), row('Category 0/Group 11/Scale 279') != null)")
            // What lies above is measured when it comes near the view, which moves the row, a frame at a time.
            try page.wait(
                """
                (row('Category 0/Group 11/Scale 279').scrollIntoView({ block: 'center' }), globalThis.place = \(top),
                    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
                        requestAnimationFrame(done)))),
                    place === \(top) && place > 100 && scrollY > 2000)
                """)
            try page.type("tint", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('“tint”')")
            #expect(try page.ask("scrollY") == 0)
            try page.browser.perform(.keys(.escape))
            try page.wait("row('Category 0/Group 11/Scale 279') != null && Math.abs(\(top) - place) <= 1")
        }
    }

    /// An answer does not take away what is being typed.
    @Test func aBlankStaysWhereItIsTyped() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("kinds", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('“kinds”')")
            try page.ask(
                """
                (globalThis.drawn = 0, new MutationObserver(() => { drawn++; })
                    .observe(document.getElementById('list'), { childList: true }), 1)
                """)
            try page.browser.perform(.keyboard([.character(" ")]))
            try page.wait("drawn > 0")
            try page.browser.perform(.keyboard("whole".map { .character($0) }))
            try page.wait("String(listed()) === 'Kinds/Basic/Whole'")
            #expect(try page.ask("document.getElementById('search').value") == "kinds whole")
        }
    }

    @Test func modifiedOnly() throws {
        let host = try PanelHost()
        try host.visit { page in
            try host.set("Whole", "72")
            try host.set("Other/Far/Distance", "8")
            try page.element("modified-only").click()
            try page.wait("String(listed()) === 'Kinds/Basic/Whole,Other/Far/Distance'")
            #expect(try page.ask("document.getElementById('modified-only').ariaPressed") == "true")
            // One more, while it is on.
            try host.set("Bool", "on")
            try page.wait("listed().length === 3 && listed().includes('Kinds/Basic/Bool')")
            try page.element("modified-only").click()
            try page.wait("listed().length > 10")
        }
    }

    @Test func addressesLead() throws {
        let host = try PanelHost()
        try host.visit(at: "/Kinds/Basic/Side") { page in
            try page.wait("document.activeElement === row('Side') && document.title.startsWith('Side')")
            #expect(try page.browser.address == "\(host.origin)/#/Kinds/Basic/Side")
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("listed().every((path) => path.startsWith('Other/')) && listed().length === 2")
            try page.browser.run("location.hash = '#/Kinds/Status'")
            try page.wait("row('Kinds/Status/Frames') != null")
            try page.browser.run("location.hash = '#/No/Such/Thing'")
            try page.wait("document.getElementById('list').textContent.includes('no such')")
        }
    }

    @Test func theAddressFollows() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.element("#side a[href='#/Other']").click()
            try page.wait("listed().length === 2")
            #expect(try page.browser.address == "\(host.origin)/#/Other")
            try page.type("whole", over: page.element("search"))
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole')")
            try page.browser.goBack()
            try page.wait("listed().length === 2 && document.getElementById('search').value === ''")
            try page.browser.run("history.forward()")
            try page.wait(
                "String(listed()).startsWith('Kinds/Basic/Whole') && document.getElementById('search').value === 'whole'"
            )
            // A page that is loaded there opens there.
            try page.browser.reload()
            try page.wait(
                "String(listed()).startsWith('Kinds/Basic/Whole') && document.getElementById('search').value === 'whole'"
            )
        }
    }

    @Test func whatIsFoldedStaysFolded() throws {
        let host = try PanelHost()
        let fold = "[data-collection='Other/Far'] .fold"
        try host.visit { page in
            try page.wait("isShown(row('Other/Far/Distance'))")
            try page.browser.element(fold).click()
            try page.wait("!isShown(row('Other/Far/Distance'))")
            try page.browser.reload()
            try page.wait(
                "document.querySelector(\"\(fold)\")?.ariaExpanded === 'false' && !isShown(row('Other/Far/Distance'))")
            // A link into it unfolds it.
            try page.browser.run("location.hash = '#/Other/Far/Distance'")
            try page.wait("isShown(row('Other/Far/Distance'))")
            try page.browser.run("location.hash = '#/'")
            try page.wait("document.querySelector(\"\(fold)\").ariaExpanded === 'false'")
            try page.browser.run("arguments[0].focus()", page.browser.element(fold).value)
            try page.browser.perform(.keys(.enter))
            try page.wait("isShown(row('Other/Far/Distance'))")
        }
    }

    /// What is found late is not shown under what somebody has gone to meanwhile.
    @Test func anAnswerThatComesLate() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.run(
                """
                const send = fetch;
                window.fetch = async (...all) => {
                    const answer = await send(...all);
                    while (String(all[0]).startsWith('/api/find') && !window.isOpen) {
                        window.isHeld = true;
                        await new Promise((go) => setTimeout(go, 5));
                    }
                    return answer;
                };
                """)
            try page.type("whole", over: page.element("search"))
            try page.wait("window.isHeld")
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("document.querySelector('#list h2')?.textContent.startsWith('Other')")
            try page.browser.run("window.isOpen = true")
            // One more way there and back, behind that answer.
            try page.ask("asPage('/api/whoami').then((answer) => answer.text())")
            try page.wait("listed().length > 0 && listed().every((path) => path.startsWith('Other/'))")
            #expect(try page.ask("document.querySelector('#list h2').textContent").string?.hasPrefix("Other") == true)
        }
    }
}
