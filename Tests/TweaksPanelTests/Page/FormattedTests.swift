// Tests the controls of texts in a format: dates, URLs, UUIDs, decimals, data, time zones and locales.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct FormattedTests {
    private static func tweaks() throws -> TweakRegistry {
        let registry = TweakRegistry()
        _ = try registry.register("Kinds", "Basic", "URL", #require(URL(string: "https://example.com/feed")))
        _ = try registry.register("Kinds", "Basic", "Date", Date(timeIntervalSince1970: 1_795_771_800))
        _ = try registry.register("Kinds", "Basic", "Exact", Date(timeIntervalSince1970: 1_795_771_805.25))
        _ = try registry.register(
            "Kinds", "Basic", "UUID", #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")))
        _ = try registry.register("Kinds", "Basic", "Decimal", #require(Decimal(string: "19.99")))
        _ = try registry.register("Kinds", "Basic", "Data", Data("hello".utf8))
        _ = try registry.register("Kinds", "Basic", "Zone", #require(TimeZone(identifier: "Europe/Berlin")))
        _ = try registry.register("Kinds", "Basic", "Locale", Locale(identifier: "de_DE"))
        return registry
    }

    @Test func aDateIsPickedInUTCAndSentWhenItsFieldIsLeft() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            try page.wait("field('Date') === '2026-11-27T09:30' && field('Exact') === '2026-11-27T09:30:05.25'")
            #expect(
                try page.ask(
                    """
                    [part('Date', 'field').type, part('Exact', 'field').validity.valid,
                        row('Date').querySelector('.unit').textContent]
                    """) == ["datetime-local", true, "UTC"])
            // As the picker does it: an input and a change, while the field keeps the focus.
            try page.pick("2026-12-01T08:15:30", in: "Date")
            try page.press("Date", "field", .enter, sets: .string("2026-12-01T08:15:30Z"))
            try page.pick("2026-12-01T08:15", in: "Date")
            try page.focus("URL", "field")
            try host.wait("Date", .string("2026-12-01T08:15:00Z"))
            // What others set is shown in UTC, too.
            try host.set("Date", "2026-11-27T00:30:00+01:00")
            try page.wait("field('Date') === '2026-11-26T23:30'")
            try page.attachPictures("panel-formats")
        }
    }

    /// The title of a field is the time at the place of the reader, or why it cannot be changed.
    @Test func aDateThatMayNotBeChangedSaysWhy() throws {
        let reader = PanelHost.User(name: "reader", scopes: [.read])
        for (user, title) in [(PanelHost.owner, "in your time zone; the field is in UTC"), (reader, "you may not")] {
            try PanelHost.visit(Self.tweaks(), as: user) { host, page in
                try page.wait("field('Date') === '2026-11-27T09:30'")
                try page.expect("part('Date', 'field').title.includes('\(title)')")
                try host.set("Date", "2026-12-01T00:00:00Z")
                try page.wait("field('Date') === '2026-12-01T00:00'")
                try page.expect("part('Date', 'field').title.includes('\(title)')")
                try page.expect("part('Date', 'field').disabled === \(user.name == reader.name)")
            }
        }
    }

    @Test func aFieldMarksWhatDoesNotFitAndTheProcessRefusesIt() throws {
        try PanelHost.visit(Self.tweaks(), expecting: [PanelView.refused(400)]) { host, page in
            for (name, wrong, hint) in [
                ("URL", "/feed", "not an absolute URL"), ("UUID", "E621", "not a UUID"),
                ("Decimal", "1,5", "not a decimal number"), ("Data", "a b", "not base64"),
                ("Locale", "de DE", "not a locale"),
            ] {
                try page.type(wrong, over: name)
                #expect(try page.error(name).contains(hint))
                try page.expect("part('\(name)', 'field').matches(':invalid')")
                try page.press(name, "field", .escape)
                try page.wait("part(given[0], 'field').validity.valid", .string(name))
            }
            try page.type("/feed", over: "URL", "field", then: .enter)
            try page.wait("text('URL', 'error').includes('“/feed” is not an absolute URL; write one such as')")
            #expect(host.value("URL") == .string("https://example.com/feed"))
        }
    }

    @Test func eachFormatIsTypedAndShownAsItIsStored() throws {
        try PanelHost.visit(Self.tweaks()) { host, page in
            for (name, text, stored) in [
                ("URL", "https://example.com/news", "https://example.com/news"),
                ("UUID", "00000000-c36c-495a-93fc-0c247a3e6e5f", "00000000-C36C-495A-93FC-0C247A3E6E5F"),
                ("Decimal", "20.50", "20.5"), ("Data", "aGk", "aGk="), ("Zone", "Asia/Tokyo", "Asia/Tokyo"),
                ("Locale", "en-GB", "en_GB"),
            ] {
                try page.type(text, over: name, "field", then: .enter, sets: .string(stored))
                try page.wait("field(given[0]) === given[1]", .string(name), .string(stored))
            }
            #expect(try page.ask("part('URL', 'field').type") == "url")
            try page.expect("document.querySelector('#time-zones option[value=\"Asia/Tokyo\"]') != null")
        }
    }
}

extension PanelView {
    /// Sets a field as a picker does, which a driver cannot open.
    fileprivate func pick(_ text: String, in name: String) throws {
        try focus(name, "field")
        try browser.run(
            """
            arguments[0].value = arguments[1];
            for (const name of ['input', 'change']) arguments[0].dispatchEvent(new Event(name, { bubbles: true }));
            """, part(name, "field").value, .string(text))
    }
}
