// Names, help, units, choices and values that would like to be markup: they are text.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct HostileTextTests {
    private enum Choice: String, CaseIterable, TweakConvertible {
        case script = "<script>hit=1</script>"
        case image = "<img src=x onerror=hit=1>"
        case quotes = "\"'`&amp;"
    }

    /// Names that a path may have.
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

    private func host() throws -> PanelHost {
        let registry = TweakRegistry()
        for name in Self.names {
            let help = "help of \(name) </script><script>hit=1</script><img src=x onerror=hit=1>"
            _ = Tweak(name, name, name, 5, in: 0...10, unit: "<b>u", help: help, registry: registry)
        }
        _ = Tweak("Text", "Text", "Value", "", registry: registry)
        _ = Tweak("Text", "Text", "Choice", Choice.script, registry: registry)
        tweakAction("Text", "Text", "Echo", registry: registry) { $0.joined() }
        return try PanelHost(registry)
    }

    /// Nothing has run, and nothing became an element.
    private func expectPeace(_ page: PanelView) throws {
        #expect(try page.ask("[typeof hit, document.scripts.length, document.images.length]") == ["undefined", 1, 0])
        #expect(
            try page.ask("document.querySelectorAll('[onclick], [onload], [onerror], b, #list script').length") == 0)
    }

    @Test func namesAreText() throws {
        let host = try host()
        try host.visit { page in
            for name in Self.names {
                let path = "\(name)/\(name)/\(name)"
                // An address for each.
                let parts = try page.ask("encodeURIComponent(given[0])", .string(name)).string ?? ""
                try page.browser.run("location.hash = arguments[0]", .string("#/\(parts)/\(parts)/\(parts)"))
                try page.wait("document.activeElement?.dataset.path === given[0]", .string(path))
                try page.wait(
                    "document.activeElement.textContent.includes(given[0])", .string("help of \(name) </script>"))
                // Its control works, and so does what is asked of the server by its path.
                try page.ask("document.activeElement.querySelector('[data-part=field]').focus()")
                try page.browser.perform(.keys(.up))
                try host.wait(path, .int(6))
                try page.ask("document.activeElement.closest('.row').querySelector('[data-part=explain]').click()")
                try page.wait("document.activeElement.closest('.row').querySelector('tbody tr') != null")
            }
            try page.browser.run("location.hash = '#/'")
            try page.type("onerror", over: page.element("search"))
            try page.wait("listed().length >= 1")
            try page.element("history").click()
            try page.wait("document.querySelectorAll('#pane li').length === given[0]", .init(Self.names.count))
            try expectPeace(page)
        }
    }

    /// Browsers take the parts `.` and `..` out of an address; such tweaks can be handled all the same.
    @Test func namesThatNoAddressCanHold() throws {
        let registry = TweakRegistry()
        _ = Tweak("Odd", "..", ".", 5, in: 0...10, registry: registry)
        tweakAction("..", ".", "..", registry: registry) { "ran with \($0.joined(separator: "+"))" }
        let (host, odd, act) = (try PanelHost(registry), "Odd/../.", ".././..")
        try host.visit(at: "/Odd/../.") { page in
            try page.wait("document.activeElement === row(given[0])", .string(odd))
            #expect(try page.browser.address == "\(host.origin)/#/Odd/../.")
            try page.click(odd, "explain")
            try page.wait("row(given[0]).querySelector('tbody tr') != null", .string(odd))
            try page.type("7", over: odd, then: .enter)
            try host.wait(odd, .int(7))
            try page.wait("row(given[0]).querySelector('tbody').textContent.includes('7')", .string(odd))
            try page.click(odd, "reset")
            try host.wait(odd, .int(5))
            try page.wait("!row(given[0]).hasAttribute('data-modified')", .string(odd))
            // From one to the other by its link, and back.
            try page.browser.run("location.hash = '#/'")
            try page.browser.element("\(PanelView.selector(act)) .title a").click()
            try page.wait("document.activeElement === row(given[0])", .string(act))
            #expect(try page.browser.address == "\(host.origin)/#/\(act)")
            try page.click(act, "run")
            try page.wait("text(given[0], 'result') === 'ran with '", .string(act))
            try page.type("a b", over: act, "arguments", then: .enter)
            try page.wait("text(given[0], 'result') === 'ran with a+b'", .string(act))
            try page.browser.goBack()
            try page.wait("listed().length === 2")
        }
    }

    @Test func valuesAreText() throws {
        let host = try host()
        try host.visit { page in
            for value in Self.values {
                try page.ask(Self.change, .string(value))
                try page.wait("field('Text/Text/Value') === given[0]", .string(value))
                try page.click("Text/Text/Value", "explain")
                try page.wait("row('Text/Text/Value').querySelector('tbody') != null")
                try page.click("Text/Text/Value", "explain")
            }
            // What comes back from an action, and what is refused.
            for value in Self.values.dropLast() {
                try page.ask("part('Text/Text/Echo', 'arguments').value = JSON.stringify(given[0])", .string(value))
                try page.click("Text/Text/Echo", "run")
                try page.wait("text('Text/Text/Echo', 'result') === given[0]", .string(value))
            }
            for choice in ["<img src=x onerror=hit=1>", "\"'`&amp;"] {
                try host.registry["Text/Text/Choice"]?.set(.choice(choice))
                try page.wait("row('Text/Text/Choice').querySelector(':checked').value === given[0]", .string(choice))
            }
            try page.element("history").click()
            try page.wait("document.getElementById('pane').textContent.includes('<script>hit=1</script>')")
            try expectPeace(page)
        }
    }

    /// Characters that turn the text around them are shown as such, and do nothing to it.
    @Test func nothingTurnsTheTextAround() throws {
        let host = try host()
        try host.visit { page in
            try host.registry["Text/Text/Value"]?.set(.string("abc\u{202E}def\u{2066}\u{0}\u{1B}[31m"))
            try page.wait("field('Text/Text/Value').startsWith('abc')")
            #expect(
                try page.ask(
                    "/[\\u202a-\\u202e\\u2066-\\u2069\\0\\x1b]/.test(document.getElementById('list').textContent + field('Text/Text/Value'))"
                ) == false)
            // To look at it changes nothing.
            let revision = host.registry.revision
            try page.click("Text/Text/Value", "field")
            try page.browser.perform(.keys(.tab))
            try page.press("Text/Text/Value", "field", .enter)
            try page.wait("document.getElementById('state').textContent.includes('connected')")
            #expect(host.registry.revision == revision)
            #expect(host.value("Text/Text/Value") == .string("abc\u{202E}def\u{2066}\u{0}\u{1B}[31m"))
        }
    }
}
