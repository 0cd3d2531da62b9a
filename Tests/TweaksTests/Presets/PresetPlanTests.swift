// Every way in which a preset and the tweaks that there are can disagree.

import Testing
import Tweaks
import TweaksTestSupport

struct PresetPlanTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>

    init() {
        size = Tweak("A", "B", "Size", 50.0, in: 10...100, formerly: "A/B/Width", registry: registry)
        _ = Tweak("A", "A", "Other", 1, registry: registry)
        _ = Tweak("A", "B", "Count", 0, in: 0...9, step: 3, registry: registry)
        _ = Tweak("A", "B", "Mode", "plain", choices: ["plain", "bold"], registry: registry)
        _ = Tweak("A", "B", "On", false, registry: registry)
        _ = Tweak("A", "B", "Fade", .milliseconds(250), in: .zero ... .seconds(5), registry: registry)
        _ = Tweak("A", "B", "Color", TweakColor.black, registry: registry)
        _ = Tweak("A", "B", "Gain", 0.5, in: 0...1, policy: .clamp, registry: registry)
        _ = Tweak("A", "B", "Token", "", flags: .secret, registry: registry)
        _ = Tweak("A", "B", "Figure", 0, flags: .readOnly, registry: registry)
        tweakAction("A", "B", "Act", registry: registry) { _ in "" }
    }

    private func plan(_ lines: [(String, String)], problems: [ConfigProblem] = []) -> PresetPlan {
        let entries = lines.enumerated().map { number, line in
            ConfigEntry(path: line.0, text: line.1, line: number + 1, origin: .code)
        }
        let preset = Preset(heading: PresetHeading(), entries: entries, problems: problems)
        return PresetPlan(preset, TweakView(registry))
    }

    @discardableResult
    private func commit(_ plan: PresetPlan, only: Bool = false) throws -> [String] {
        let (batch, _) = plan.batch(only: only)
        let result = try registry.commit(batch, origin: .user(7), delivery: .caller)
        return result.outcomes.filter(\.didStore).map { "\($0.path.name) \($0.old.text) → \($0.new.text)" }
    }

    @Test(arguments: [
        ("A/B/Gone", "1", TweakError.Code.unknownTweak, "A/B/Gone"), ("A/B", "1", .unknownTweak, "“A/B”"),
        ("", "1", .unknownTweak, "there is no tweak"), ("A/B/Size", "large", .badValue, "“large” is no number"),
        ("A/B/Size", "101", .outOfRange, "10...100"), ("A/B/Count", "4", .outOfRange, "the nearest is 3"),
        ("A/B/Count", "4.5", .badValue, "is no int"), ("A/B/Mode", "italic", .notAChoice, "plain, bold"),
        ("A/B/On", "maybe", .badValue, "is no bool"), ("A/B/Fade", "1m", .outOfRange, "0s...5s"),
        ("A/B/Color", "redd", .badValue, "is no color"), ("A/B/Figure", "1", .readOnly, "figure"),
        ("A/B/Act", "1", .badValue, "action"), ("A/B/Token", "hunter2", .badValue, "presets hold none"),
    ])
    func disagreement(_ path: String, _ text: String, _ code: TweakError.Code, _ words: String) throws {
        let plan = plan([("A/A/Other", "7"), (path, text)])
        #expect(plan.problems.map(\.line) == [2])
        #expect(plan.problems.first?.error.code == code)
        #expect(plan.problems.first?.error.message.contains(words) == true, "\(plan.problems)")
        #expect(plan.problems.first?.error.message.contains("hunter2") == false)
        // What fits is taken all the same by who wants that.
        #expect(try commit(plan) == ["Other 1 → 7"])
    }

    @Test func twiceInOneFile() throws {
        let plan = plan([("A/B/Size", "60"), ("A/B/Width", "70"), ("A/B/Size", "huge")])
        #expect(plan.problems.map(\.line) == [2, 3, 3] && plan.badLines == 2)
        #expect(plan.problems.map(\.error.code) == [.conflict, .conflict, .badValue])
        #expect(try commit(plan) == ["Size 50 → 60"])
    }

    @Test func aFormerName() throws {
        #expect(try commit(plan([("A/B/Width", "70")])) == ["Size 50 → 70"])
    }

    @Test func aTweakThatClamps() throws {
        #expect(try commit(plan([("A/B/Gain", "7")])) == ["Gain 0.5 → 1"])
    }

    @Test func badLinesAreInOrder() {
        let bad = ConfigProblem(line: 2, error: TweakError(.usage, "no assignment"))
        let plan = plan([("A/B/Gone", "1"), ("A/B/On", "true"), ("A/B/Size", "9")], problems: [bad])
        #expect(plan.problems.map(\.line) == [1, 2, 3])
    }

    /// What the preset lacks: overrides that no line names. A line that does not fit names its tweak.
    @Test func lacking() throws {
        try size.set(60)
        try registry.commit(origin: .code) { batch in
            batch.set("A/B/Count", .int(3))
            batch.set("A/B/Token", .string("hunter2"))
            batch.set("A/B/Mode", .choice("plain"))
        }
        let plan = plan([("A/B/Count", "8"), ("A/B/On", "true")])
        #expect(plan.lacking.map { "\($0.node.path.name) \($0.value.text)" } == ["Size 60", "Mode plain"])
        // A secret is nobody's business here, and Count keeps what it has.
        #expect(try commit(plan, only: true) == ["Size 60 → 50", "Mode plain → plain", "On false → true"])
        #expect(registry["A/B/Token"]?.isModified == true && registry["A/B/Count"]?.value == .int(3))
    }

    @Test func theSameAgainChangesNothing() throws {
        let lines = [("A/B/Size", "60"), ("A/B/Fade", "1s")]
        #expect(try commit(plan(lines)) == ["Size 50 → 60", "Fade 250ms → 1s"])
        #expect(try commit(plan(lines), only: true).isEmpty)
        #expect(registry.revision == 1)
    }

    /// One commit, in the order of listings, whatever the order of the lines; one undo takes it back.
    @Test func oneCommit() throws {
        try commit(plan([("A/B/Fade", "1s"), ("A/B/Mode", "bold"), ("A/B/Size", "60")]))
        #expect(registry.history.first?.changes.map(\.path.name) == ["Size", "Mode", "Fade"])
        #expect(registry.history.first?.origin == .user(7))
        let step = try registry.historyStep(.undo, force: false)
        try registry.commit(step.batch, origin: .code, kind: step.kind, delivery: .caller)
        #expect(registry.snapshot()["A/B/Size"] == .number(50) && size.erased.isModified == false)
    }

    /// Judged before, it may be gone at the commit.
    @Test func goneInBetween() throws {
        let plan = plan([("A/B/Size", "60"), ("A/B/On", "true")])
        registry.remove(size.path)
        #expect(throws: TweakError.self) { try commit(plan) }
        #expect(registry["A/B/On"]?.value == .bool(false))
    }

    // MARK: What is saved

    @Test func theDraftHoldsWhatIsOverridden() throws {
        let late = Tweak("A", "A", "Text", "x", registry: registry)
        try late.set("two\nwords # \u{202E}")
        try size.set(50)
        try registry.commit(origin: .code) { $0.set("A/B/Token", .string("hunter2")) }
        _ = registry.applyConfigFile([ConfigEntry(path: "A/B/On", text: "true", line: 1, origin: .configFile)])
        let draft = registry.snapshot().draft(
            of: registry.listing().nodes, pattern: nil, origin: .code, lineLimit: 65_536)
        // In the order of listings; what the config file says is no override, and the default's value is one.
        #expect(draft.lines == [#"A/A/Text = "two\nwords # \u202E""#, "A/B/Size = 50"])
        #expect(draft.secrets == 1 && draft.tooLong.isEmpty)
    }

    @Test func aValueThatNoLineHolds() throws {
        let text = Tweak("A", "A", "Text", "x", registry: registry)
        try text.set(String(repeating: "y", count: 20))
        try size.set(60)
        let draft = registry.snapshot().draft(of: registry.listing().nodes, pattern: nil, origin: .code, lineLimit: 30)
        #expect(draft.lines == ["A/B/Size = 60"] && draft.tooLong.map(\.joined) == ["A/A/Text"])
    }
}
