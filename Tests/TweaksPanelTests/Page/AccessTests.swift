// For everybody: keyboard alone, names and roles for those who hear the page, and room on every screen.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct AccessTests {
    /// Roles of what is operated.
    private static let operated: Set<String> = [
        "button", "switch", "slider", "textbox", "searchbox", "combobox", "radio", "link", "tab", "menuitem",
        "checkbox",
        "spinbutton", "dialog", "radiogroup", "MenuListPopup", "option", "tabpanel", "menu", "navigation", "main",
        "article",
    ]

    /// Role and name of everything in the accessibility tree.
    private func tree(_ page: PanelView) throws -> [(role: String, name: String)] {
        let nodes = try page.browser.command("Accessibility.getFullAXTree")["nodes"].array ?? []
        return nodes.filter { $0["ignored"] != true }.map { node in
            let name = node["name"]["value"].string ?? ""
            return (node["role"]["value"].string ?? "", name.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// - Parameter wanted: Some of what is there: without them something else would be looked at.
    private func expectNames(_ page: PanelView, _ place: String, _ wanted: [String]) throws {
        let tree = try tree(page)
        for name in wanted {
            #expect(tree.contains { Self.operated.contains($0.role) && $0.name == name }, "\(place): no \(name)")
        }
        for (role, name) in tree where Self.operated.contains(role) && role != "MenuListPopup" {
            #expect(!name.isEmpty, "\(place): a \(role) without a name")
        }
    }

    /// What opens beside the list: its button, its title, and what can be done there.
    private static let drawers = [
        ("history", "History", ["Undo", "Redo"]), ("presets", "Presets", ["Name of the preset", "Save"]),
        ("import", "Import, export", ["Everything", "Lines to import", "File to import", "See what would change"]),
        ("people", "People", ["Your name, as others see it", "Use this name", "Sign out"]),
    ]

    @Test func everythingHasARoleAndAName() throws {
        let host = try PanelHost()
        try host.visit { page in
            let tree = try tree(page)
            for role in [
                "banner", "navigation", "main", "search", "heading", "switch", "slider", "textbox", "searchbox",
                "combobox", "radio", "radiogroup",
            ] {
                #expect(tree.contains { $0.role == role }, "no \(role)")
            }
            for name in [
                "Kinds / Basic / Bool", "Kinds / Basic / Whole", "Kinds / Basic / Side", "Reset: Kinds / Basic / Whole",
            ] {
                #expect(tree.contains { $0.name == name } || name.hasPrefix("Reset"), "nothing called \(name)")
            }
            try expectNames(page, "list", ["Undo", "Search tweaks", "Kinds / Basic / Bool", "Kinds / Basic / Text"])
            for (drawer, title, wanted) in Self.drawers {
                try page.element(drawer).click()
                // Before that there is only the word that it is loading.
                try page.wait(
                    """
                    document.getElementById('drawer').open && document.getElementById('pane').ariaLabel === given[0]
                        && document.querySelector('#pane h2') != null
                    """, .string(title))
                try expectNames(page, drawer, ["History", "Presets", "Import, export", "People", "Close"] + wanted)
                try page.browser.perform(.keys(.escape))
            }
            try page.click("Colour", "swatch")
            try page.wait("isShown(document.getElementById('picker'))")
            try expectNames(page, "picker", ["Hue", "Opacity"])
            try page.browser.perform(.keys(.escape))
            try page.click("Whole", "for")
            try page.wait("isShown(document.getElementById('menu'))")
            try expectNames(page, "menu", ["How long a change lasts", "1 minute", "10 minutes", "1 hour"])
        }
    }

    @Test func headingsAreInOrder() throws {
        let host = try PanelHost()
        try host.visit { page in
            let levels =
                try page.ask(
                    "[...document.querySelectorAll('h1, h2, h3, h4')].filter(isShown).map((h) => Number(h.localName[1]))"
                ).array ?? []
            let numbers = levels.compactMap { $0.number.map { Int($0) } }
            #expect(numbers.first == 1 && numbers.count(where: { $0 == 1 }) == 1, "\(numbers)")
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(numbers)")
        }
    }

    /// What others do is announced.
    @Test func othersAreHeard() throws {
        let host = try PanelHost()
        try host.visit { page in
            #expect(try page.ask("document.getElementById('live').ariaLive") == "polite")
            try host.set("Whole", "72")
            try page.wait("/Whole.*72.*uid/.test(document.getElementById('live').textContent)")
            // One's own changes are not.
            try page.ask("document.getElementById('live').textContent = ''")
            try page.type("73", over: "Whole", then: .enter)
            try host.wait("Whole", .int(73))
            try host.set("Bool", "on")
            try page.wait("document.getElementById('live').textContent !== ''")
            #expect(try page.ask("document.getElementById('live').textContent.includes('Whole')") == false)
        }
    }

    /// The tab key reaches everything that can be operated, shows where it is, and gets out again.
    @Test func tabReachesEverything() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.ask(
                """
                (globalThis.reached = new Set(), globalThis.unseen = [], addEventListener('focusin', ({ target }) => {
                    reached.add(target);
                    const style = getComputedStyle(target), around = target.closest('.box, label, .seg') ?? target;
                    const marks = [target, around, target.nextElementSibling ?? target].some((element) => {
                        const style = getComputedStyle(element);
                        return style.boxShadow !== 'none'
                            || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
                    });
                    if (!marks) unseen.push(target.outerHTML.slice(0, 120));
                }), document.body.focus(), 1)
                """)
            let wanted = """
                [...document.querySelectorAll('a[href], button, input, select, textarea')].filter((element) =>
                    isShown(element)
                    && !element.disabled && element.tabIndex >= 0 && !(element.type === 'radio' && !element.checked))
                """
            // So many, and some more, to get around.
            let count = Int(try page.ask("\(wanted).length").number ?? 0)
            #expect(count > 80)
            for _ in 0..<(count / 40 + 2) {
                try page.browser.perform(.keyboard((0..<40).flatMap { _ in [KeyStep.press(.tab), .release(.tab)] }))
            }
            let missed = try page.ask(
                "\(wanted).filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 160))"
            )
            #expect(missed == [], "\(missed)")
            let unseen = try page.ask("unseen")
            #expect(unseen == [], "\(unseen)")
        }
    }

    /// From the search by arrows to a row, into its control, and back.
    @Test func rowsByKeys() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.perform(.keyboard([.character("/")]))
            try page.browser.perform(.keyboard("whole".map { .character($0) }))
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole')")
            try page.browser.perform(.keys(.enter))
            try page.wait("document.activeElement === row('Whole')")
            try page.browser.perform(.keys(.enter))
            try page.browser.perform(.keys(.up))
            try host.wait("Whole", .int(51))
            try page.focus("Whole", "")
        }
    }

    // MARK: Motion

    /// Whoever wants no movement gets none, and everything else as it is.
    @Test(arguments: [true, false]) func motionIsReduced(_ isReduced: Bool) throws {
        let tweaks = PageTweaks()
        let host = try PanelHost(tweaks.registry)
        defer { tweaks.gate.open() }
        try host.visit(reducedMotion: isReduced) { page in
            #expect(try page.ask("matchMedia('(prefers-reduced-motion: reduce)').matches") == .bool(isReduced))
            // What moves: a highlight, a switch, a drawer, what is busy.
            try page.ask(
                """
                (globalThis.most = 0, globalThis.look = setInterval(() => { most = Math.max(most, document.getAnimations().length); }, 1), 1)
                """)
            try host.set("Whole", "72")
            // The highlight is there all the same.
            let paper = "getComputedStyle(row('Whole')).backgroundColor"
            try page.wait("row('Whole').classList.contains('touched')")
            try page.wait("\(!isReduced) || \(paper) !== getComputedStyle(row('Real')).backgroundColor")
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
            try page.click("Wait", "run")
            try page.wait("row('Wait').querySelector('.spin') != null")
            try page.element("history").click()
            try page.wait("document.querySelector('#pane h2') != null")
            try page.wait(isReduced ? "true" : "most > 0")
            let most = try page.ask("(clearInterval(look), most)").number ?? 0
            #expect(isReduced ? most == 0 : most > 0)
        }
    }

    // MARK: Looks

    @Test(arguments: [360, 800, 1_600]) func pictures(_ width: Int) throws {
        let host = try PanelHost()
        try host.visit(width: width) { page in
            try host.set("Whole", "72")
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.expectRoom()
            try attach("panel-\(width)", page)
            for place in ["history", "presets", "import", "people"] where width == 800 {
                try page.element(place).click()
                try page.wait("document.querySelector('#pane h2') != null")
                try attach("panel-\(place)", page)
                try page.browser.perform(.keys(.escape))
            }
        }
    }

    private func attach(_ name: String, _ page: PanelView) throws {
        for scheme in Browser.Scheme.allCases {
            try page.browser.change(to: scheme)
            try page.browser.attach("\(name)-\(scheme)")
        }
    }

    /// Text against what lies behind it, by WCAG's formula: 4.5 to 1, large text 3 to 1.
    @Test func contrast() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(422)]) { page in
            try host.set("Whole", "72")
            try page.type("101", over: "Whole", then: .enter)
            _ = try page.error("Whole")
            try page.click("Real", "explain")
            try page.wait("row('Real').querySelector('table') != null")
            for scheme in Browser.Scheme.allCases {
                try page.browser.change(to: scheme)
                let faint = try page.ask(Self.contrast)
                #expect(faint == [], "\(scheme): \(faint)")
            }
        }
    }

    private static let contrast = """
        (() => {
            const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
            const over = (colors) => {
                canvas.clearRect(0, 0, 1, 1);
                for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
                return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
            };
            const light = (rgb) => rgb.map((part) => part / 255)
                .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
            const faint = new Map();
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const element = walker.currentNode.parentElement;
                const words = walker.currentNode.data.trim();
                const isExempt = element.closest('.swatch, .unseen, script, :disabled, option, [hidden]');
                if (!words || !isShown(element) || isExempt) continue;
                const { width, height } = element.getBoundingClientRect();
                if (!width || !height) continue;
                const style = getComputedStyle(element), behind = [];
                for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
                const paper = over(['Canvas', ...behind]), ink = over([`rgb(${paper})`, style.color]);
                const [a, b] = [light(ink), light(paper)], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
                if (ratio >= (isLarge ? 3 : 4.5)) continue;
                faint.set(`${element.localName}.${element.className} ${words.slice(0, 20)}`, ratio.toFixed(2));
            }
            return [...faint].slice(0, 12);
        })()
        """
}
