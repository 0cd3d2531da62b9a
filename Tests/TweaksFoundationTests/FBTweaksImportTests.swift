// Tests that values of FBTweaks in the user defaults become overrides.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.blocking) struct FBTweaksImportTests {
    /// User defaults of one test, which are removed after it.
    private final class Defaults {
        let name = "tweaks.\(UUID().uuidString)"
        let values: UserDefaults

        init() throws { values = try #require(UserDefaults(suiteName: name)) }
        deinit { values.removePersistentDomain(forName: name) }
    }

    private let registry = TweakRegistry()
    private let defaults: Defaults

    init() throws { defaults = try Defaults() }

    private func store(_ value: Any, _ path: String) {
        defaults.values.set(value, forKey: "FBTweak:" + path.replacing("/", with: "-"))
    }

    private func archive(_ object: Any?) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    @Test func numbersTextsAndArchivesBecomeOverridesInOneCommit() throws {
        let flag = Tweak("A", "B", "Flag", false, registry: registry)
        let count = Tweak("A", "B", "Count", 1, in: 0...10, registry: registry)
        let size = Tweak("A", "B", "Size", 60.0, in: 10...100, step: 0.5, registry: registry)
        let alpha = Tweak("A", "B", "Alpha", 1.0, in: 0...1, registry: registry)
        let title = Tweak("A", "B", "Title", "", registry: registry)
        let fade = Tweak("A", "B", "Fade", .milliseconds(250), registry: registry)
        let level = Tweak("A", "B", "Level", 1, choices: [0: "quiet", 1: "normal"], registry: registry)
        let color = Tweak("A", "B", "Color", TweakColor.black, registry: registry)
        let gray = Tweak("A", "B", "Gray", TweakColor.black, registry: registry)
        let base = Tweak("A", "B", "Base", try #require(URL(string: "https://a.example")), registry: registry)
        let limit = Tweak<Int?>("A", "B", "Limit", nil, registry: registry)
        store(true, "A/B/Flag")
        store(archive(NSNumber(value: 5)), "A/B/Count")
        store(72.5, "A/B/Size")
        store(Float(0.1), "A/B/Alpha")
        store(archive("Hi" as NSString), "A/B/Title")
        store(0.3, "A/B/Fade")
        store(0, "A/B/Level")
        store(try #require(Data(base64Encoded: UIKitColor.orange)), "A/B/Color")
        store(try #require(Data(base64Encoded: UIKitColor.white)), "A/B/Gray")
        store("https://b.example", "A/B/Base")
        store(7, "A/B/Limit")

        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(report.refused.isEmpty && report.unknown.isEmpty && report.leftAlone.isEmpty, "\(report)")
        #expect(report.imported.count == 11 && registry.revision == 1)
        #expect(flag.value && count.value == 5 && size.value == 72.5 && alpha.value == 0.1 && title.value == "Hi")
        #expect(fade.value == .milliseconds(300) && level.value == 0 && limit.value == 7)
        #expect("\(color.value)" == "#FF8800FF" && "\(gray.value)" == "#FFFFFF80")
        #expect(base.value.absoluteString == "https://b.example")
        #expect(size.erased.layers.last?.origin == TweakOrigin("FBTweaks"))
        // In the history it is one step, which undo takes back.
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("history 1").contains { $0.contains("FBTweaks") })
        #expect(try client.ask("undo").last?.hasPrefix("ok rev 2 undid 1") == true)
        #expect(size.value == 60)
    }

    @Test func whatDoesNotFitIsReportedAndChangesNothing() throws {
        let size = Tweak("A", "B", "Size", 60.0, in: 10...100, registry: registry)
        let flag = Tweak("A", "B", "Flag", false, registry: registry)
        let count = Tweak("A", "B", "Count", 1, registry: registry)
        let fade = Tweak("A", "B", "Fade", .zero, registry: registry)
        let good = Tweak("A", "B", "Good", 1, registry: registry)
        _ = Tweak("A", "B", "Figure", 0, flags: .readOnly, registry: registry)
        let action = tweakAction("A", "B", "Action", registry: registry) { _ in "" }
        _ = Tweak("A", "B", "Broken", 0, registry: registry)
        _ = Tweak("A", "B", "Other", 0, registry: registry)
        _ = Tweak("A", "B", "Date", 0, registry: registry)
        _ = Tweak("A", "B", "Pattern", TweakColor.black, registry: registry)
        store(500, "A/B/Size")
        store("maybe", "A/B/Flag")
        store(1.5, "A/B/Count")
        store(1e300, "A/B/Fade")
        store(2, "A/B/Good")
        store(1, "A/B/Figure")
        store(1, "A/B/Action")
        store(Data("not an archive".utf8), "A/B/Broken")
        store(archive(NSURL(string: "https://a.example") as Any), "A/B/Other")
        store(Date(), "A/B/Date")
        store(try #require(Data(base64Encoded: UIKitColor.pattern)), "A/B/Pattern")
        store(1, "No/Such/Tweak")
        defaults.values.set(1, forKey: "Unrelated")
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(report.imported == [good.path] && report.unknown == ["FBTweak:No-Such-Tweak"])
        let reasons = Dictionary(uniqueKeysWithValues: report.refused.map { ($0.path?.name ?? "", $0.message) })
        #expect(reasons["Size"] == "A/B/Size: 500 is outside 10...100")
        #expect(reasons["Flag"]?.contains("write true or false") == true)
        #expect(reasons["Count"]?.hasPrefix("A/B/Count is an int, not a number") == true)
        #expect(reasons["Fade"]?.contains("do not fit in 64 bits of nanoseconds") == true)
        #expect(reasons["Figure"] == "A/B/Figure: it is a figure, which only the program sets")
        #expect(reasons["Action"] == "A/B/Action: it is an action and has no value")
        let unreadable = "its archive holds neither a number, a text nor a color; set it by hand"
        #expect(reasons["Broken"] == "A/B/Broken: \(unreadable)" && reasons["Other"] == "A/B/Other: \(unreadable)")
        #expect(reasons["Pattern"] == "A/B/Pattern: \(unreadable)")
        #expect(reasons["Date"]?.hasSuffix("is stored; set it by hand") == true)
        #expect(reasons.count == 10 && report.leftAlone.isEmpty)
        #expect(size.value == 60 && !flag.value && count.value == 1 && fade.value == .zero && good.value == 2)
        #expect("\(report)".hasPrefix("imported A/B/Good\nrefused A/B/"))
        withExtendedLifetime(action) {}
    }

    @Test func anOverrideAndAResetValueAreLeftAlone() throws {
        let size = Tweak("A", "B", "Size", 60.0, registry: registry)
        let title = Tweak("A", "B", "Title", "same", registry: registry)
        let gone = Tweak("A", "B", "Gone", 1, registry: registry)
        try size.set(50)
        store(72.0, "A/B/Size")
        store("same", "A/B/Title")
        store(archive(nil), "A/B/Gone")
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(Set(report.leftAlone) == [size.path, title.path, gone.path] && report.refused.isEmpty, "\(report)")
        #expect(size.value == 50 && registry.revision == 1 && title.erased.layers.count == 1)
        // A second import changes nothing either.
        #expect(try registry.importFBTweaks(from: defaults.values).imported.isEmpty)
    }

    @Test func aKeyIsLookedUpByPathAndByFormerPath() throws {
        let new = Tweak("Label", "Text", "Point-Size", 60.0, formerly: "Main/Old-Text/Size", registry: registry)
        let (one, two) = (Tweak("X-Y", "Z", "N", 1, registry: registry), Tweak("X", "Y-Z", "N", 1, registry: registry))
        store(30, "Main/Old-Text/Size")
        store(2, "X/Y/Z/N")
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(new.value == 30 && report.imported == [new.path])
        #expect(one.value == 1 && two.value == 1 && report.refused.count == 2)
        #expect(report.refused[0].message.contains("the key FBTweak:X-Y-Z-N is also that of"))
    }
}

extension FBTweaksImportTests {
    @Test func theCurrentPathComesBeforeTheFormerOne() throws {
        // Of the keys, the former one is the first in the alphabet, and the last.
        let (first, last) = (
            Tweak("B", "C", "N", 1, formerly: "A/C/N", registry: registry),
            Tweak("Y", "C", "N", 1, formerly: "Z/C/N", registry: registry)
        )
        for (path, value) in [("A/C/N", 2), ("B/C/N", 3), ("Y/C/N", 3), ("Z/C/N", 2)] { store(value, path) }
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(first.value == 3 && last.value == 3)
        #expect(report.imported == [first.path, last.path] && report.refused.isEmpty && report.unknown.isEmpty)
        #expect(report.leftAlone.map(\.description) == ["A/C/N", "Z/C/N"])
    }

    @Test func aFormerPathWithTheSameKeyIsTheSameKey() throws {
        let tweak = Tweak("A", "B-C", "N", 1, formerly: "A-B/C/N", registry: registry)
        store(2, "A/B-C/N")
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(tweak.value == 2 && report.imported == [tweak.path] && report.leftAlone.isEmpty)
    }

    /// The objects of an archive after the one that stands for nil, and the text that is read; nil if it is refused.
    private static var archives: [(objects: [[String: Any]], text: String?)] {
        [
            ([["NS.string": "Hi"], ["$classname": "NSMutableString"]], "Hi"),
            ([["NS.string": 5], ["$classname": "NSString"]], nil), ([[:], ["$classname": "NSString"]], nil),
            ([["NS.string": "Hi"], ["$classhints": ["NSString"]]], nil),
            ([["NS.string": "Hi"], ["$classname": 5, "$classhints": ["NSString"]]], nil),
            ([["NS.string": "Hi"], ["$classname": "NSString"], ["$classname": "NSURL"]], nil),
            ([["UIRed": 1.0, "UIGreen": 0.0, "UIBlue": 0.0], ["$classname": "UIColor"]], "#FF0000FF"),
            ([["UIRed": Double.nan, "UIGreen": 9.0, "UIBlue": -1], ["$classname": "UIColor"]], "#00FF00FF"),
            ([["UIRed": "1", "UIGreen": 0.0, "UIBlue": 0.0], ["$classname": "UIColor"]], nil),
            ([["UIRed": 1.0], ["$classname": "UIColor"]], nil), ([[:]], nil),
        ]
    }

    @Test(arguments: archives.indices) func anArchiveIsReadWithoutTrustInIt(index: Int) throws {
        let (objects, text) = Self.archives[index]
        let isColor = text?.hasPrefix("#") == true
        let tweak =
            isColor
            ? Tweak("A", "B", "N", TweakColor.black, registry: registry).erased
            : Tweak("A", "B", "N", "", registry: registry).erased
        store(try list(["$top": ["root": 1], "$objects": ["$null"] + objects]), "A/B/N")
        let report = try registry.importFBTweaks(from: defaults.values)
        #expect(report.imported.count == (text == nil ? 0 : 1) && report.refused.count == (text == nil ? 1 : 0))
        #expect(tweak.value?.text == (text.map { isColor ? $0 : TweakValue.string($0).text } ?? "\"\""))
    }

    @Test func whatIsNoArchiveIsRefused() throws {
        _ = Tweak("A", "B", "N", 1, registry: registry)
        let lists: [[String: Any]] = [
            ["$top": ["root": 1], "$objects": []], ["$top": ["root": 1], "$objects": 5], ["$top": ["root": 1]],
            ["$top": ["other": 1], "$objects": ["$null", 5]], ["$objects": ["$null", 5]],
            ["$top": ["root": 1], "$objects": [5, 5]], ["$top": ["root": 1], "$objects": ["$null", [5]]],
        ]
        for entries in lists {
            store(try list(entries), "A/B/N")
            #expect(try registry.importFBTweaks(from: defaults.values).refused.count == 1, "\(entries)")
        }
    }

    @Test func numbersThatNoTweakHoldsAreRefused() throws {
        _ = Tweak("A", "B", "Count", 1, registry: registry)
        _ = Tweak("A", "B", "Size", 1.0, registry: registry)
        _ = Tweak("A", "B", "Fade", .seconds(1), registry: registry)
        _ = Tweak("A", "B", "Flag", false, registry: registry)
        _ = Tweak("A", "B", "Level", 1, choices: [0: "quiet", 1: "normal"], registry: registry)
        for number in [Double.nan, .infinity, -.infinity] {
            for name in ["Count", "Size", "Fade", "Flag", "Level"] {
                store(archive(NSNumber(value: number)), "A/B/\(name)")
            }
            #expect(try registry.importFBTweaks(from: defaults.values).refused.count == 5)
        }
    }

    private func list(_ entries: [String: Any]) throws -> Data {
        let list = entries.merging(["$archiver": "NSKeyedArchiver", "$version": 100_000]) { entry, _ in entry }
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }
}

/// Colors as UIKit archives them, in base64.
private enum UIKitColor {
    /// 1, 0.533333, 0, 1
    static let orange =
        "YnBsaXN0MDDUAQIDBAUGISRZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKj"
        + "BwgYVSRudWxs2AkKCwwNDg8QERITFBUWFxRWJGNsYXNzXE5TQ29sb3JTcGFjZVVOU1JHQldVSUFscGhhVlVJQmx1ZV8Q"
        + "FVVJQ29sb3JDb21wb25lbnRDb3VudFdVSUdyZWVuVVVJUmVkgAIQAkgxIDAuNTMgMCM/8AAAAAAAACMAAAAAAAAAABAE"
        + "Iz/hERBeHBUJ0xkaGxwfHVgkY2xhc3Nlc1skY2xhc3NoaW50c1okY2xhc3NuYW1loh0eV1VJQ29sb3JYTlNPYmplY3Sh"
        + "IFdOU0NvbG9y0SIjVHJvb3SAARIAAYagAAgAEQAbACQAKQAyAEQASABOAF8AZgBzAHkAgQCIAKAAqACuALAAsgC7AMQA"
        + "zQDPANgA3wDoAPQA/wECAQoBEwEVAR0BIAElAScAAAAAAAACAQAAAAAAAAAlAAAAAAAAAAAAAAAAAAABLA=="
    /// White, half transparent.
    static let white =
        "YnBsaXN0MDDUAQIDBAUGHiFZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKj"
        + "BwgVVSRudWxs1gkKCwwNDg8QERITFFYkY2xhc3NcTlNDb2xvclNwYWNlV05TV2hpdGVXVUlBbHBoYV8QFVVJQ29sb3JD"
        + "b21wb25lbnRDb3VudFdVSVdoaXRlgAIQBEExIz/gAAAAAAAAEAIjP/AAAAAAAADTFhcYGRwaWCRjbGFzc2VzWyRjbGFz"
        + "c2hpbnRzWiRjbGFzc25hbWWiGhtXVUlDb2xvclhOU09iamVjdKEdV05TQ29sb3LRHyBUcm9vdIABEgABhqAACAARABsA"
        + "JAApADIARABIAE4AWwBiAG8AdwB/AJcAnwChAKMApQCuALAAuQDAAMkA1QDgAOMA6wD0APYA/gEBAQYBCAAAAAAAAAIB"
        + "AAAAAAAAACIAAAAAAAAAAAAAAAAAAAEN"
    /// A pattern of an image.
    static let pattern =
        "YnBsaXN0MDDUAQIDBAUGFhlZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKj"
        + "BwgNVSRudWxs0gkKCwxWJGNsYXNzXVVJUGF0dGVybk5hbWWAAlF40w4PEBEUElgkY2xhc3Nlc1skY2xhc3NoaW50c1ok"
        + "Y2xhc3NuYW1lohITV1VJQ29sb3JYTlNPYmplY3ShFVdOU0NvbG9y0RcYVHJvb3SAARIAAYagCBEbJCkyREhOU1poamxz"
        + "fIiTlp6nqbG0ubsAAAAAAAABAQAAAAAAAAAaAAAAAAAAAAAAAAAAAAAAwA=="
}
