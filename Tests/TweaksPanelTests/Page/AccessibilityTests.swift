// Tests accessibility: keyboard, roles and names, motion, contrast, and widths.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct AccessibilityTests {
    /// The roles of elements that need a name.
    private static let operated: Set<String> = [
        "button", "switch", "slider", "textbox", "searchbox", "combobox", "radio", "link", "tab", "menuitem",
        "checkbox", "spinbutton", "dialog", "radiogroup", "option", "tabpanel", "menu", "navigation", "main", "article",
    ]

    /// Role and name of everything in the accessibility tree.
    private func tree(_ page: PanelView) throws -> [(role: String, name: String)] {
        let nodes = try page.browser.command("Accessibility.getFullAXTree")["nodes"].array ?? []
        return nodes.filter { $0["ignored"] != true }.map { node in
            let name = node["name"]["value"].string ?? ""
            return (node["role"]["value"].string ?? "", name.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// - Parameter wanted: Some of the names, to check the right content.
    private func expectNames(_ page: PanelView, _ place: String, _ wanted: [String]) throws {
        let tree = try tree(page)
        for name in wanted {
            #expect(tree.contains { Self.operated.contains($0.role) && $0.name == name }, "\(place): no \(name)")
        }
        for (role, name) in tree where Self.operated.contains(role) {
            #expect(!name.isEmpty, "\(place): a \(role) without a name")
        }
    }

    /// Each drawer: its button, its title, and names in it.
    private static let drawers = [
        ("history", "History", ["Undo", "Redo"]), ("presets", "Presets", ["Name of the preset", "Save"]),
        (
            "import", "Import, export",
            [
                "Only what differs from its default", "Save as file", "Copy link", "QR code", "Lines to import",
                "File to import", "Preview changes",
            ]
        ),
        ("people", "People", ["Your name, as others see it", "Use this name", "Sign out"]),
    ]

    @Test func everythingHasARoleAndANameAndHeadingsAreInOrder() throws {
        try PanelHost.visit { _, page in
            let levels = try page.ask(
                "[...document.querySelectorAll('h1, h2, h3, h4')].filter(isShown).map((h) => Number(h.localName[1]))")
            let numbers = levels.array?.compactMap { $0.number.map { Int($0) } } ?? []
            #expect(numbers.first == 1 && numbers.count(where: { $0 == 1 }) == 1, "\(numbers)")
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(numbers)")
            let tree = try tree(page)
            let controls = ["switch", "slider", "textbox", "searchbox", "combobox", "radio", "radiogroup"]
            for role in ["banner", "navigation", "main", "search", "heading"] + controls {
                #expect(tree.contains { $0.role == role }, "no \(role)")
            }
            for name in ["Kinds / Basic / Bool", "Kinds / Basic / Whole", "Kinds / Basic / Side"] {
                #expect(tree.contains { $0.name == name }, "nothing called \(name)")
            }
            try expectNames(page, "list", ["Undo", "Search tweaks", "Kinds / Basic / Bool", "Kinds / Basic / Text"])
            for (drawer, title, wanted) in Self.drawers {
                // Until the heading comes, the drawer shows that it is loading.
                try page.open(drawer)
                try page.wait("byID('drawer').open && byID('pane').ariaLabel === given[0]", .string(title))
                try expectNames(page, drawer, ["History", "Presets", "Import, export", "People", "Close"] + wanted)
                try page.keys(.escape)
            }
            try page.openPicker()
            try expectNames(page, "picker", ["Hue", "Opacity"])
            try page.keys(.escape)
            try page.click("Whole", "for")
            try page.wait("isShown(byID('menu'))")
            try expectNames(page, "menu", ["How long a change lasts", "1 minute", "10 minutes", "1 hour"])
        }
    }

    @Test func changesOfOthersAreAnnounced() throws {
        try PanelHost.visit { host, page in
            #expect(try page.ask("byID('live').ariaLive") == "polite")
            try host.set("Whole", "72")
            try page.wait("/Whole.*72.*uid/.test(byID('live').textContent)")
            // The user's own changes are not.
            try page.ask("byID('live').textContent = ''")
            try page.type("73", over: "Whole", then: .enter, sets: .int(73))
            try host.set("Bool", "on")
            try page.wait("byID('live').textContent !== ''")
            #expect(try page.ask("byID('live').textContent.includes('Whole')") == false)
        }
    }

    /// Each row is one stop, and within a control of several parts each of these; what is focused has a visible mark.
    @Test func theTabKeyStopsOnceInEveryRow() throws {
        try PanelHost.visit { _, page in
            try page.ask(
                """
                (globalThis.reached = [], globalThis.unmarked = [], addEventListener('focusin', ({ target }) => {
                    reached.push(target);
                    const around = target.closest('.box, label, .seg') ?? target;
                    const marks = [target, around, target.nextElementSibling, target.firstElementChild].some((element) => {
                        const style = element && getComputedStyle(element);
                        return style && (style.boxShadow !== 'none'
                            || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0);
                    });
                    if (!marks) unmarked.push(target.outerHTML.slice(0, 120));
                }), document.body.focus(), 1)
                """)
            let wanted = """
                [...document.querySelectorAll('a[href], button, input, select, textarea')].filter((element) =>
                    isShown(element) && !element.closest('.row')
                    && !element.disabled && element.tabIndex >= 0)
                """
            // Rows below the view are filled when they come near it.
            try page.wait("[...document.querySelectorAll('#list .chunk')].every((chunk) => !chunk.paths)")
            // Few enough to press for.
            let count = Int(try page.ask("\(wanted).length").number ?? 0)
            #expect(count > 20)
            for _ in 0..<(count / 40 + 2) {
                try page.browser.perform(.keyboard((0..<40).flatMap { _ in [KeyStep.press(.tab), .release(.tab)] }))
            }
            let missed = try page.ask(
                "\(wanted).filter((element) => !reached.includes(element)).map((one) => one.outerHTML.slice(0, 160))")
            #expect(missed == [], "\(missed)")
            let stops = try page.ask(
                """
                [...document.querySelectorAll('.row')].map((row) => [row.row.tweak.kind,
                    new Set(reached.filter((element) => row.contains(element))).size])
                    .filter(([kind, count]) => count !== 1 && !(['point', 'list', 'optional', 'action'].includes(kind) && count))
                """)
            #expect(stops == [], "\(stops)")
            let unmarked = try page.ask("unmarked")
            #expect(unmarked == [], "\(unmarked)")
        }
    }

    @Test func keysActOnAFocusedRow() throws {
        try PanelHost.visit { host, page in
            try page.press("Whole", "field", .up, sets: .int(51))
            try page.wait("!part('Whole', 'reset').disabled")
            // From the field to its row, to its tools, and back.
            try page.keys(.escape)
            try page.wait("document.activeElement === row('Whole')")
            try page.keys(.right, .right)
            try page.wait("document.activeElement === part('Whole', 'reset')")
            try page.keys(.escape)
            try page.wait("document.activeElement === row('Whole')")
            try page.browser.perform(.keyboard([.character("f")]))
            try page.wait("part('Whole', 'star').ariaPressed === 'true'")
            try page.browser.perform(.keyboard([.character("e")]))
            try page.wait("row('Whole').querySelector('table') != null")
            try page.browser.perform(.keyboard([.character("r")]))
            try host.wait("Whole", .int(50))
            try page.browser.perform(.keyboard([.character("m")]))
            try page.wait("isShown(byID('menu')) && byID('menu').ariaLabel === 'Kinds / Basic / Whole'")
            try page.keys(.escape)
            try page.wait("!isShown(byID('menu'))")
            try page.browser.perform(.keyboard([.character("?")]))
            try page.wait("isShown(byID('keys')) && byID('keys').textContent.includes('Compact rows')")
            try page.keys(.escape)
            try page.wait("!isShown(byID('keys'))")
            try page.browser.perform(.keyboard([.character("d")]))
            try page.wait("document.documentElement.dataset.density === 'compact'")
            try page.browser.reload()
            try page.waitUntilConnected()
            try page.wait("document.documentElement.dataset.density === 'compact'")
            try page.element("density").click()
            try page.wait("document.documentElement.dataset.density === 'roomy'")
            // In a field they are letters.
            try page.type("d?", over: "Text", then: .enter, sets: .string("d?"))
            try page.expect("document.documentElement.dataset.density === 'roomy' && !isShown(byID('keys'))")
        }
    }

    @Test func aRowIsCopiedAndPasted() throws {
        try PanelHost.visit { host, page in
            let copied = """
                (() => { const data = new DataTransfer();
                    document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true }));
                    return data.getData('text/plain'); })()
                """
            func paste(_ text: String) throws {
                try page.ask(
                    """
                    (() => { const data = new DataTransfer(); data.setData('text/plain', given[0]);
                        document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true })); })()
                    """, .string(text))
            }
            try page.ask("row('Whole').focus()")
            #expect(try page.ask(copied) == "Kinds/Basic/Whole = 50")
            try page.ask("row('Text').focus()")
            #expect(try page.ask(copied) == "Kinds/Basic/Text = \"Tweaks\"")
            try paste("A/B/C = \"two words\"")
            try host.wait("Text", .string("two words"))
            // Several are for Import.
            try paste("A/B/C = 1\nA/B/D = 2\n")
            try page.waitUntilSaid("These are several values")
            #expect(host.value("Text") == .string("two words"))
            try page.ask("row('Whole').focus()")
            try paste("Kinds/Basic/Count = 60\n")
            try host.wait("Whole", .int(60))
            try paste("70")
            try host.wait("Whole", .int(70))
            // Not a secret, and not what the row cannot have.
            try page.ask("row('Password').focus()")
            #expect(try page.ask(copied) == "")
            try page.ask("row('Bool').focus()")
            try paste("true")
            try host.wait("Bool", .bool(true))
        }
    }

    @Test func keysLeadFromTheSearchIntoARowAndBack() throws {
        try PanelHost.visit { host, page in
            try page.browser.perform(.keyboard("/whole".map { .character($0) }))
            try page.wait("String(listed()).startsWith('Kinds/Basic/Whole')")
            try page.keys(.enter)
            try page.wait("document.activeElement === row('Whole')")
            try page.keys(.enter, .up, sets: "Whole", to: .int(51))
            try page.focus("Whole", "")
        }
    }

    @Test(arguments: [true, false]) func nothingMovesWhereReducedMotionIsRequested(_ isReduced: Bool) throws {
        let tweaks = PageTweaks()
        defer { tweaks.gate.open() }
        try PanelHost.visit(tweaks.registry, reducedMotion: isReduced) { host, page in
            #expect(try page.ask("matchMedia('(prefers-reduced-motion: reduce)').matches") == .bool(isReduced))
            // These move: a highlight, a switch, a drawer, a busy action.
            try page.ask(
                """
                (globalThis.most = 0,
                    globalThis.look = setInterval(() => { most = Math.max(most, document.getAnimations().length); }, 1), 1)
                """)
            // The highlight shows in any case, here until it is seen.
            try page.replaceDelay(4_000)
            try host.set("Whole", "72")
            let paper = "getComputedStyle(row('Whole')).backgroundColor"
            try page.wait("row('Whole').classList.contains('touched')")
            try page.wait("\(!isReduced) || \(paper) !== getComputedStyle(row('Real')).backgroundColor")
            try page.click("Bool", "switch", sets: .bool(true))
            try page.click("Wait", "run")
            try page.wait("row('Wait').querySelector('.spin') != null")
            try page.open("history")
            if !isReduced { try page.wait("most > 0") }
            let most = try page.ask("(clearInterval(look), most)").number ?? 0
            #expect(isReduced ? most == 0 : most > 0)
        }
    }

    @Test(arguments: [360, 800, 1_600]) func nothingOverflowsAtAnyWidth(_ width: Int) throws {
        try PanelHost.visit(width: width) { host, page in
            try host.set("Whole", "72")
            try page.wait("row('Whole').hasAttribute('data-modified')")
            try page.expectRoom()
            try page.attachPictures("panel-\(width)")
            for place in ["history", "presets", "import", "people"] where width == 800 {
                try page.open(place)
                try page.attachPictures("panel-\(place)")
                try page.keys(.escape)
            }
        }
    }

    /// WCAG's formula: 4.5 to 1, large text 3 to 1.
    @Test func textHasEnoughContrast() throws {
        try PanelHost.visit(expecting: [PanelView.refused(422)]) { host, page in
            try host.set("Whole", "72")
            try page.type("101", over: "Whole", then: .enter)
            _ = try page.error("Whole")
            try page.click("Real", "explain")
            try page.wait("row('Real').querySelector('table') != null")
            try expectContrast(page)
        }
    }

    /// A user who may only look sees the same, and true colors.
    @Test func lockedControlsHaveEnoughContrast() throws {
        let reader = PanelHost.User(name: "reader", scopes: [.read])
        try PanelHost.visit(Gallery.make(), as: reader) { _, page in
            try expectContrast(page)
            #expect(try page.ask("getComputedStyle(part('Label/Look/Color', 'swatch')).opacity") == "1")
        }
    }

    private func expectContrast(_ page: PanelView) throws {
        for scheme in Browser.Scheme.allCases {
            try page.browser.change(to: scheme)
            let faint = try page.ask(Self.contrast)
            #expect(faint == [], "\(scheme): \(faint)")
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
            const faint = new Map();
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const element = walker.currentNode.parentElement;
                const words = walker.currentNode.data.trim();
                const isExempt = element.closest('.swatch, .unseen, script, option, [hidden]');
                if (!words || !isShown(element) || isExempt) continue;
                const { width, height } = element.getBoundingClientRect();
                if (!width || !height) continue;
                const style = getComputedStyle(element), behind = [];
                for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
                const paper = over(['Canvas', ...behind]);
                let opacity = 1;
                for (let at = element; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
                // What is seen only in the row that is used.
                if (!opacity) continue;
                const mixed = `color-mix(in srgb, ${style.color} ${opacity * 100}%, transparent)`;
                const ink = over([`rgb(${paper})`, mixed]);
                const ratio = contrast(ink, paper);
                const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
                if (ratio >= (isLarge ? 3 : 4.5)) continue;
                faint.set(`${element.localName}.${element.className} ${words.slice(0, 20)}`, ratio.toFixed(2));
            }
            return [...faint].slice(0, 12);
        })()
        """
}
