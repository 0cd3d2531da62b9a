// Tests looks: as a link that another process previews, as a QR code, and links that are none.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct LookTests {
    /// `Kinds/Basic/Whole = 72`, as Python's zlib packs it.
    private static let look = "look=eNrzzsxLKdZ3SizOTNYPz8jPSVWwVTA34gIAYAoHKQ"
    private static let lines = "Kinds/Basic/Whole = 72\n"
    private static let isPreviewed =
        """
        document.querySelector('[data-part=import-text]')?.value === given[0]
            && document.querySelector('#pane table')?.textContent.includes('Kinds/Basic/Whole5072')
        """
    private static let complaint = "document.querySelector('#pane .error')?.textContent"

    /// Clicks the button, and returns what it copies.
    private func copyLink(_ page: PanelView) throws -> String {
        try page.ask("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
        try page.ask("delete globalThis.copied")
        try page.browser.element("[data-part=look-copy]").click()
        return try #require(try page.wait("globalThis.copied").string)
    }

    /// Types a text into Import, as a paste does.
    private func paste(_ text: String, _ page: PanelView) throws {
        try page.ask(
            """
            (document.querySelector('[data-part=import-text]').select(),
                document.execCommand('insertText', false, given[0]))
            """, .string(text))
    }

    // MARK: Links

    @Test func aLinkBringsALookToAnotherProcess() throws {
        var link = ""
        try PanelHost.visit(at: "/Other") { host, page in
            for (name, text) in [("Whole", "72"), ("Text", "\"zwei Wörter\""), ("Password", "hush")] {
                try host.set(name, text)
            }
            try page.open("import")
            link = try copyLink(page)
            try page.waitUntilSaid("Link copied")
            #expect(link.hasPrefix("\(host.origin)/#look=") && link.count < 200, "\(link)")
        }
        try PanelHost.visit { host, page in
            let revision = host.registry.revision
            try page.open("import")
            try paste(" \(link)\n", page)
            try page.wait(
                """
                document.querySelector('[data-part=import-text]').value
                    === 'Kinds/Basic/Text = "zwei Wörter"\\nKinds/Basic/Whole = 72\\n'
                """)
            try page.wait("document.querySelectorAll('#pane tbody tr').length === 2")
            #expect(host.registry.revision == revision)
            try page.browser.element("[data-part=import-apply]").click()
            try host.wait("Whole", .int(72))
            #expect(host.value("Text") == .string("zwei Wörter"))
            try page.step("undo", sets: "Whole", to: .int(50))
        }
    }

    @Test func theAddressOfAnOpenPageShowsALookOnce() throws {
        try PanelHost.visit(at: "/Kinds") { host, page in
            try host.set("Count", "11")
            let isCounted = "byID('modified-only').textContent.includes('1')"
            try page.wait(isCounted)
            let revision = host.registry.revision
            try page.ask("scrollTo(0, 100)")
            try page.browser.open("\(host.origin)/#\(Self.look)")
            try page.wait(Self.isPreviewed, .string(Self.lines))
            #expect(try page.browser.address == "\(host.origin)/#/Kinds")
            try page.expect("listed().every((path) => path.startsWith('Kinds/')) && scrollY === 100")
            try page.attachPictures("look")
            // Nothing is applied by looking at it, and nothing brings it back.
            try page.browser.reload()
            try page.wait(isCounted)
            #expect(try page.ask("byID('drawer').open") == false)
            #expect(host.registry.revision == revision)
        }
    }

    /// The link stays in the address until then, so that the page can be loaded again.
    @Test func aLookWaitsForTheSignIn() throws {
        let host = try PanelHost()
        let page = PanelView(host: host, browser: try Browser())
        let link = "\(host.origin)/#\(Self.look)"
        try page.browser.open(link)
        try page.wait("state() === 'login'")
        try page.browser.reload()
        try page.wait("state() === 'login' && !byID('drawer').open")
        #expect(try page.browser.address == link)
        try page.type(PanelHost.owner.secret, over: page.element("token"), then: [.enter])
        try page.wait(Self.isPreviewed, .string(Self.lines))
        #expect(try page.browser.address == "\(host.origin)/")
        // The list shows everything.
        try page.waitUntilConnected()
        try page.expect("listed().length > 15")
        try page.browser.element("[data-part=import-apply]").click()
        try host.wait("Whole", .int(72))
        try page.checkConsole(expecting: [PanelView.refused(401)])
    }

    @Test func aCodeMayPrecedeALookAlsoOnAPhone() throws {
        try PanelHost.visit(at: Self.look, width: 390, touch: true) { host, page in
            try page.wait(Self.isPreviewed, .string(Self.lines))
            let apply = "document.querySelector('[data-part=import-apply]').getBoundingClientRect()"
            try page.wait("\(apply).top > 0 && \(apply).bottom < innerHeight")
            try page.expectRoom()
            try page.attachPictures("look-phone")
            #expect(try page.browser.address == "\(host.origin)/")
            // In a low window the preview is scrolled into view.
            try page.browser.resize(width: 390, height: 400)
            try page.browser.open("\(host.origin)/#\(Self.look)")
            try page.wait(
                """
                Math.abs([...document.querySelectorAll('#pane h2')].at(-1).getBoundingClientRect().top
                    - byID('pane').getBoundingClientRect().top) <= 1
                """)
        }
    }

    @Test func aReaderLearnsThatALookIsNotForThem() throws {
        let reader = PanelHost.User(name: "reader", scopes: ["read"])
        try PanelHost.visit(as: reader, at: Self.look) { host, page in
            try page.wait("\(Self.complaint)?.includes('may not change anything here')")
            #expect(try page.ask("document.querySelector('[data-part=import-text]')") == nil)
            #expect(try page.browser.address == "\(host.origin)/")
        }
    }

    // MARK: Links that are none

    /// A script of the letters after `#look=`, and what the page says.
    static let strange = [
        ("''", "is cut off, or not a look"),
        ("'A'", "is cut off, or not a look"),
        ("'rubbish'", "is cut off, or not a look"),
        ("'\(look.dropFirst(5).dropLast(4))'", "is cut off, or not a look"),
        // One letter of the lines differs, which only the checksum tells.
        ("'\(look.dropFirst(5).replacing("z8jPSV", with: "z8jPSF"))'", "is cut off, or not a look"),
        // The byte 0xFF.
        ("'eNrzzsxLKdZ3SizOTNYPSa0oUbBVUPqvxAUAYNYHqQ'", "is cut off, or not a look"),
        ("'A'.repeat(16001)", "ask for it as a file"),
        // Five megabytes in a few thousand letters.
        (
            """
            await (async () => {
                const bomb = new Blob(['x'.repeat(5e6)]).stream().pipeThrough(new CompressionStream('deflate'));
                return btoa(String.fromCharCode(...new Uint8Array(await new Response(bomb).arrayBuffer())))
                    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
            })()
            """, "ask for it as a file"
        ),
    ]

    @Test func linksThatAreNoLookSaySoAndChangeNothing() throws {
        try PanelHost.visit { host, page in
            // Counts the bytes of lines that are read.
            try page.ask(
                """
                (() => {
                    globalThis.read = 0;
                    const decode = TextDecoder.prototype.decode;
                    TextDecoder.prototype.decode = function (bytes, ...more) {
                        if (this.fatal) read += bytes?.length ?? 0;
                        return decode.call(this, bytes, ...more);
                    };
                })()
                """)
            for (letters, message) in Self.strange {
                try page.ask(
                    "(globalThis.read = 0, byID('pane').replaceChildren(), location.hash = 'look=' + (\(letters)))")
                try page.wait("\(Self.complaint)?.includes(given[0])", .string(message))
                try page.expect("document.querySelector('[data-part=import-text]').value === ''")
                #expect(try page.browser.address == "\(host.origin)/", "\(letters)")
                #expect(try page.ask("read").number ?? .infinity <= 65_536, "\(letters)")
            }
            // A pasted one stays for correction.
            try paste("\(host.origin)/#look=rubbish", page)
            try page.wait("\(Self.complaint)?.includes('ask for it again')")
            try page.expect("document.querySelector('[data-part=import-text]').value.endsWith('rubbish')")
            // Lines that speak of a link are none.
            try paste("# from http://example.test/#look=rubbish\nKinds/Basic/Whole = 7", page)
            try page.browser.element("[data-part=import-check]").click()
            try page.wait("document.querySelector('#pane table')?.textContent.includes('Kinds/Basic/Whole507')")
            #expect(host.registry.history.isEmpty)
        }
    }

    // MARK: Codes

    @Test func aCodeShowsTheLink() throws {
        try PanelHost.visit(at: "/Kinds") { host, page in
            for (name, text) in [("Whole", "72"), ("Other/Far/Distance", "8")] { try host.set(name, text) }
            try page.open("import")
            let link = try copyLink(page)
            try page.browser.element("[data-part=look-qr]").click()
            try page.wait("document.querySelector('#pane svg[data-part=qr]') != null")
            let code = try page.browser.element("#pane [data-part=qr]")
            #expect(try code.role == "image")
            #expect(try code.label == "QR code of the link to this look")
            #expect(try code.style("forced-color-adjust") == "none")
            // A rectangle for each run of dark modules, each of them at least three pixels.
            let drawn = try page.ask(
                """
                import(document.querySelector(`link[href$='/share/qr.js']`).href).then(({ qrCode }) => {
                    const { rows } = qrCode(given[0]);
                    const all = rows.flatMap((row, y) =>
                        [...row].flatMap((dark, x) => dark === '1' ? `${x},${y}` : []));
                    const image = document.querySelector('#pane [data-part=qr]');
                    const found = [...image.lastChild.getAttribute('d').matchAll(/M(\\d+) (\\d+)h(\\d+)v1h-(\\d+)z/g)]
                        .flatMap(([, x, y, length]) => Array.from({ length }, (_, at) => `${Number(x) + at},${y}`));
                    return [String(found) === String(all), image.clientWidth >= 3 * (rows.length + 8)];
                })
                """, .string(link))
            #expect(drawn == [true, true])
            try page.attachPictures("look-code")
            // Another choice is another look.
            try page.browser.element("[data-part=export-category]").click()
            try page.wait("document.querySelector('#pane [data-part=qr]') == null")
            #expect(try copyLink(page) != link)
        }
    }

    @Test func whatIsTooLongOrNothingSaysWhatElseCanBeDone() throws {
        let registry = TweakRegistry()
        var generator = SeededGenerator(seed: 1)
        func noise(_ count: Int) -> String {
            String(decoding: (0..<count).map { _ in UInt8.random(in: 0x30...0x5A, using: &generator) }, as: UTF8.self)
        }
        let small = Tweak("Small", "Noise", "Text", "", registry: registry)
        let large = Tweak("Large", "Noise", "Text", "", registry: registry)
        try PanelHost.visit(registry, at: "/Small") { _, page in
            try page.open("import")
            try page.browser.element("[data-part=look-qr]").click()
            try page.wait("\(Self.complaint)?.includes('nothing here differs from its default')")
            small.value = noise(4_000)
            large.value = noise(20_000)
            for part in ["look-copy", "look-qr"] {
                try page.browser.element("[data-part=export-modified]").click()
                try page.browser.element("[data-part=\(part)]").click()
                try page.wait("\(Self.complaint)?.includes('too long for a link; save it as a file')")
            }
            try page.browser.element("[data-part=export-category]").click()
            try page.wait("\(Self.complaint) == null")
            try page.browser.element("[data-part=look-qr]").click()
            try page.wait("\(Self.complaint)?.includes('a code holds 2953; copy the link')")
            #expect(try copyLink(page).count > 2_953)
        }
    }

    @Test func aLinkThatTheBrowserDoesNotCopyIsShown() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try page.open("import")
            try page.ask("navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden'))")
            try page.browser.element("[data-part=look-copy]").click()
            try page.wait(
                """
                ((field) => field?.value.includes('#look=') && document.activeElement === field
                    && field.selectionEnd - field.selectionStart === field.value.length)
                    (document.querySelector('[data-part=look-link]'))
                """)
        }
    }
}
