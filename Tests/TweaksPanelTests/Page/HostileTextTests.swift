// Tests names, help, units, choices and values that look like markup: they are shown as text.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct HostileTextTests {
    private enum Choice: String, CaseIterable, TweakConvertible {
        case script = "<script>hit=1</script>"
        case image = "<img src=x onerror=hit=1>"
        case quotes = "\"'`&amp;"
    }

    private static let names = [
        "<img src=x onerror=hit=1>", "<script>hit=1", "\" onclick=\"hit=1", "'><svg onload=hit=1>", "&lt;b&gt;&amp;",
        "javascript:hit=1", "${hit=1}{{hit}}", "%3Cscript%3E%2F", "naïve 🙂👩‍👩‍👧‍👦 שלום", "a?b#c&d=e+f g", "__proto__", "..",
        "\\\"]",
    ]

    private static let values = [
        "</script><script>hit=1</script>", "<img src=x onerror=hit=1>", "\"'><svg onload=hit=1>", "&amp;&lt;",
        "</textarea><img src=x onerror=hit=1>", "שלום 🙂", String(repeating: "x", count: 10_000),
    ]

    private static let change = """
        asPage('/api/tweaks', { method: 'PATCH', headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ changes: [{ path: 'Text/Text/Value', value: given[0] }] }) })
        """

    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        for name in names {
            let help = "help of \(name) </script><script>hit=1</script><img src=x onerror=hit=1>"
            _ = Tweak(name, name, name, 5, in: 0...10, unit: "<b>u", help: help, registry: registry)
        }
        _ = Tweak("Text", "Text", "Value", "", registry: registry)
        _ = Tweak("Text", "Text", "Choice", Choice.script, registry: registry)
        tweakAction("Text", "Text", "Echo", registry: registry) { $0.joined() }
        return registry
    }

    /// Checks that no script ran and no element was made.
    private func expectNoMarkup(_ page: PanelView) throws {
        #expect(try page.ask("[typeof hit, document.scripts.length, document.images.length]") == ["undefined", 1, 0])
        try page.expect("document.querySelector('[onclick], [onload], [onerror], b, #list script') == null")
    }

    @Test func namesAreText() throws {
        try PanelHost.visit(Self.registry()) { host, page in
            for name in Self.names {
                let path = "\(name)/\(name)/\(name)"
                let parts = try page.ask("encodeURIComponent(given[0])", .string(name)).string ?? ""
                try page.browser.run("location.hash = arguments[0]", .string("#/\(parts)/\(parts)/\(parts)"))
                try page.wait("document.activeElement?.dataset.path === given[0]", .string(path))
                let help = PageValue.string("help of \(name) </script>")
                try page.wait("document.activeElement.textContent.includes(given[0])", help)
                // The control works, and the request with the path.
                try page.ask("document.activeElement.querySelector('[data-part=field]').focus()")
                try page.keys(.up)
                try host.wait(path, .int(6))
                try page.ask("document.activeElement.closest('.row').querySelector('[data-part=explain]').click()")
                try page.wait("document.activeElement.closest('.row').querySelector('tbody tr') != null")
            }
            try page.browser.run("location.hash = '#/'")
            try page.type("onerror", over: page.element("search"))
            try page.wait("listed().length >= 1")
            try page.open("history", until: "document.querySelectorAll('#pane li').length === \(Self.names.count)")
            try expectNoMarkup(page)
        }
    }

    /// Browsers remove the parts `.` and `..` from an address.
    @Test func tweaksWithDotsAsNamesCanBeOperated() throws {
        let registry = TweakRegistry()
        _ = Tweak("Odd", "..", ".", 5, in: 0...10, registry: registry)
        tweakAction("..", ".", "..", registry: registry) { "ran with \($0.joined(separator: "+"))" }
        let (odd, act) = ("Odd/../.", ".././..")
        try PanelHost.visit(registry, at: "/Odd/../.") { host, page in
            try page.wait("document.activeElement === row(given[0])", .string(odd))
            #expect(try page.browser.address == "\(host.origin)/#/Odd/../.")
            try page.click(odd, "explain")
            try page.wait("row(given[0]).querySelector('tbody tr') != null", .string(odd))
            try page.type("7", over: odd, then: .enter, sets: .int(7))
            try page.wait("row(given[0]).querySelector('tbody').textContent.includes('7')", .string(odd))
            try page.click(odd, "reset", sets: .int(5))
            try page.wait("!row(given[0]).hasAttribute('data-modified')", .string(odd))
            try page.browser.run("location.hash = '#/'")
            try page.browser.element("\(PanelView.selector(act)) .name a").click()
            try page.wait("document.activeElement === row(given[0])", .string(act))
            #expect(try page.browser.address == "\(host.origin)/#/\(act)")
            try page.click(act, "run")
            try page.wait("text(given[0], 'result') === 'ran with '", .string(act))
            try page.click(act, "offer")
            try page.type("a b", over: act, "arguments", then: .enter)
            try page.wait("text(given[0], 'result') === 'ran with a+b'", .string(act))
            try page.browser.goBack()
            try page.wait("listed().length === 2")
        }
    }

    @Test func valuesAreTextAndControlCharactersAreEscaped() throws {
        try PanelHost.visit(Self.registry()) { host, page in
            for value in Self.values {
                try page.ask(Self.change, .string(value))
                try page.wait("field('Text/Text/Value') === given[0]", .string(value))
                try page.click("Text/Text/Value", "explain")
                try page.wait("row('Text/Text/Value').querySelector('tbody') != null")
                try page.click("Text/Text/Value", "explain")
            }
            // The result of an action.
            for value in Self.values.dropLast() {
                try page.ask("part('Text/Text/Echo', 'arguments').value = JSON.stringify(given[0])", .string(value))
                try page.click("Text/Text/Echo", "run")
                try page.wait("text('Text/Text/Echo', 'result') === given[0]", .string(value))
            }
            for choice in ["<img src=x onerror=hit=1>", "\"'`&amp;"] {
                try host.registry["Text/Text/Choice"]?.set(.choice(choice))
                try page.wait("row('Text/Text/Choice').querySelector(':checked').value === given[0]", .string(choice))
            }
            try page.open("history", until: "byID('pane').textContent.includes('<script>hit=1</script>')")
            try expectNoMarkup(page)
            try page.keys(.escape)
            try page.wait("!byID('drawer').open")
            try host.registry["Text/Text/Value"]?.set(.string("abc\u{202E}def\u{2066}\u{0}\u{1B}[31m"))
            try page.wait("field('Text/Text/Value').startsWith('abc')")
            let invisible = "/[\\u202a-\\u202e\\u2066-\\u2069\\0\\x1b]/"
            try page.expect("!\(invisible).test(byID('list').textContent + field('Text/Text/Value'))")
            // Focusing and leaving the field changes nothing.
            let revision = host.registry.revision
            try page.click("Text/Text/Value", "field")
            try page.keys(.tab)
            try page.press("Text/Text/Value", "field", .enter)
            try page.wait("byID('state').textContent.includes('connected')")
            #expect(host.registry.revision == revision)
            #expect(host.value("Text/Text/Value") == .string("abc\u{202E}def\u{2066}\u{0}\u{1B}[31m"))
        }
    }

    /// The page hides the same characters as replies and logs.
    @Test func thePageHidesInvisibleCharacters() throws {
        let ranges: [ClosedRange<UInt32>] = [
            0xA0...0x3200, 0xFB00...0xFFFF, 0x1BCA0...0x1BCA4, 0x1D158...0x1D17B, 0xE0000...0xE0080, 0xE00FF...0xE01F0,
        ]
        let unsafe = ranges.flatMap { $0 }.compactMap { Unicode.Scalar($0) }.filter(Quoting.isUnsafe)
        let texts = [
            unsafe.map { "a\($0)a" }.joined(), "می\u{200C}خواهم", "क्\u{200D}ष", "क\u{200D}", "❤\u{FE0F}\u{200D}🔥",
            "1\u{FE0F}\u{20E3}", "1\u{FE0F}", "👩🏽\u{200D}🚀", "a\u{200D}🚀", "葛\u{E0100}", "é\u{200D}é",
            "❤\u{FE0F}\u{FE0F}", "a\u{E0041}", "ᠠ\u{180B}ᠠ", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "🏴\u{E0061}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "🏴\u{E0067}",
        ]
        try PanelHost.visit(Self.registry()) { _, page in
            for text in texts {
                try page.ask("part('Text/Text/Echo', 'arguments').value = JSON.stringify(given[0])", .string(text))
                try page.click("Text/Text/Echo", "run")
                try page.wait("text('Text/Text/Echo', 'result') === given[0]", .string(Quoting.sanitized(text)))
            }
        }
    }
}
