// Tests the config file's layer: applied as a whole, compared by value, below overrides, pending for unknown tweaks.

import Testing

@testable import Tweaks

struct ConfigLayerTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>
    private var node: TweakNode { size.erased.node }

    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
    }

    @discardableResult
    private func apply(
        _ lines: KeyValuePairs<String, String>, _ policy: LayerPolicy = LayerPolicy(), commit: Bool = true
    ) -> (problems: [String], changes: [String], difference: LayerDifference) {
        let difference = registry.replace(.configFile, with: lines, policy, isDry: !commit)
        let changes = difference.changes.map { change in
            "\(change.path.name) \(change.old.text) → \(change.new.text)" + (change.isRemoved ? " removed" : "")
                + (change.override.map { " under \($0.text)" } ?? "")
                + (change.dropped.map { " drops \($0.text)" } ?? "")
        }
        return (difference.problems.first.map { "\($0.line) \($0.error.code.rawValue)" }, changes, difference)
    }

    @discardableResult
    private func registerLate() throws -> Tweak<Bool> { try registry.register("X", "Y", "Late", false) }

    @Test func valuesAreAboveTheDefaultWithFileAndLineAsOrigin() {
        let result = apply(["A/B/Size": "64", "A/B/Count": "0x2"])
        #expect(result.problems == [] && result.changes == ["Size 50 → 64", "Count 1 → 2"])
        #expect(size.value == 64 && count.value == 2 && registry.revision == 1 && size.isModified)
        #expect(size.erased.layers.map(\.description) == ["default 50 by code", "config file 64 by a.conf:1"])
    }

    @Test(arguments: ["64", "64.0", "6.4e1", "0064"]) func anotherTextOfTheSameValueCommitsNothing(text: String) {
        apply(["A/B/Size": "64"])
        #expect(apply(["A/B/Count": "1", "A/B/Size": text]).changes == ["Count 1 → 1"] && registry.revision == 2)
        #expect(!apply(["A/B/Count": "1", "A/B/Size": text]).difference.didCommit && registry.revision == 2)
        // The origin follows the line.
        #expect(size.erased.layers.last?.origin.description == "a.conf:2")
    }

    @Test func anInvalidLineChangesNothingAndAllErrorsAreListed() {
        apply(["A/B/Size": "64"])
        tweakAction("A", "B", "Act", registry: registry) { _ in "" }
        _ = try? registry.register("A", "B", "Figure", 1, flags: .readOnly)
        let result = apply([
            "A/B/Size": "70", "A/B/Count": "99", "A/B/Size": "71", "A/B/Count": "x", "A/B/Act": "1",
            "A/B/Figure": "2", "A/B": "1",
        ])
        #expect(
            result.problems == [
                "2 out-of-range", "3 conflict", "4 conflict", "4 bad-value", "5 bad-value", "6 read-only",
                "7 unknown-tweak",
            ])
        #expect(size.value == 64 && count.value == 1 && registry.revision == 1)
    }

    @Test func aTweakWithoutALineReturnsToTheDefault() {
        apply(["A/B/Size": "64", "A/B/Count": "2"])
        #expect(apply(["A/B/Count": "2"]).changes == ["Size 64 → 50 removed"] && size.value == 50)
        #expect(apply([:]).changes == ["Count 2 → 1 removed"] && registry.revision == 3)
    }

    @Test func observersRunOnceForAReloadAndNotUnderAnOverride() throws {
        let sizes = ChangeRecorder(size) { "\($0.old) \($0.new) \($0.origin)" }
        let counts = ChangeRecorder(count) { "\($0.old) \($0.new) \($0.origin)" }
        try count.set(5)
        apply(["A/B/Size": "64", "A/B/Count": "2"])
        #expect(sizes.all == ["50.0 64.0 config file"] && counts.all == ["1 5 code"])
    }

    @Test func anOverrideStaysAndTheChangeBelowItIsKnownUntilTheOverrideChanges() throws {
        func underlyingChange() -> String? {
            registry.underlyingValueChange(node).map { "\($0.old.text) → \($0.new.text)" }
        }
        apply(["A/B/Size": "60"])
        try size.set(72)
        #expect(apply(["A/B/Size": "64"]).changes == ["Size 60 → 64 under 72"] && size.value == 72)
        #expect(underlyingChange() == "60 → 64")
        apply(["A/B/Size": "66"])
        #expect(underlyingChange() == "60 → 66")
        apply(["A/B/Size": "60"])
        #expect(underlyingChange() == nil)
        apply(["A/B/Size": "61"])
        size.reset()
        #expect(size.value == 61 && underlyingChange() == nil)
    }

    @Test func aFileThatWinsDropsTheOverridesOfChangedValues() throws {
        let policy = LayerPolicy(dropsOverrides: true)
        apply(["A/B/Size": "60", "A/B/Count": "2"], policy)
        try size.set(72)
        try count.set(7)
        #expect(apply(["A/B/Size": "64", "A/B/Count": "2"], policy).changes == ["Size 60 → 64 drops 72"])
        #expect(size.value == 64 && count.value == 7 && size.erased.layers.map(\.layer) == [.default, .configFile])
    }

    @Test func aFileThatWinsDropsStoredOverridesOfValuesChangedSince() throws {
        let store = StubStore()
        apply(["A/B/Size": "64", "A/B/Count": "2"], LayerPolicy(dropsOverrides: true))
        let stored = [
            try StoredEntry.override("A/B/Size", .number(72), over: .number(60)),
            try StoredEntry.override("A/B/Count", .int(7), over: .int(2)),
        ]
        store.attach(to: registry, overrides: stored, revision: 9)
        #expect(size.value == 64 && count.value == 7 && store.taken() == ["A/B/Size"])
    }

    @Test func aDryRunReturnsTheDifferenceAndChangesNothing() throws {
        #expect(apply(["A/B/Size": "64"], commit: false).changes == ["Size 50 → 64"])
        #expect(size.value == 50 && registry.revision == 0)
        #expect(apply(["A/B/Late": "64"], commit: false).difference.unknown.count == 1)
        #expect(try registry.pendingEntries(TweakPath("A/B/Late")).isEmpty)
    }

    @Test func aValueOfAnUnknownTweakIsReportedAndAppliedWhenItRegisters() throws {
        let result = apply(["A/B/Sizes": "64", "X/Y/Late": "on"])
        #expect(result.difference.unknown.map(\.error.message)[0].contains("did you mean A/B/Size?"))
        #expect(registry.revision == 0)
        let late = try registerLate()
        #expect(late.value && late.erased.layers.last?.origin.description == "a.conf:2")
        #expect(apply(["A/B/Sizes": "64", "X/Y/Late": "yes"]).difference.didCommit == false)
    }

    @Test func aPendingValueThatIsInvalidIsQuarantinedUntilTheNextFile() throws {
        apply(["X/Y/Late": "64"])
        let late = try registerLate()
        #expect(!late.value && registry.quarantined(late.node).map(\.reason.code) == [.badValue])
        #expect(apply(["X/Y/Late": "64"]).problems == ["1 bad-value"])
        apply(["X/Y/Late": "on"])
        #expect(late.value && registry.quarantined(late.node).isEmpty)
    }

    @Test func aPendingValueIsDroppedWhenTheNextFileLacksIt() throws {
        for lines in [["X/Y/Late": "on"], [:]] as [KeyValuePairs<String, String>] { apply(lines) }
        #expect(try !registerLate().value)
    }

    @Test func pendingValuesHaveABudgetOfMemory() throws {
        var policy = LayerPolicy()
        policy.pendingBytes = 2_000
        let text = String(repeating: "x", count: 800)
        apply(["A/B/Size": "64"])
        let lines: KeyValuePairs = ["A/B/Size": "70", "X/Y/A": text, "X/Y/B": text, "X/Y/C": text, "X/Y/D": "1"]
        let difference = registry.replace(.configFile, with: lines, policy)
        let problems = difference.problems
        // Reported once, and nothing changes.
        #expect(problems.first.map(\.line) == [3] && problems.count == 1 && !difference.didCommit && size.value == 64)
        let error = try #require(problems.first.first?.error)
        #expect(
            error.code == .tooMany && error.message.contains("more than 2000 bytes of memory up to this line; remove"))
        #expect(try registry.pendingEntries(TweakPath("X/Y/A")).isEmpty)
        policy.pendingBytes = 4_000
        #expect(registry.replace(.configFile, with: lines, policy).unknownCount == 4)
        #expect(try registry.pendingEntries(TweakPath("X/Y/C")).map(\.entry.content) == [.text(text)])
        #expect(try registry.pendingEntries(TweakPath("X/Y/C")).map(\.entry.origin.description) == ["a.conf:4"])
    }

    @Test func theFirstUnknownTweaksAreListedAndTheOthersCounted() {
        let difference = apply(["X/Y/A": "1", "X/Y/B": "2", "X/Y/C": "3"], LayerPolicy(listedProblems: 2)).difference
        #expect(difference.unknown.map(\.line) == [1, 2] && difference.unknownCount == 3)
    }

    @Test func thePolicyCanMakeUnknownTweaksErrors() {
        let result = apply(["A/B/Size": "64", "X/Y/Late": "on"], LayerPolicy(unknownIsError: true))
        #expect(result.problems == ["2 unknown-tweak"] && size.value == 50)
    }

    @Test func aTweakThatRegistersLateHasTheValuesOfBothFiles() throws {
        apply(["X/Y/Late": "3"])
        let stored = try StoredEntry.override("X/Y/Late", .int(4), over: .int(2))
        StubStore().attach(to: registry, overrides: [stored], revision: 0)
        let late = try registry.register("X", "Y", "Late", 1)
        let layers = ["default 1 by code", "config file 3 by a.conf:1", "override 4 by uid 1000"]
        #expect(late.value == 4 && late.erased.layers.map(\.description) == layers)
        let change = registry.underlyingValueChange(late.node)
        #expect(change?.old == .int(2) && change?.new == .int(3))
    }

    @Test func aFrozenRegistryAppliesNoFile() {
        registry.freeze()
        apply(["A/B/Size": "64"])
        #expect(size.value == 50)
    }

    @Test func aSnapshotShowsAllOfAReloadOrNothing() async throws {
        await withTaskGroup(of: Void.self) { [registry, size, count] group in
            group.addTask {
                for round in 0..<500 {
                    let value = round % 2
                    registry.replace(.configFile, with: ["A/B/Size": "\(20 + value)", "A/B/Count": "\(2 + value)"])
                }
            }
            group.addTask {
                for _ in 0..<5_000 {
                    let snapshot = registry.snapshot()
                    let pair = (snapshot[size], snapshot[count])
                    #expect(pair == (50, 1) || pair == (20, 2) || pair == (21, 3))
                }
            }
        }
    }
}
