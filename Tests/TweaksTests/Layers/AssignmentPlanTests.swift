// Tests that config files, loaded presets and compared presets validate the same lines alike.

import Testing
import Tweaks
import TweaksTestSupport

struct AssignmentPlanTests {
    private let registry = TweakRegistry()

    init() {
        _ = Tweak("A", "B", "Size", 50.0, in: 10...100, formerly: "A/B/Width", registry: registry)
        _ = Tweak("A", "B", "Count", 0, in: 0...9, step: 3, registry: registry)
        _ = Tweak("A", "B", "Mode", "plain", choices: ["plain", "bold"], registry: registry)
        _ = Tweak("A", "B", "Token", "", flags: .secret, registry: registry)
        _ = Tweak("A", "B", "Figure", 0, flags: .readOnly, registry: registry)
        tweakAction("A", "B", "Act", registry: registry) { _ in "" }
    }

    private static func entries(_ lines: [(String, String)]) -> [ConfigEntry] {
        lines.enumerated().map { ConfigEntry(path: $1.0, text: $1.1, line: $0 + 1, origin: .code) }
    }

    private static func texts(_ problems: [ConfigProblem]) -> [String] {
        problems.map { "line \($0.line): \($0.error)" }
    }

    /// The problems of the same lines in a config file, in a loaded preset, in one that is compared with the current
    /// values, and in one on each side of a comparison.
    private func problems(
        _ lines: [(String, String)], _ rights: Rights = .all
    ) -> (file: [String], load: [String], differences: [[String]]) {
        let (entries, view) = (Self.entries(lines), TweakView(registry, rights))
        let preset = Preset(heading: PresetHeading(), entries: entries, problems: [])
        let file = registry.replace(.configFile, with: entries, LayerPolicy(unknownIsError: true)).problems.first
        let one = PresetDifference(comparingCurrentTo: preset, view)
        let two = PresetDifference(preset, preset, view)
        return (
            Self.texts(file), Self.texts(PresetPlan(preset, view).problems),
            [one.rightProblems, two.leftProblems, two.rightProblems].map(Self.texts)
        )
    }

    private static let faulty: [[(String, String)]] = [
        [("A/B/Size", "large")], [("A/B/Size", "101")], [("A/B/Count", "4")], [("A/B/Mode", "italic")],
        [("A/B/Figure", "1")], [("A/B/Act", "1")], [("A/B", "1")], [("", "1")],
        [("A/B/Size", "60"), ("A/B/Count", "3"), ("A/B/Size", "60")],
        [("A/B/Size", "60"), ("A/B/Width", "70"), ("A/B/Size", "large"), ("A/B/Width", "80")],
        [("A/B/Mode", "italic"), ("A/B/Mode", "bold")],
        [("A/B/Count", "x"), ("no path", "1"), ("A/B/Act", "1"), ("A/B/Size", "9"), ("A/B/Count", "3")],
    ]

    @Test(arguments: faulty) func invalidLinesHaveTheSameProblemsEverywhere(lines: [(String, String)]) {
        let found = problems(lines)
        #expect(!found.file.isEmpty)
        #expect(found.load == found.file && found.differences.allSatisfy { $0 == found.file }, "\(found)")
    }

    @Test func aTweakIsAssignedOnce() {
        let found = problems([("A/B/Size", "60"), ("A/B/Width", "70"), ("A/B/Size", "large")]).file
        #expect(
            found == [
                "line 2: conflict A/B/Size is assigned in line 1 already; keep one of them",
                "line 3: conflict A/B/Size is assigned in line 1 already; keep one of them",
                "line 3: bad-value A/B/Size: “large” is not a number; write a finite number such as 72 or 1.5e3, in 10...100",
            ])
    }

    @Test func anUnknownPathIsAnErrorOrPendingAndIsAssignedOnce() {
        let lines = [("X/Y/Z", "1"), ("A/B/Sized", "2"), ("X/Y/Z", "3")]
        let found = problems(lines)
        let conflict = "line 3: conflict X/Y/Z is assigned in line 1 already; keep one of them"
        #expect(
            found.file == [
                "line 1: unknown-tweak there is no tweak “X/Y/Z”; see ls or find",
                "line 2: unknown-tweak there is no tweak “A/B/Sized”; did you mean A/B/Size?", conflict,
            ])
        #expect(found.load == found.file && found.differences.allSatisfy { $0 == [conflict] })
        let invalid = registry.replace(.configFile, with: Self.entries(lines))
        #expect(Self.texts(invalid.problems.first) == [conflict])
        #expect(Self.texts(invalid.unknown) == Array(found.file.prefix(2)) && invalid.unknownCount == 0)
        let valid = registry.replace(.configFile, with: Self.entries(Array(lines.prefix(2))))
        #expect(valid.problems.isEmpty && Self.texts(valid.unknown) == Array(found.file.prefix(2)))
    }

    @Test func theFirstTwentyUnknownPathsHaveSuggestions() {
        let found = problems((1...30).map { ("A/B/Size\($0)", "1") })
        #expect(found.file.count == 30 && found.file == found.load)
        #expect(found.file.prefix(9).allSatisfy { $0.hasSuffix("did you mean A/B/Size?") })
        #expect(found.file.suffix(10).allSatisfy { $0.hasSuffix("see ls or find") })
    }

    @Test func aSecretIsAllowedInFilesAndNotInPresets() {
        let found = problems([("A/B/Token", "hunter2")])
        #expect(found.file.isEmpty && found.load.count == 1 && found.load[0].contains("presets hold none"))
        #expect(found.differences.allSatisfy { $0 == found.load } && !"\(found)".contains("hunter2"))
    }

    @Test func loadingNeedsWriteAccessComparingReadAccessAndInvisibleLinesAreIgnored() {
        let lines = [("A/B/Count", "3"), ("A/B/Size", "60")]
        let readable = problems(lines, Rights(["read", "write:A/B/Count"]))
        #expect(readable.load.count == 1 && readable.load[0].hasPrefix("line 2: denied"), "\(readable)")
        #expect(readable.differences.allSatisfy { $0.isEmpty })
        let invisible = problems(lines, Rights(["write:A/B/Count"]))
        #expect(invisible.load.isEmpty && invisible.differences.allSatisfy { $0.isEmpty })
    }

    @Test func problemsBeyondTheListedOnesAreCounted() {
        let entries = Self.entries((1...50).map { ("A/B/Size", "\($0 * 1_000)") })
        var rules = AssignmentRules.preset
        #expect(AssignmentPlan(entries, rules, TweakView(registry)).problems.count == 99)
        rules.listedProblems = 10
        let problems = AssignmentPlan(entries, rules, TweakView(registry)).problems
        #expect(problems.count == 99 && problems.first.map(\.line) == [1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
    }
}
