// Takes pictures of every control and pane, and checks how rows are laid out.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct GalleryTests {
    /// A window: a desk, half a screen, a phone, and one beside another program.
    enum Window: String, CaseIterable {
        case wide, narrow, phone, only

        var width: Int { self == .wide ? 1_280 : self == .narrow ? 860 : self == .phone ? 390 : 300 }
    }

    /// Changes some values, so that rows show what they differ from.
    private func change(_ host: PanelHost) throws {
        for (name, value) in [
            ("Label/Text/Size", "33"), ("Label/Text/Offset", "-20"), ("Label/Look/Color", "tomato"),
            ("Label/Look/Side", "center"), ("Service/Limits/Workers", "8"), ("Label/Motion/Fade", "500ms for 10m"),
        ] { try host.set(name, value) }
    }

    /// Shows the look as a code.
    private func showCode(_ page: PanelView) throws {
        try page.browser.element("[data-part=look-qr]").click()
        try page.wait("isShown(document.querySelector('#pane [data-part=qr]'))")
    }

    /// Shows defaults while a key is held, and then an earlier time beside the history.
    private func compare(_ host: PanelHost, _ page: PanelView, in window: Window) throws {
        func key(_ name: String) throws {
            try page.browser.run("dispatchEvent(new KeyboardEvent('\(name)', {code: 'Backquote'}))")
        }
        try key("keydown")
        try page.wait("document.querySelectorAll('.row[data-compared]').length > 1 && isShown(byID('compared'))")
        try page.expectRoom()
        try page.attachPictures("gallery-compared-\(window)")
        try key("keyup")
        try page.wait("!document.querySelector('.row[data-compared]')")
        if window == .only { return }
        try #require(try host.connect().ask("save warm Label").last?.hasPrefix("ok") == true)
        try host.set("Label/Text/Size", "20")
        if window == .phone { try page.element("more").click() }
        try page.open("presets", until: "document.querySelector('[data-part=preset-effects]')?.textContent.trim()")
        try page.expectRoom()
        try page.attachPictures("gallery-presets-\(window)")
        try page.press(button: "History", in: "#drawer .tabs")
        let slider = "document.querySelector('[data-part=scrubber]')"
        try page.wait("\(slider) != null")
        try page.browser.run("const s = \(slider); s.value = 2; s.dispatchEvent(new Event('input'))")
        try page.wait("isShown(document.querySelector('[data-part=restore-all]')) && isShown(byID('compared'))")
        try page.expectRoom()
        try page.attachPictures("gallery-history-\(window)")
        try page.browser.run("const s = \(slider); s.value = s.max; s.dispatchEvent(new Event('input'))")
        try page.keys(.escape)
        try page.wait("!byID('drawer').open && !document.querySelector('.row[data-compared]')")
        try host.set("Label/Text/Size", "33")
    }

    @Test(arguments: Window.allCases) func everyControlAndPaneHasItsPicture(_ window: Window) throws {
        let place = window == .only ? "/Label/Text?only" : ""
        try PanelHost.visit(Gallery.make(), at: place, width: window.width, touch: window == .phone) { host, page in
            try change(host)
            try page.wait(
                "document.querySelectorAll('.row[data-modified]').length >= given[0]", window == .only ? 2 : 6)
            try page.expectRoom()
            if window != .only {
                if window == .phone { try page.element("more").click() }
                try page.open("import")
                try showCode(page)
                try page.expectRoom()
                try page.attachPictures("gallery-look-\(window)")
                try page.keys(.escape)
                try page.wait("!byID('drawer').open")
            }
            try compare(host, page, in: window)
            guard Browser.attachesScreenshots else { return }
            try page.browser.forceColors(true)
            try page.browser.resize(width: window.width, height: window == .only ? 500 : 2_000)
            try page.attachPictures("gallery-\(window)-forced")
            try page.browser.forceColors(false)
            for density in ["roomy", "compact"] {
                try page.browser.run("document.documentElement.dataset.density = arguments[0]", .string(density))
                try page.browser.resize(width: window.width, height: window == .only ? 500 : 2_000)
                try page.attachPictures("gallery-\(window)-\(density)")
            }
        }
    }

    // MARK: Rows

    /// What is one line high: the height of the row in a roomy and in a compact list.
    @Test(arguments: [("roomy", 40), ("compact", 28)])
    func aRowIsOneLineHigh(_ density: String, _ height: Int) throws {
        try PanelHost.visit(Gallery.make()) { host, page in
            try page.browser.run("document.documentElement.dataset.density = arguments[0]", .string(density))
            try change(host)
            try page.wait("document.querySelectorAll('.row[data-modified]').length >= 6")
            let others = try page.ask(
                """
                [...document.querySelectorAll('.row')].filter((row) => !row.querySelector('textarea'))
                    .filter((row) => row.offsetHeight !== given[0]).map((row) => [row.dataset.path, row.offsetHeight])
                """, PageValue(height))
            #expect(others == [], "\(others)")
            // The values end at one edge.
            let edges = try page.ask(
                """
                [...new Set([...document.querySelectorAll('.row')].map((row) => Math.max(
                    ...[...row.querySelectorAll('.control :is(.box, [data-part=run])')]
                        .map((one) => Math.round(one.getBoundingClientRect().right)))).filter(isFinite))]
                """)
            #expect(edges.array?.count == 1, "\(edges)")
        }
    }

    /// One line, or two where there is a slider or several fields.
    @Test func rowsOfAPhoneAreLow() throws {
        try PanelHost.visit(Gallery.make(), width: 390, touch: true) { host, page in
            try change(host)
            try page.wait("document.querySelectorAll('.row[data-modified]').length >= 6")
            let high = try page.ask(
                """
                [...document.querySelectorAll('.row')].filter((row) => row.offsetHeight >
                        (row.querySelector('.slide, .point, .list, .arguments:not([hidden]), textarea') ? 92 : 49))
                    .map((row) => [row.dataset.path, row.offsetHeight])
                """)
            #expect(high == [], "\(high)")
            // The tools are in the menu, with the help.
            #expect(try page.ask("isShown(part('Label/Text/Size', 'explain'))") == false)
            try page.click("Label/Text/Size", "more")
            try page.wait("byID('menu').textContent.includes('Of the label, in points')")
            try page.browser.attach("gallery-phone-menu")
            try page.browser.element("#menu [data-part=menu-reset]").click()
            try host.wait("Label/Text/Size", .number(16))
        }
    }

    /// Errors, help and notes float: no row moves. An error speaks of the field.
    @Test func whatARowSaysMovesNoOther() throws {
        try PanelHost.visit(Gallery.make(), expecting: [PanelView.refused(422)]) { host, page in
            let tops = "JSON.stringify([...document.querySelectorAll('.row')].map((row) => row.offsetTop))"
            try page.wait("[...document.querySelectorAll('#list .chunk')].every((chunk) => !chunk.paths)")
            let before = try page.ask(tops)
            try page.type("100", over: "Label/Text/Size", then: .enter)
            #expect(try page.error("Label/Text/Size") == "100 is outside 4...72")
            #expect(try page.ask(tops) == before)
            // It is above the next row, also of the last row of a list of many.
            let isSeen = """
                ((box) => document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2))
                    (part(given[0], 'error').getBoundingClientRect()) === part(given[0], 'error')
                """
            #expect(try page.ask(isSeen, "Label/Text/Size") == true)
            try page.attachPictures("gallery-error")
            try page.keys(.escape)
            try page.wait("text('Label/Text/Size', 'error') === ''")
            // Help is shown in the row that is used.
            #expect(try page.ask("isShown(row('Label/Text/Size').querySelector('.help'))") == true)
            #expect(try page.ask("isShown(row('Label/Text/Columns').querySelector('.help'))") == false)
            try host.set("Label/Text/Columns", "9")
            try page.wait("text('Label/Text/Columns', 'origin') !== ''")
            #expect(try page.ask(tops) == before)
        }
    }

    /// What a control shows beside its value.
    @Test func controlsShowWhereZeroIsAndWhatAColorIs() throws {
        try PanelHost.visit(Gallery.make()) { host, page in
            try page.wait("[...document.querySelectorAll('#list .chunk')].every((chunk) => !chunk.paths)")
            // A range on both sides of zero is filled from there, another one from its end.
            try page.wait("part('Label/Text/Offset', 'slider').style.getPropertyValue('--from') === '0.5'")
            try page.expect("part('Label/Text/Size', 'slider').style.getPropertyValue('--from') === ''")
            try page.expect("part('Label/Look/Place', 'pad').style.getPropertyValue('--zero-x') === '0.5'")
            try page.expect("row('Label/Look/Place').querySelectorAll('.unit').length === 2")
            let swatch = "getComputedStyle(part('Service/Status/Mood', 'swatch')).backgroundImage"
            try page.expect("\(swatch).includes('rgb(15, 107, 62)')")
            // The default stands beside a value that differs.
            try host.set("Label/Text/Size", "33")
            try page.wait("row('Label/Text/Size').querySelector('.number').dataset.was === '16'")
        }
    }

    @Test func theNameOfACollectionStaysInSight() throws {
        try PanelHost.visit(Gallery.make(), width: 390, touch: true) { _, page in
            _ = try page.part("Label/Look/Limit")
            let name = "document.querySelector('[data-collection=\"Label/Look\"] > h3').getBoundingClientRect().top"
            try page.wait(
                "scrollY > 100 && Math.abs(\(name) - document.querySelector('.bar').getBoundingClientRect().bottom) <= 1"
            )
        }
    }

    /// What one must see has 3 to 1 (WCAG 1.4.11), and is there where the system forces its colors.
    @Test func tracksAndKnobsAreSeen() throws {
        try PanelHost.visit(Gallery.make()) { _, page in
            let faint = """
                (() => {
                    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
                    const probe = document.body.appendChild(document.createElement('i'));
                    const channels = (name) => {
                        probe.style.color = `var(${name})`;
                        canvas.fillStyle = getComputedStyle(probe).color;
                        canvas.fillRect(0, 0, 1, 1);
                        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
                    };
                    const found = ['--track', '--rim', '--accent', '--soft'].map((name) =>
                        [name, contrast(channels(name), channels('--card'))]).filter(([, ratio]) => ratio < 3);
                    probe.remove();
                    return found;
                })()
                """
            for scheme in Browser.Scheme.allCases {
                try page.browser.change(to: scheme)
                let found = try page.ask(faint)
                #expect(found == [], "\(scheme): \(found)")
            }
            try page.browser.forceColors(true)
            try page.wait("matchMedia('(forced-colors: active)').matches")
            for (name, part) in [
                ("Label/Text/Size", "slider"), ("Label/Look/Shown", "switch"), ("Label/Look/Color", "swatch"),
            ] {
                let adjusts = try page.ask(
                    "getComputedStyle(part(given[0], given[1])).forcedColorAdjust", .string(name), .string(part))
                #expect(adjusts == "none", "\(part)")
            }
        }
    }

    @Test func aSmallWindowShowsOneCollectionAlone() throws {
        try PanelHost.visit(Gallery.make(), at: "/Label/Text?only", width: 300) { _, page in
            #expect(try page.ask("isShown(byID('undo')) || isShown(byID('side'))") == false)
            let paths = ["Columns", "Offset", "Seed", "Size"].map { PageValue.string("Label/Text/\($0)") }
            #expect(try page.ask("listed().sort()") == .array(paths))
            try page.expectRoom()
        }
    }

    // MARK: Accessibility

    /// axe-core, where `TWEAKS_AXE` names its file.
    private static let axe = ProcessInfo.processInfo.environment["TWEAKS_AXE"].flatMap {
        try? String(contentsOfFile: $0, encoding: .utf8)
    }

    @Test(.enabled(if: axe != nil, "TWEAKS_AXE does not name axe.min.js"), arguments: Window.allCases)
    func axeFindsNothing(_ window: Window) throws {
        let place = window == .only ? "/Label/Text?only" : ""
        let refused = window == .only ? [] : [PanelView.refused(422)]
        try PanelHost.visit(
            Gallery.make(), at: place, width: window.width, touch: window == .phone, expecting: refused
        ) { host, page in
            try change(host)
            // Its modules refuse scripts of others.
            try page.browser.command("Runtime.evaluate", ["expression": .string(Self.axe ?? "")])
            func expectNothing(_ subject: String) throws {
                for scheme in Browser.Scheme.allCases {
                    try page.browser.change(to: scheme)
                    let found = try page.ask(
                        """
                        axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
                            ({ id, nodes }) => nodes.map(({ html, any }) =>
                                `${id}: ${html.slice(0, 120)} ${any[0]?.message ?? ''}`)))
                        """)
                    #expect(found == [], "\(subject), \(scheme): \(found)")
                }
            }
            try expectNothing("the list")
            if window == .only { return }
            try host.set("Label/Text/Columns", "3")
            try page.browser.reload()
            try page.waitUntilConnected()
            try page.browser.command("Runtime.evaluate", ["expression": .string(Self.axe ?? "")])
            try page.element("modified-only").click()
            try page.wait("document.querySelectorAll('.strip:not([hidden])').length === 2")
            try expectNothing("the strips")
            try page.browser.run("navigator.clipboard.write = () => Promise.reject(new Error('forbidden'))")
            try page.press(button: "Copy as Swift", in: "#strips")
            try page.wait("isShown(byID('copied'))")
            try expectNothing("the copied text")
            try page.attachPictures("gallery-copied-\(window)")
            try page.keys(.escape)
            try page.element("modified-only").click()
            try page.type("100", over: "Label/Text/Size", then: .enter)
            _ = try page.error("Label/Text/Size")
            try expectNothing("an error")
            try page.click("Label/Text/Size", "more")
            try page.wait("isShown(byID('menu'))")
            try expectNothing("a menu")
            try page.keys(.escape)
            try page.browser.perform(.keyboard([.character("?")]))
            try page.wait("isShown(byID('keys'))")
            try expectNothing("the keys")
            try page.keys(.escape)
            try page.click("Label/Look/Color", "swatch")
            try page.wait("isShown(byID('picker'))")
            try expectNothing("the picker")
            try page.attachPictures("gallery-picker-\(window)")
            try page.keys(.escape)
            for (name, kind) in [("Label/Motion/Curve", "curve"), ("Label/Motion/Drop response", "spring")] {
                try page.click(name, "edit")
                try page.wait("isShown(byID('motion'))")
                try expectNothing("the editor of a \(kind)")
                try page.attachPictures("gallery-\(kind)-\(window)")
                try page.keys(.escape)
            }
            for drawer in window == .wide ? ["history", "presets", "import", "people"] : [] {
                try page.open(drawer)
                if drawer == "import" { try showCode(page) }
                try expectNothing(drawer)
                try page.attachPictures("gallery-\(drawer)")
                try page.keys(.escape)
            }
        }
    }
}
