// Declares a tweak of every type of Foundation.

import Foundation
import Testing
import Tweaks
import TweaksFoundation

/// Tweaks in `Kind/Of`.
struct FoundationTweaks {
    let registry = TweakRegistry()
    let url: Tweak<URL>
    let date: Tweak<Date>
    let uuid: Tweak<UUID>
    let decimal: Tweak<Decimal>
    let data: Tweak<Data>
    let zone: Tweak<TimeZone>
    let locale: Tweak<Locale>
    let urls: Tweak<[URL]>
    let maybe: Tweak<Date?>

    init() throws {
        url = try registry.register("Kind", "Of", "URL", #require(URL(string: "https://example.com/")))
        date = try registry.register("Kind", "Of", "Date", Date(timeIntervalSince1970: 0))
        uuid = try registry.register("Kind", "Of", "UUID", UUID())
        decimal = try registry.register("Kind", "Of", "Decimal", 1)
        data = try registry.register("Kind", "Of", "Data", Data())
        zone = try registry.register("Kind", "Of", "Zone", TimeZone.gmt)
        locale = try registry.register("Kind", "Of", "Locale", Locale(identifier: "en"))
        urls = try registry.register("Kind", "Of", "URLs", [#require(URL(string: "https://a.example"))])
        maybe = try registry.register("Kind", "Of", "Maybe", nil as Date?)
    }

    func tweak(_ name: String) throws -> AnyTweak { try #require(registry["Kind/Of/\(name)"]) }

    /// The text of a tweak's value, without quotes.
    func text(_ name: String) throws -> String {
        guard case .string(let text)? = try tweak(name).value else { return try tweak(name).value?.text ?? "" }
        return text
    }
}
