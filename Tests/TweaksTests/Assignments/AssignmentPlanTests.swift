// The same lines in a config file, in a preset that is loaded and in one that is compared: they are judged alike.

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

    private static func said(_ problems: [ConfigProblem]) -> [String] {
        problems.map { "line \($0.line): \($0.error)" }
    }

    /// What each reader of assignments says about the same lines: a config file, a preset that is loaded, one that is
    /// compared with what is in force, and one on each side of a comparison.
    private func judgements(
        _ lines: [(String, String)], _ rights: Rights = .all
    ) -> (file: [String], load: [String], differences: [[String]]) {
        let (entries, view) = (Self.entries(lines), TweakView(registry, rights))
        let preset = Preset(heading: PresetHeading(), entries: entries, problems: [])
        let file = registry.applyConfigFile(entries, ConfigPolicy(unknownIsError: true)).problems.first
        let one = PresetDifference(inForceAnd: preset, view)
        let two = PresetDifference(preset, preset, view)
        return (
            Self.said(file), Self.said(PresetPlan(preset, view).problems),
            [one.rightProblems, two.leftProblems, two.rightProblems].map(Self.said)
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

    @Test("each line is judged alike, whatever it stands in", arguments: faulty)
    func alike(lines: [(String, String)]) {
        let said = judgements(lines)
        #expect(!said.file.isEmpty)
        #expect(said.load == said.file && said.differences.allSatisfy { $0 == said.file }, "\(said)")
    }

    @Test func twice() {
        let said = judgements([("A/B/Size", "60"), ("A/B/Width", "70"), ("A/B/Size", "large")]).file
        #expect(
            said == [
                "line 2: conflict A/B/Size is assigned in line 1 already; keep one of them",
                "line 3: conflict A/B/Size is assigned in line 1 already; keep one of them",
                "line 3: bad-value A/B/Size: “large” is no number; write a finite number such as 72 or 1.5e3, in 10...100",
            ])
    }

    @Test("a path without a tweak is an error or waits, and is still assigned once")
    func unknown() {
        let said = judgements([("X/Y/Z", "1"), ("A/B/Sized", "2"), ("X/Y/Z", "3")])
        let conflict = "line 3: conflict X/Y/Z is assigned in line 1 already; keep one of them"
        #expect(
            said.file == [
                "line 1: unknown-tweak there is no tweak “X/Y/Z”; see ls or find",
                "line 2: unknown-tweak there is no tweak “A/B/Sized”; did you mean A/B/Size?", conflict,
            ])
        #expect(said.load == said.file)
        #expect(said.differences.allSatisfy { $0 == [conflict] })
        let held = registry.applyConfigFile(Self.entries([("X/Y/Z", "1"), ("A/B/Sized", "2"), ("X/Y/Z", "3")]))
        #expect(Self.said(held.problems.first) == [conflict] && held.difference.unknown.isEmpty)
        let good = registry.applyConfigFile(Self.entries([("X/Y/Z", "1"), ("A/B/Sized", "2")]))
        #expect(good.problems.isEmpty)
        #expect(Self.said(good.difference.unknown) == Array(said.file.prefix(2)))
    }

    @Test("what may have been meant is looked for twenty times")
    func suggestions() {
        let said = judgements((1...30).map { ("A/B/Size\($0)", "1") })
        #expect(said.file.count == 30 && said.file == said.load)
        #expect(said.file.prefix(9).allSatisfy { $0.hasSuffix("did you mean A/B/Size?") })
        #expect(said.file.suffix(10).allSatisfy { $0.hasSuffix("see ls or find") })
    }

    @Test("a secret is for files; presets hold none")
    func secret() {
        let said = judgements([("A/B/Token", "hunter2")])
        #expect(said.file.isEmpty && said.load.count == 1 && said.load[0].contains("presets hold none"))
        #expect(said.differences.allSatisfy { $0 == said.load } && !"\(said)".contains("hunter2"))
    }

    @Test("who may not write a tweak is refused a load, and may compare; what is not seen is not there")
    func rights() {
        let lines = [("A/B/Count", "3"), ("A/B/Size", "60")]
        let rights = Rights(["read", "write:A/B/Count"])
        let said = judgements(lines, rights)
        #expect(said.load.count == 1 && said.load[0].hasPrefix("line 2: denied"), "\(said)")
        #expect(said.differences.allSatisfy { $0.isEmpty })
        let blind = judgements(lines, Rights(["write:A/B/Count"]))
        // Numbered as if the line were not there.
        #expect(blind.load.isEmpty && blind.differences.allSatisfy { $0.isEmpty })
    }

    @Test("problems beyond a number are counted")
    func listed() {
        let entries = Self.entries((1...50).map { ("A/B/Size", "\($0 * 1_000)") })
        let rules = AssignmentRules.preset
        #expect(AssignmentPlan(entries, rules, TweakView(registry)).problems.count == 99)
        var few = rules
        few.listedProblems = 10
        let problems = AssignmentPlan(entries, few, TweakView(registry)).problems
        #expect(problems.count == 99 && problems.first.map(\.line) == [1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
    }
}
