// Replays the transcript of the module's guide, and checks that its tables have every format.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.blocking) struct FoundationDocumentTests {
    private static let guide = "Sources/TweaksFoundation/TweaksFoundation.docc/TweaksFoundation.md"
    private static let transcripts = DocumentedBlock.all("transcript", of: guide)

    @Test func theTranscriptIsTrue() throws {
        let registry = TweakRegistry()
        let feed = try #require(URL(string: "https://example.com/feed"))
        _ = Tweak("Shop", "Feed", "Address", feed, registry: registry)
        _ = Tweak("Shop", "Sale", "Closes", Date(timeIntervalSince1970: 1_795_771_800), registry: registry)
        let radius = Measurement(value: 5, unit: UnitLength.kilometers)
        _ = Tweak("Shop", "Search", "Radius", radius, in: 0.1...50, registry: registry)
        #expect(Self.transcripts.count == 1)
        for block in Self.transcripts {
            try Transcript(block.text).replay(.lineByLine, with: TestServer(registry: registry).connect())
        }
    }

    @Test func theTableHasEveryFormatAndItsExample() throws {
        let text = try Document(Self.guide).text
        let formats = [
            URL.tweakFormat, Date.tweakFormat, UUID.tweakFormat, Decimal.tweakFormat, Data.tweakFormat,
            TimeZone.tweakFormat, Locale.tweakFormat,
        ].compactMap(\.self)
        #expect(formats.count == 7)
        for format in formats {
            let row = text.split(separator: "\n").first { $0.contains("| `\(format.name)` |") }
            #expect(row?.contains("`\(format.example)`") == true || row?.contains("\(format.example)`") == true)
        }
    }
}
