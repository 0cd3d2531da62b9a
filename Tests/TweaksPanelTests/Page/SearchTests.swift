// Tests navigation: search in the order of `find`, the filter for modified tweaks, addresses, folded groups.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SearchTests {
    @Test func resultsHaveTheOrderOfFind() throws {
        try PanelHost.visit { host, page in
            for words in ["a", "far", "kinds whole", "how", "wrkrs", "dsitance", "tweaks", "nothing of that"] {
                let lines = try host.connect().ask("find \(words)").dropLast()
                let found = lines.compactMap { line in line.split(separator: " ").first.map { String($0) } }
                try search(words, found.map { .string($0) }, page)
            }
        }
    }

    /// Without the process, too, whole words come first, and values last.
    @Test func resultsAreRankedWhileTheProcessIsUnreachable() throws {
        try PanelHost.visit { _, page in
            try page.ask(
                """
                (globalThis.fetched = fetch, globalThis.fetch = (path, ...more) =>
                    String(path).startsWith('/api/find') ? Promise.reject(new TypeError('cut')) : fetched(path, ...more), 1)
                """)
            for (words, found) in [
                ("far", "Other/Far/Distance,Other/Far/Workers"), ("it", "Kinds/Basic/Wait,Other/Far/Distance"),
                ("abc", "Kinds/Basic/Short"),
                ("60", "Kinds/Basic/Real"), ("6", ""), ("re", "Kinds/Basic/Real,Kinds/Basic/Free,Kinds/Basic/Greet"),
            ] {
                try page.type(words, over: page.element("search"))
                try page.wait(
                    "String(listed()) === given[0] && document.querySelector('#list h2')?.textContent.includes(given[1])",
                    .string(found), .string("“\(words)”"))
            }
        }
    }

    @Test func theWordsOfASearchAreMarked() throws {
        let marked = "[...CSS.highlights.get('found')].map(String).sort().join(' ')"
        let registry = TweakRegistry()
        for (collection, name) in [("Screen 3", "Toast"), ("Screen 30", "toastColor"), ("Größe", "Toaster Höhe")] {
            _ = Tweak("App", collection, name, 0, help: "Three toasts", registry: registry)
        }
        try PanelHost.visit(registry) { _, page in
            for (words, texts) in [
                ("3 toast", "3 3 Toast toast toast toast"), ("hohe", "Höhe"), ("olor", "olor"),
                ("groß/toast", "Größ Toast toast"), ("gross toaster", "Größ Toaster"),
            ] {
                try page.type(words, over: page.element("search"))
                try page.wait(
                    "byID('search').value === given[0] && \(marked) === given[1]", .string(words), .string(texts))
            }
            try page.attachPictures("panel-search")
            try page.keys(.escape)
            try page.wait("listed().length === 3 && \(marked) === ''")
        }
    }

    private func search(_ words: String, _ found: [PageValue], _ page: PanelView) throws {
        try page.type(words, over: page.element("search"))
        try page.wait("location.hash === '#?q=' + encodeURIComponent(given[0])", .string(words))
        try page.wait("document.querySelector('#list h2')?.textContent.includes(given[0])", .string(words))
        try page.wait("JSON.stringify(listed()) === JSON.stringify(given[0])", .array(found))
        if let first = found.first {
            try page.keys(.down)
            try page.wait("document.activeElement.dataset.path === given[0]", first)
            try page.browser.perform(.keyboard([.character("/")]))
        }
        try page.wait("document.activeElement.id === 'search'")
        try page.keys(.escape)
        try page.wait("listed().length > 10 && byID('search').value === ''")
    }

    @Test func resultsAreShownFromTheTopAndEscapeScrollsBack() throws {
        let row = "row('Category 0/Group 3/Scale 79')"
        let top = "Math.round(\(row).getBoundingClientRect().top)"
        try PanelHost.visit(LargeRegistry.make(500)) { _, page in
            try page.wait("(scrollBy(0, 300), \(row) != null)")
            // Rows above are measured when they come near the view, which moves this row, a frame at a time.
            try page.wait(
                """
                (\(row).scrollIntoView({ block: 'center' }), globalThis.place = \(top),
                    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
                        requestAnimationFrame(done)))),
                    place === \(top) && place > 100 && scrollY > 1000)
                """)
            try page.type("tint", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('“tint”')")
            #expect(try page.ask("scrollY") == 0)
            try page.keys(.escape)
            try page.wait("\(row) != null && Math.abs(\(top) - place) <= 1")
        }
    }

    @Test func aTrailingSpaceStaysWhileResultsArrive() throws {
        try PanelHost.visit { _, page in
            try page.type("kinds", over: page.element("search"))
            try page.wait("document.querySelector('#list h2')?.textContent.includes('“kinds”')")
            try page.ask(
                """
                (globalThis.drawn = 0, new MutationObserver(() => { drawn++; })
                    .observe(byID('list'), { childList: true }), 1)
                """)
            try page.browser.perform(.keyboard([.character(" ")]))
            try page.wait("drawn > 0")
            try page.browser.perform(.keyboard("whole".map { .character($0) }))
            try page.wait("String(listed()) === 'Kinds/Basic/Whole'")
            #expect(try page.ask("byID('search').value") == "kinds whole")
        }
    }

    @Test func theFilterListsModifiedTweaksOnly() throws {
        try PanelHost.visit { host, page in
            for (name, text) in [("Whole", "72"), ("Other/Far/Distance", "8")] { try host.set(name, text) }
            try page.element("modified-only").click()
            try page.wait("String(listed()) === 'Kinds/Basic/Whole,Other/Far/Distance'")
            #expect(try page.ask("byID('modified-only').ariaPressed") == "true")
            try host.set("Bool", "on")
            try page.wait("listed().length === 3 && listed().includes('Kinds/Basic/Bool')")
            try page.element("modified-only").click()
            try page.wait("listed().length > 10")
        }
    }

    @Test func addressesSelectWhatIsListedAndFollowIt() throws {
        try PanelHost.visit(at: "/Kinds/Basic/Side") { host, page in
            try page.wait("document.activeElement === row('Side') && document.title.startsWith('Side')")
            #expect(try page.browser.address == "\(host.origin)/#/Kinds/Basic/Side")
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("listed().every((path) => path.startsWith('Other/')) && listed().length === 2")
            try page.browser.run("location.hash = '#/Kinds/Status'")
            try page.wait("row('Kinds/Status/Frames') != null")
            try page.browser.run("location.hash = '#/No/Such/Thing'")
            try page.wait("byID('list').textContent.includes('no such')")
            try page.browser.element("#side a[href='#/Other']").click()
            try page.wait("listed().length === 2")
            #expect(try page.browser.address == "\(host.origin)/#/Other")
            try page.type("whole", over: page.element("search"))
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole')")
            try page.browser.goBack()
            try page.wait("listed().length === 2 && byID('search').value === ''")
            try page.browser.run("history.forward()")
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole') && byID('search').value === 'whole'")
            try page.browser.reload()
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole') && byID('search').value === 'whole'")
        }
    }

    @Test func foldedGroupsStayFolded() throws {
        let fold = "[data-collection='Other/Far'] .fold"
        try PanelHost.visit { _, page in
            try page.wait("isShown(row('Other/Far/Distance'))")
            try page.browser.element(fold).click()
            try page.wait("!isShown(row('Other/Far/Distance'))")
            try page.browser.reload()
            try page.wait(
                "document.querySelector(\"\(fold)\")?.ariaExpanded === 'false' && !isShown(row('Other/Far/Distance'))")
            // A link to a tweak in it unfolds it.
            try page.browser.run("location.hash = '#/Other/Far/Distance'")
            try page.wait("isShown(row('Other/Far/Distance'))")
            try page.browser.run("location.hash = '#/'")
            try page.wait("document.querySelector(\"\(fold)\").ariaExpanded === 'false'")
            try page.browser.run("arguments[0].focus()", page.browser.element(fold).value)
            try page.keys(.enter)
            try page.wait("isShown(row('Other/Far/Distance'))")
        }
    }

    @Test func lateResultsAreIgnored() throws {
        try PanelHost.visit { _, page in
            try page.holdReplies(where: "path.startsWith('/api/find')")
            try page.type("whole", over: page.element("search"))
            try page.wait("held > 0")
            try page.browser.run("location.hash = '#/Other'")
            try page.wait("document.querySelector('#list h2')?.textContent.startsWith('Other')")
            try page.browser.run("window.isOpen = true")
            // One more request and reply after that reply.
            try page.ask("asPage('/api/whoami').then((answer) => answer.text())")
            try page.wait("listed().length > 0 && listed().every((path) => path.startsWith('Other/'))")
            try page.expect("document.querySelector('#list h2').textContent.startsWith('Other')")
        }
    }
}
