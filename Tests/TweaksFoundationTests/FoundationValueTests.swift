// Tests that a program reads and sets values of Foundation's types, and how listings describe them.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.blocking) struct FoundationValueTests {
    private let tweaks: FoundationTweaks

    init() throws { tweaks = try FoundationTweaks() }

    @Test func theProgramReadsWhatAClientSets() throws {
        let client = try TestServer(registry: tweaks.registry).connect()
        for (name, text) in [
            ("URL", "https://example.com/a"), ("Date", "2026-11-27T10:30:00.123+01:00"),
            ("UUID", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"), ("Decimal", "19.99"), ("Data", "aGVsbG8"),
            ("Zone", "Europe/Berlin"), ("Locale", "de-DE"), ("URLs", "[https://a.example,https://b.example]"),
            ("Maybe", "2026-11-27T09:30:00Z"),
        ] { #expect(try client.ask("set Kind/Of/\(name) \(text)").last?.hasPrefix("ok") == true, "\(name)") }
        #expect(tweaks.url.value == URL(string: "https://example.com/a"))
        #expect(tweaks.date.value == Date(timeIntervalSince1970: 1_795_771_800.123))
        #expect(tweaks.uuid.value == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(tweaks.decimal.value == Decimal(string: "19.99"))
        #expect(tweaks.data.value == Data("hello".utf8))
        #expect(tweaks.zone.value == TimeZone(identifier: "Europe/Berlin"))
        #expect(tweaks.locale.value == Locale(identifier: "de_DE"))
        #expect(tweaks.urls.value.map(\.absoluteString) == ["https://a.example", "https://b.example"])
        #expect(tweaks.maybe.value == Date(timeIntervalSince1970: 1_795_771_800))
    }

    @Test func clientsReadWhatTheProgramSets() throws {
        tweaks.date.value = Date(timeIntervalSince1970: 1_795_771_800.123_456)
        #expect(try tweaks.text("Date") == "2026-11-27T09:30:00.123Z")
        #expect(tweaks.date.value == Date(timeIntervalSince1970: 1_795_771_800.123))
        tweaks.url.value = try #require(URL(string: "b", relativeTo: URL(string: "https://example.com/a/")))
        #expect(try tweaks.text("URL") == "https://example.com/a/b")
        tweaks.locale.value = Locale(identifier: "de-DE")
        #expect(try tweaks.text("Locale") == "de_DE")
        tweaks.maybe.value = nil
        #expect(tweaks.maybe.value == nil && tweaks.maybe.erased.value == .notSet)
    }

    @Test func whatHasNoTextIsRefusedAndChangesNothing() throws {
        let dates = [Date.distantFuture + 1e12, Date(timeIntervalSince1970: .nan), Date(timeIntervalSince1970: -1e300)]
        for date in dates {
            #expect(throws: TweakError.self) { try tweaks.date.set(date) }
            tweaks.date.value = date
        }
        #expect(tweaks.date.value == Date(timeIntervalSince1970: 0))
        #expect(throws: TweakError.self) { try tweaks.decimal.set(.nan) }
        #expect(throws: TweakError.self) { try tweaks.url.set(#require(URL(string: "feed"))) }
        try tweaks.date.set(.distantPast)
        #expect(tweaks.date.value == .distantPast)
    }

    @Test func aDefaultIsReadAsItIsWritten() throws {
        let registry = TweakRegistry()
        let now = Date(timeIntervalSince1970: 1_795_771_800.123_456)
        let date = Tweak("A", "B", "Date", now, registry: registry)
        #expect(date.value == Date(timeIntervalSince1970: 1_795_771_800.123) && date.defaultValue == date.value)
        let dates = Tweak("A", "B", "Dates", [now], registry: registry)
        #expect(dates.value == [date.value])
        let zone = Tweak("A", "B", "Zone", TimeZone.autoupdatingCurrent, registry: registry)
        #expect(zone.value.identifier == TimeZone.current.identifier && !zone.isModified)
        let error = #expect(throws: TweakError.self) {
            try registry.register("A", "B", "Relative", #require(URL(string: "feed")))
        }
        #expect(error?.message.hasPrefix("the default of A/B/Relative: “feed” is not an absolute URL") == true)
    }

    @Test func aValueOfAnotherSpellingIsNoChange() throws {
        let outcome = try tweaks.uuid.erased.set(text: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(outcome.didChange)
        #expect(try !tweaks.uuid.erased.set(text: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f").didChange)
    }

    @Test func observersReceiveTheTypedValues() throws {
        let seen = Recorder<String>()
        let observation = tweaks.date.observe { seen.note("\($0.old.tweakText) \($0.new.tweakText)") }
        try tweaks.date.erased.set(text: "2026-11-27T10:30:00+01:00")
        #expect(seen.all == ["1970-01-01T00:00:00Z 2026-11-27T09:30:00Z"])
        observation.cancel()
    }

    @Test func choicesAndChecksApplyToTheText() throws {
        let registry = TweakRegistry()
        let urls = try ["https://a.example", "https://b.example"].map { try #require(URL(string: $0)) }
        let choice = Tweak("A", "B", "Choice", urls[0], choices: urls, registry: registry)
        try choice.erased.set(text: "https://b.example")
        #expect(choice.value == urls[1] && choice.erased.kind == .choice && choice.erased.format == nil)
        let secure = Tweak(
            "A", "B", "Secure", urls[0], validate: { $0.hasPrefix("https:") ? nil : "use https" }, registry: registry)
        let error = #expect(throws: TweakError.self) { try secure.erased.set(text: "http://a.example") }
        #expect(error?.message == "A/B/Secure: use https")
    }

    @Test func choicesAreReadAsTheyAreWritten() throws {
        let registry = TweakRegistry()
        let german = Locale(identifier: "de_DE")
        let locale = Tweak(
            "A", "B", "Locale", Locale.autoupdatingCurrent, choices: [.autoupdatingCurrent, german], registry: registry)
        #expect(locale.value == Locale(identifier: locale.value.tweakText) && !locale.isModified)
        try locale.erased.set(text: "de_DE")
        #expect(locale.value == german)
        let exact = Date(timeIntervalSince1970: 1_795_771_800.123_456)
        let dates = Tweak(
            "A", "B", "Date", exact, choices: [exact: "then", .distantPast: "long ago"], registry: registry)
        #expect(dates.value == Date(timeIntervalSince1970: 1_795_771_800.123))
        #expect(dates.choices.map(\.label) == ["then", "long ago"] && dates.choices[0].value == dates.value)
        try dates.set(.distantPast)
        dates.value = exact
        #expect(dates.value == dates.defaultValue)
    }

    @Test func describeNamesTheFormat() throws {
        let client = try TestServer(registry: tweaks.registry).connect()
        let formats = [
            ("URL", "uri"), ("Date", "date-time"), ("UUID", "uuid"), ("Decimal", "decimal"), ("Data", "byte"),
            ("Zone", "time-zone"), ("Locale", "locale"),
        ]
        for (name, format) in formats {
            #expect(try tweaks.tweak(name).format?.name == format)
            #expect(try client.ask("get Kind/Of/\(name)").first?.contains("# string \(format)") == true)
        }
        #expect(try client.ask("get Kind/Of/URLs").first?.contains("# list of string uri") == true)
        try client.send("json\nget Kind/Of/Date\nget Kind/Of/Maybe\n")
        _ = try client.line()
        let (date, maybe) = (try client.line(), try client.line())
        #expect(date.contains(#""kind":"string","value":"1970-01-01T00:00:00Z""#))
        #expect(date.contains(#""format":"date-time""#) && maybe.contains(#""of":"string","format":"date-time""#))
    }

    @Test(.enabled(if: SwiftCompiler.isAvailable, SwiftCompiler.missing)) func aTextHasNoRange() throws {
        let errors = try SwiftCompiler.errors(
            in: """
                import Foundation
                import Tweaks
                import TweaksFoundation
                let tweak = Tweak("A", "B", "C", Date(), in: Date()...Date())
                """)
        #expect(errors.count == 1 && errors[0].contains("texts such as URLs and dates have no range"), "\(errors)")
    }
}
