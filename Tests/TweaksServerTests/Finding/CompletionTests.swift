// Tests the completions of partial lines among 10,000 tweaks.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

struct CompletionTests {
    private let completion = Completion(
        view: TweakView(ManyTweaks.registry), presetNames: { ["evening", "morning"] })

    @Test(arguments: [
        // Commands, and what an assignment may begin with.
        ("se", ["set", "sessions"]), ("rel", ["reload"]), ("des", ["describe"]), ("Siz", ["Sizes/"]),
        ("nothing", []), ("\"set", []), ("help sto", []), ("help expo", ["export"]),
        // Paths, part by part; in quotes if a part needs them.
        ("get Siz", ["Sizes/"]), ("get Sizes/", ["Sizes/All/"]), ("get Sizes/All/", ["Sizes/All/Width"]),
        ("get Label/", ["Label/Font/", "Label/Sizes/", "Label/Status/", "Label/Ｗｉｄｅ/"]),
        ("get Label/Font/Si", ["\"Label/Font/Size Limit\"", "Label/Font/Size"]),
        ("get \"Label/Font/Size ", ["\"Label/Font/Size Limit\""]),
        ("get 'Label/Font/Sl", ["\"Label/Font/Sliding Zone\""]), ("get Label/Font/Size/", []), ("get Label//", []),
        ("get \"alpha 1/oc", ["\"alpha 1/ocean/"]), ("get Sizes Lab", ["Label/"]),
        // Without an exact match, case and diacritics are ignored.
        ("get label/f", ["Label/Font/"]), ("get grosse/UBER", ["Größe/Überschrift/"]),
        ("get LABEL/FONT/WI", ["Label/Font/Wink"]),
        ("get label/font/size", ["\"Label/Font/Size Limit\"", "Label/Font/Size"]),
        // Only candidates that the command accepts.
        ("set Label/Font/Wi", []), ("run Label/Font/", ["Label/Font/Wink"]), ("run Siz", []), ("run La", ["Label/"]),
        ("set Label/St", []), ("get Label/St", ["Label/Status/"]), ("describe Sizes Lab", []), ("stats ", []),
        ("keep Label/Font/Si", ["\"Label/Font/Size Limit\"", "Label/Font/Size"]), ("keep Label/St", []),
        // Values.
        ("set 'Label/Font/Is Bold' ", ["true", "false", "toggle"]), ("set 'Label/Font/Is Bold' t", ["true", "toggle"]),
        ("'Label/Font/Is Bold' = ", ["true", "false"]), ("set Label/Font/Style ", ["plain", "zigzag"]),
        ("Label/Font/Style = Z", ["zigzag"]), ("set Label/Font/Style zigzag ", []), ("set Label/Font/Size ", []),
        ("set Nothing/At/All ", []), ("set Label/Font/Style = ", ["plain", "zigzag"]),
        ("check Label/Font/Style = z", ["zigzag"]), ("set Label/Font/Style = zigzag ", []),
        // Keywords.
        ("Label/Font/Size ", ["=", "+=", "-="]), ("Label/Font/Size +", ["+="]), ("watch mod", ["modified"]),
        ("watch \"mod", []), ("watch Sizes sin", ["since"]), ("watch Sizes since ", []), ("unwatch mod", ["modified"]),
        ("json o", ["on", "off"]),
        ("reload ", ["dry"]), ("hello 1 j", ["json"]), ("delete m", ["morning"]), ("ping m", []),
    ])
    func aLineHasItsCandidates(_ text: String, _ candidates: [String]) {
        #expect(completion.candidates(for: text) == candidates)
    }

    @Test func anEmptyLineOffersCommandsThenCategories() {
        let candidates = completion.candidates(for: "")
        #expect(candidates.starts(with: ["help", "ls", "get", "set"]))
        #expect(candidates.contains("Label/") && candidates.contains("\"alpha 1/"))
        #expect(Set(candidates).count == candidates.count && candidates.count <= Completion.maxCandidates)
    }

    @Test func theNumberOfCandidatesIsBounded() {
        let registry = TweakRegistry()
        for number in 0..<1_000 { _ = Tweak("A", "B", "C\(number)", number, registry: registry) }
        let completion = Completion(view: TweakView(registry), presetNames: { [] })
        #expect(completion.candidates(for: "get A/B/C").count == Completion.maxCandidates)
        #expect(completion.candidates(for: "get A/B/C99") == ["A/B/C99"] + (990..<1_000).map { "A/B/C\($0)" })
    }
}
