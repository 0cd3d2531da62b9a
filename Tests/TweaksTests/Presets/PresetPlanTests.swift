// Tests how a preset's lines become changes: which ones fit the registered tweaks, and what is saved as a preset.

import Testing
import Tweaks

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

    private func plan(_ lines: KeyValuePairs<String, String>, problems: [ConfigProblem] = []) -> PresetPlan {
        PresetPlan(Preset(lines: lines, problems: problems), TweakView(registry))
    }

    @discardableResult
    private func commit(_ plan: PresetPlan, only: Bool = false) throws -> [String] {
        let result = try registry.commit(plan.batch(only: only).0, origin: .user(7), delivery: .caller)
        return result.outcomes.filter(\.didStore).map { "\($0.path.name) \($0.old.text) → \($0.new.text)" }
    }

    private func draft(lineLimit: Int = 65_536) -> PresetDraft {
        registry.snapshot().draft(of: registry.listing().nodes, pattern: nil, origin: .code, lineLimit: lineLimit)
    }

    @Test(arguments: [
        ("A/B/Gone", "1", TweakError.Code.unknownTweak, "A/B/Gone"), ("A/B", "1", .unknownTweak, "“A/B”"),
        ("", "1", .unknownTweak, "there is no tweak"), ("A/B/Size", "large", .badValue, "“large” is not a number"),
        ("A/B/Size", "101", .outOfRange, "10...100"), ("A/B/Count", "4", .outOfRange, "the nearest is 3"),
        ("A/B/Count", "4.5", .badValue, "is not an int"), ("A/B/Mode", "italic", .notAChoice, "plain, bold"),
        ("A/B/On", "maybe", .badValue, "is not a bool"), ("A/B/Fade", "1m", .outOfRange, "0s...5s"),
        ("A/B/Color", "redd", .badValue, "is not a color"), ("A/B/Figure", "1", .readOnly, "figure"),
        ("A/B/Act", "1", .badValue, "action"), ("A/B/Token", "hunter2", .badValue, "presets hold none"),
    ])
    func anInvalidLineIsAProblemAndTheOthersCanBeApplied(
        _ path: String, _ text: String, _ code: TweakError.Code, _ words: String
    ) throws {
        let plan = plan(["A/A/Other": "7", path: text])
        #expect(plan.problems.map(\.line) == [2] && plan.problems.first?.error.code == code)
        #expect(plan.problems.first?.error.message.contains(words) == true, "\(plan.problems)")
        #expect(plan.problems.first?.error.message.contains("hunter2") == false)
        #expect(try commit(plan) == ["Other 1 → 7"])
    }

    @Test func aSecondLineForATweakIsAConflict() throws {
        let plan = plan(["A/B/Size": "60", "A/B/Width": "70", "A/B/Size": "huge"])
        #expect(plan.problems.map(\.line) == [2, 3, 3] && plan.badLines == 2)
        #expect(plan.problems.map(\.error.code) == [.conflict, .conflict, .badValue])
        #expect(try commit(plan) == ["Size 50 → 60"])
    }

    @Test(arguments: [("A/B/Width", "70", "Size 50 → 70"), ("A/B/Gain", "7", "Gain 0.5 → 1")])
    func formerNamesAndValuesToClampAreAccepted(_ path: String, _ text: String, _ change: String) throws {
        #expect(try commit(plan([path: text])) == [change])
    }

    @Test func problemsAreInLineOrder() {
        let bad = ConfigProblem(line: 2, error: TweakError(.usage, "no assignment"))
        let plan = plan(["A/B/Gone": "1", "A/B/On": "true", "A/B/Size": "9"], problems: [bad])
        #expect(plan.problems.map(\.line) == [1, 2, 3])
    }

    /// Also an invalid line names its tweak; secrets are left alone.
    @Test func onlyResetsOverridesThatNoLineNames() throws {
        try size.set(60)
        try registry.commit { batch in
            batch.set("A/B/Count", .int(3))
            batch.set("A/B/Token", .string("hunter2"))
            batch.set("A/B/Mode", .choice("plain"))
        }
        let plan = plan(["A/B/Count": "8", "A/B/On": "true"])
        #expect(plan.overridesNotInPreset.map { "\($0.node.path.name) \($0.value.text)" } == ["Size 60", "Mode plain"])
        #expect(try commit(plan, only: true) == ["Size 60 → 50", "Mode plain → plain", "On false → true"])
        #expect(registry["A/B/Token"]?.isModified == true && registry["A/B/Count"]?.value == .int(3))
    }

    /// The same preset again changes nothing.
    @Test func aPresetIsOneCommitInListingOrderThatOneUndoReverts() throws {
        let lines: KeyValuePairs = ["A/B/Fade": "1s", "A/B/Mode": "bold", "A/B/Size": "60"]
        #expect(try commit(plan(lines)) == ["Size 50 → 60", "Mode plain → bold", "Fade 250ms → 1s"])
        #expect(try commit(plan(lines), only: true).isEmpty && registry.revision == 1)
        #expect(registry.history.first?.changes.map(\.path.name) == ["Size", "Mode", "Fade"])
        #expect(registry.history.first?.origin == .user(7))
        let step = try registry.historyStep(.undo, force: false)
        try registry.commit(step.batch, origin: .code, kind: step.kind, delivery: .caller)
        #expect(registry.snapshot()["A/B/Size"] == .number(50) && size.erased.isModified == false)
    }

    @Test func aTweakRemovedAfterPlanningFailsTheWholeCommit() throws {
        let plan = plan(["A/B/Size": "60", "A/B/On": "true"])
        registry.remove(size.path)
        #expect(throws: TweakError.self) { try commit(plan) }
        #expect(registry["A/B/On"]?.value == .bool(false))
    }

    /// An override with the default's value is one; a value of the config file is none.
    @Test func aDraftHoldsOverridesInListingOrderWithoutSecretsAndTooLongLines() throws {
        let text = Tweak("A", "A", "Text", "x", registry: registry)
        try text.set("two\nwords # \u{202E}")
        try size.set(50)
        try registry.commit { $0.set("A/B/Token", .string("hunter2")) }
        registry.replace(.configFile, with: ["A/B/On": "true"])
        #expect(draft().lines == [#"A/A/Text = "two\nwords # \u202E""#, "A/B/Size = 50"])
        #expect(draft().secrets == 1 && draft().tooLong.isEmpty)
        let short = draft(lineLimit: 30)
        #expect(short.lines == ["A/B/Size = 50"] && short.tooLong.map(\.joined) == ["A/A/Text"])
    }
}
