// Tests that texts of each format make values, and become their canonical text.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FormattedTextTests {
    /// The name of the tweak, a text, and the text that it becomes.
    static let texts: [(name: String, text: String, canonical: String)] = [
        ("URL", "https://example.com/feed?a=b#c", "https://example.com/feed?a=b#c"),
        ("URL", "HTTP://Example.com", "HTTP://Example.com"), ("URL", "http://[::1]:80/", "http://[::1]:80/"),
        ("URL", "mailto:a@example.com", "mailto:a@example.com"), ("URL", "file:///tmp/x", "file:///tmp/x"),
        ("URL", "com.example.app:/oauth", "com.example.app:/oauth"), ("URL", "tel:112", "tel:112"),
        ("URL", "sms:12345", "sms:12345"), ("URL", "sms:12345?body=x", "sms:12345?body=x"),
        ("Date", "2026-11-27T09:30:00Z", "2026-11-27T09:30:00Z"),
        ("Date", "2026-11-27t09:30:00z", "2026-11-27T09:30:00Z"),
        ("Date", "2026-11-27T09:30:00.250Z", "2026-11-27T09:30:00.250Z"),
        ("Date", "2026-11-27T09:30:00.2501239Z", "2026-11-27T09:30:00.250Z"),
        ("Date", "2026-11-27T09:30:00.000Z", "2026-11-27T09:30:00Z"),
        ("Date", "2026-11-27T00:30:00+01:00", "2026-11-26T23:30:00Z"),
        ("Date", "2026-12-31T23:30:00.5-05:45", "2027-01-01T05:15:00.500Z"),
        ("Date", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("Date", "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("Date", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("UUID", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
        ("Decimal", "19.90", "19.9"), ("Decimal", "-0.1", "-0.1"), ("Decimal", "1e3", "1000"), ("Decimal", "-0", "0"),
        ("Decimal", "0.1000000000000000000000000000000000001", "0.1000000000000000000000000000000000001"),
        ("Data", "aGVsbG8=", "aGVsbG8="), ("Data", "aGVsbG8", "aGVsbG8="), ("Data", "-_8=", "+/8="), ("Data", "", ""),
        ("Zone", "Europe/Berlin", "Europe/Berlin"), ("Zone", "GMT+2", "GMT+0200"),
        ("Locale", "de_DE", "de_DE"), ("Locale", "de-de", "de_DE"), ("Locale", "zh-Hans-CN", "zh_Hans_CN"),
        ("Locale", "en_001", "en_001"), ("Locale", "en_US_POSIX", "en_US_POSIX"),
        ("Locale", "de-DE-u-ca-buddhist", "de_DE@calendar=buddhist"),
        (
            "URLs", "[https://a.example, \"https://b.example/2,3\"]",
            "[\"https://a.example\", \"https://b.example/2,3\"]"
        ),
        ("Maybe", "2026-11-27T10:30:00+01:00", "2026-11-27T09:30:00Z"), ("Maybe", "none", "none"),
    ]

    @Test(arguments: texts) func aTextBecomesTheTextOfItsValue(name: String, text: String, canonical: String) throws {
        let tweaks = try FoundationTweaks()
        try tweaks.tweak(name).set(text: text)
        #expect(try tweaks.text(name) == canonical)
        // The canonical text is its own.
        let other = try FoundationTweaks()
        try other.tweak(name).set(text: canonical)
        #expect(try other.tweak(name).value == tweaks.tweak(name).value)
    }

    @Test func clientsAndFilesSetTheSame() throws {
        let (tweaks, fromFile) = (try FoundationTweaks(), try FoundationTweaks())
        let client = try TestServer(registry: tweaks.registry).connect()
        for (name, text, canonical) in Self.texts {
            let quoted = name == "URLs" ? text : TweakValue.string(text).text
            let reply = try client.ask("set Kind/Of/\(name) \(quoted)")
            #expect(try reply.last?.hasPrefix("ok") == true && tweaks.text(name) == canonical, "\(reply)")
            let file = ConfigFile(Array("Kind/Of/\(name) = \(quoted)\n".utf8), name: "a.conf")
            let entry = try #require(file.entries.first)
            try fromFile.tweak(name).set(text: entry.text)
            #expect(try fromFile.text(name) == canonical)
        }
    }

    /// The name of the tweak, a text, and the error after the path.
    static let refusals: [(name: String, text: String, error: String)] = [
        ("URL", "/feed", "“/feed” is not an absolute URL; write one such as https://example.com/feed"),
        ("URL", "", "“” is not an absolute URL; write one such as https://example.com/feed"),
        ("URL", "localhost:8080", "“localhost:8080” is not an absolute URL"),
        ("URL", "localhost:8080?x=1", "is not an absolute URL"), ("URL", "LocalHost:80#x", "is not an absolute URL"),
        ("URL", "example.com:443/x", "is not an absolute URL"), ("URL", "https://a b/", "is not an absolute URL"),
        ("URL", "https:example.com", "is not an absolute URL"), ("URL", "http://", "is not an absolute URL"),
        ("URL", "https:///x", "is not an absolute URL"), ("URL", "https://a/%zz", "is not an absolute URL"),
        ("Date", "2026-11-27", "“2026-11-27” is not a time of RFC 3339; write one such as 2026-11-27T09:30:00Z"),
        ("Date", "2026-02-30T00:00:00Z", "is not a time"), ("Date", "2026-11-27T24:00:00Z", "is not a time"),
        ("Date", "2026-11-27T09:30:00", "is not a time"), ("Date", "2026-11-27T09:30:00+1:00", "is not a time"),
        ("Date", "2026-11-27T09:30:00+24:00", "is not a time"), ("Date", "tomorrow", "is not a time"),
        ("Date", "0000-01-01T00:00:00+01:00", "is not a time"), ("Date", "9999-12-31T23:59:59-00:01", "is not a time"),
        ("Date", "", "is not a time"), ("Date", "+01:00", "is not a time"),
        ("UUID", "E621E1F8", "“E621E1F8” is not a UUID; write one such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
        ("UUID", "{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}", "is not a UUID"),
        ("Decimal", "1,5", "“1,5” is not a decimal number of at most 38 digits; write one such as 19.99"),
        ("Decimal", "0.123456789012345678901234567890123456789012345", "is not a decimal"),
        ("Decimal", "1e200", "is not a decimal"), ("Decimal", "1e-130", "is not a decimal"),
        ("Decimal", "NaN", "is not a decimal"), ("Decimal", "", "is not a decimal"), ("Decimal", "5 EUR", "is not"),
        ("Data", "a", "“a” is not base64 of at most 32 KiB; write one such as aGVsbG8="),
        ("Data", "aGVs bG8=", "is not base64"), ("Data", "äöü", "is not base64"),
        ("Zone", "Mars/Base", "“Mars/Base” is not a known time zone; write one such as Europe/Berlin"),
        ("Zone", "", "is not a known time zone"), ("Zone", "../../etc/passwd", "is not a known time zone"),
        ("Locale", "german", "“german” is not a locale; write one such as de_DE"), ("Locale", "", "is not a locale"),
        ("Locale", "hello world", "is not a locale"), ("Locale", "de_Q", "is not a locale"),
        ("Locale", "und", "is not a locale"), ("Locale", "de_DE\u{0}", "is not a locale"),
        ("URLs", "[https://a.example, feed]", "“feed” is not an absolute URL"),
        ("Maybe", "soon", "“soon” is not a time of RFC 3339"),
    ]

    @Test(arguments: refusals) func aTextThatMeansNothingIsRefused(name: String, text: String, error: String) throws {
        let tweaks = try FoundationTweaks()
        let before = try tweaks.tweak(name).value
        let thrown = #expect(throws: TweakError.self) { try tweaks.tweak(name).set(text: text) }
        #expect(thrown?.code == .badValue && thrown?.message.hasPrefix("Kind/Of/\(name): ") == true)
        #expect(thrown?.message.contains(error) == true, "\(thrown?.message ?? "")")
        #expect(try tweaks.tweak(name).value == before)
    }

    @Test func dataHasAtMost32KiB() throws {
        let tweaks = try FoundationTweaks()
        let largest = Data(repeating: 7, count: 32_768)
        let server = try TestServer(registry: tweaks.registry)
        let reply = try server.connect().ask("set Kind/Of/Data \(largest.base64EncodedString())")
        #expect(reply.last == "ok rev 1" && tweaks.data.value == largest)
        let error = #expect(throws: TweakError.self) { try tweaks.data.set(largest + [7]) }
        #expect(error?.message.hasSuffix(" is not base64 of at most 32 KiB; write one such as aGVsbG8=") == true)
        #expect((error?.message.count ?? .max) < 300)
        #expect(tweaks.data.value == largest)
    }

    @Test func theErrorForAnotherKindSaysHowToWriteIt() throws {
        let tweaks = try FoundationTweaks()
        let error = #expect(throws: TweakError.self) { try tweaks.url.erased.set(.number(5)) }
        #expect(
            error?.message
                == "Kind/Of/URL is a string, not a number; write an absolute URL such as https://example.com/feed")
    }

    @Test func aSecretTextIsNotInTheError() throws {
        let registry = TweakRegistry()
        let url = try #require(URL(string: "https://u:p@example.com"))
        let tweak = try registry.register("A", "B", "C", url, flags: .secret)
        let error = #expect(throws: TweakError.self) { try tweak.erased.set(text: "hush") }
        #expect(error?.message == "A/B/C: the value is not an absolute URL; write one such as https://example.com/feed")
    }
}
