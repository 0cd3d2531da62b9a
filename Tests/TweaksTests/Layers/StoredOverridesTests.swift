// Tests stored overrides: applied, pending until their tweak registers, quarantined if invalid, stored if changed.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct StoredOverridesTests {
    private let registry = TweakRegistry()
    private let store = StubStore()
    private static let path = "Content/Text/Size"
    private static let oldPath = "Old/Text/Points"

    private func register(formerly: String? = nil, in registry: TweakRegistry? = nil) -> Tweak<Double> {
        Tweak("Content", "Text", "Size", 60.0, in: 10...100, formerly: formerly, registry: registry ?? self.registry)
    }

    private func attach(_ entries: StoredEntry..., revision: UInt64 = 0) {
        store.attach(to: registry, overrides: entries, revision: revision)
    }

    private var invalidPaths: [String] {
        let recorder = Recorder<String>()
        registry.onInvalid { path, entry in recorder.note("\(path) \(entry.reason.code.rawValue)") }
        return recorder.all
    }

    // MARK: At start

    @Test func anOverrideIsAppliedWithItsOriginAndObserversAreNotified() throws {
        let size = register()
        let changes = ChangeRecorder(size) { $0.new }
        attach(try .override(Self.path, .number(72), over: .number(60)), revision: 43)
        #expect(size.value == 72 && changes.all == [72] && registry.revision == 43)
        #expect(size.erased.layers.map(\.description) == ["default 60 by code", "override 72 by uid 1000"])
        #expect(store.taken() == [])
        try size.set(73)
        #expect(registry.revision == 44)
    }

    @Test func anEndedStorageReadsNothingMoreAndEndsNoOther() throws {
        let size = register()
        attach()
        registry.detach(store)
        try size.set(70)
        #expect(store.taken() == [] && registry.store == nil)
        let next = StubStore()
        #expect(next.attach(to: registry, overrides: [], revision: 0))
        registry.detach(store)
        #expect(registry.store === next && store.taken() == [])
        try size.set(80)
        #expect(next.taken() == ["\(Self.path)=80 by code over 60"])
    }

    @Test func aValueSetInThisRunStaysAndIsStored() throws {
        let size = register()
        try size.set(80)
        attach(try .override(Self.path, .number(72)), revision: 43)
        #expect(size.value == 80 && store.taken() == ["\(Self.path)=80 by code over 60"])
        // It differs from what was saved as revision 43.
        #expect(registry.revision == 44)
    }

    @Test func aTweakOrCallSiteThatRegistersLateStartsWithItsOverride() throws {
        attach(
            try .override(Self.path, .number(72), over: .number(60)),
            try .override("A/B/Site", .number(73), over: .number(60)))
        #expect(registry.pendingCounts.waiting == 2)
        #expect(register().value == 72 && tweakValue("A", "B", "Site", 60.0, registry: registry) == 73)
        #expect(registry.pendingCounts.waiting == 0 && store.taken() == [])
    }

    @Test func tweaksThatRegisterWhileOverridesArriveGetTheirs() async throws {
        let entries = try (0..<200).map { try StoredEntry.override("A/B/\($0)", .int($0)) }
        await withTaskGroup(of: Void.self) { [registry, store] group in
            for part in 0..<4 {
                group.addTask {
                    for index in stride(from: part, to: 200, by: 4) {
                        _ = try? registry.register("A", "B", "\(index)", -1)
                    }
                }
            }
            group.addTask { store.attach(to: registry, overrides: entries, revision: 0) }
        }
        #expect((0..<200).allSatisfy { registry["A/B/\($0)"]?.value == .int($0) })
        #expect(registry.pendingCounts.waiting == 0)
    }

    // MARK: Invalid overrides

    @Test(arguments: [
        (TweakValue.number(500), "out-of-range"), (.string("big"), "bad-value"), (.bool(true), "bad-value"),
        (.duration(.seconds(1)), "bad-value"),
    ])
    func anInvalidOverrideIsQuarantinedAndStaysStored(value: TweakValue, code: String) throws {
        let size = register()
        attach(try .override(Self.path, value))
        #expect(size.value == 60 && !size.isModified)
        #expect(invalidPaths == ["\(Self.path) \(code)"] && registry.pendingCounts.invalid == 1)
        #expect(registry.quarantined(size.node).map(\.entry.content) == [.value(value)] && store.taken() == [])
    }

    @Test func aQuarantinedOverrideIsAppliedWhenTheDefinitionFitsAgain() throws {
        attach(try .override(Self.path, .number(500)))
        registry.remove(register().path)
        #expect(try registry.register("Content", "Text", "Size", 60.0, in: 0...1_000).value == 500)
        #expect(registry.pendingCounts == (0, 0))
    }

    @Test func anIntIsValidForANumberButNotForAMetricAnActionOrAClampingTweakOutOfRange() throws {
        let entries = try ["Number", "Figure", "Action", "Clamp"].map { try StoredEntry.override("A/B/\($0)", .int(3)) }
        store.attach(to: registry, overrides: entries, revision: 0)
        #expect(try registry.register("A", "B", "Number", 1.5).value == 3)
        #expect(try registry.register("A", "B", "Figure", 1, flags: .readOnly).value == 1)
        #expect(try registry.register("A", "B", "Clamp", 1, in: 0...2, policy: .clamp).value == 1)
        tweakAction("A", "B", "Action", registry: registry) { _ in "" }
        #expect(invalidPaths.sorted() == ["A/B/Action bad-value", "A/B/Clamp out-of-range", "A/B/Figure read-only"])
    }

    @Test func aSetOrAResetRemovesAQuarantinedOverride() throws {
        let size = register()
        attach(try .override(Self.path, .number(500)))
        try size.set(70)
        #expect(registry.pendingCounts.invalid == 0 && store.taken() == ["\(Self.path)=70 by code over 60"])

        let other = TweakRegistry()
        let tweak = register(in: other)
        store.attach(to: other, overrides: [try .override(Self.path, .number(500))], revision: 7)
        #expect(tweak.reset()?.didStore == true && other.revision == 8 && store.taken() == [Self.path])
        #expect(tweak.reset()?.didStore == false)
    }

    // MARK: Storing

    @Test func setsAreStoredWithTheValueTheyCoverAndResetsAsRemovals() throws {
        let size = register()
        attach()
        try size.set(72)
        try registry.commit(origin: .user(1000)) { $0.set(Self.path, .number(73)) }
        #expect(store.taken() == ["\(Self.path)=73 by uid 1000 over 60"])
        size.reset()
        #expect(store.taken() == [Self.path])
        try size.set(60)
        #expect(store.taken() == ["\(Self.path)=60 by code over 60"])
        let count = store.wakeUps
        try size.set(60)
        #expect(store.taken() == [] && store.wakeUps == count)
    }

    @Test func theOverrideOfARemovedTweakIsPending() throws {
        attach()
        try register().set(72)
        registry.removeAll()
        #expect(registry.pendingCounts.waiting == 1)
        #expect(register().value == 72 && store.taken() == ["\(Self.path)=72 by code over 60"])
    }

    @Test func aPendingOverrideCanBeForgotten() throws {
        attach(try .override("Gone/For/Good", .int(1)), revision: 5)
        let path = try TweakPath("Gone/For/Good")
        #expect(registry.pendingEntries(path).map(\.layer) == [.override])
        #expect(registry.forgetPendingOverride(path) == 6 && registry.forgetPendingOverride(path) == nil)
        #expect(store.taken() == ["Gone/For/Good"])
    }

    @Test func aDefaultThatChangedUnderAnOverrideIsKnown() throws {
        attach(try .override(Self.path, .number(72), over: .number(50)))
        let change = try #require(registry.underlyingValueChange(register().node))
        #expect(change.old == .number(50) && change.new == .number(60))
    }

    // MARK: Former paths

    @Test func aTweakAdoptsTheOverrideOfItsFormerPath() throws {
        attach(try .override(Self.oldPath, .number(72), over: .number(60)))
        let size = register(formerly: Self.oldPath)
        #expect(size.value == 72 && registry.pendingCounts.waiting == 0)
        #expect(store.taken() == ["\(Self.path)=72 by uid 1000 over 60", Self.oldPath])
        size.reset()
        #expect(store.taken() == [Self.path])
    }

    @Test func aFormerPathIsKnownToOverridesThatArriveLaterAndToConfigFilesAndErrors() throws {
        let size = register(formerly: Self.oldPath)
        attach(try .override(Self.oldPath, .number(72)))
        #expect(size.value == 72 && registry.replace(.configFile, with: [Self.oldPath: "64"]).unknown.isEmpty)
        size.reset()
        #expect(size.value == 64)
        #expect(registry.unknown(Self.oldPath).message.hasSuffix("it is called Content/Text/Size now"))
    }

    @Test func anOverrideOfTheFormerPathYieldsToThatOfThePathAndToATweakThere() throws {
        attach(try .override(Self.oldPath, .number(72)), try .override(Self.path, .number(33)))
        #expect(register(formerly: Self.oldPath).value == 33)
        let other = TweakRegistry()
        store.attach(to: other, overrides: [try .override(Self.oldPath, .number(72))], revision: 0)
        #expect(Tweak("Old", "Text", "Points", 1.0, registry: other).value == 72)
        #expect(register(formerly: Self.oldPath, in: other).value == 60)
    }

    @Test func everyFormOfDeclarationAcceptsAFormerPath() throws {
        let old = try (1...9).map { try StoredEntry.override("Old/Old/\($0)", (6...7) ~= $0 ? .string("s") : .int($0)) }
        store.attach(to: registry, overrides: old, revision: 0)
        struct Wrapped {
            @Tweak var plain: Int
            @Tweak var ranged: Int
        }
        let wrapped = Wrapped(
            plain: Tweak(wrappedValue: 0, "N", "N", "1", formerly: "Old/Old/1", registry: registry),
            ranged: Tweak(wrappedValue: 0, "N", "N", "2", in: 0...9, formerly: "Old/Old/2", registry: registry))
        #expect(wrapped.plain == 1 && wrapped.ranged == 2)
        #expect(tweakValue("N", "N", "3", 0, formerly: "Old/Old/3", registry: registry) == 3)
        #expect(tweakValue("N", "N", "4", 0, in: 0...9, formerly: "Old/Old/4", registry: registry) == 4)
        #expect(tweakInline("N", "N", "5", 0, in: 0...9, formerly: "Old/Old/5", registry: registry).value == 5)
        #expect(Tweak("N", "N", "6", "", maxLength: 3, formerly: "Old/Old/6", registry: registry).value == "s")
        #expect(
            Tweak("N", "N", "7", "", validate: { _ in nil }, formerly: "Old/Old/7", registry: registry).value == "s")
        #expect(try registry.register("N", "N", "8", 0, formerly: "Old/Old/8").value == 8)
        #expect(try registry.register("N", "N", "9", 0, in: 0...9, formerly: "Old/Old/9").value == 9)
        #expect(throws: TweakError.self) { try registry.register("N", "N", "10", 0, formerly: "no path") }
    }

    // MARK: Waiting for the disk

    @Test func savedWaitsForTheDiskAndThrowsItsError() async throws {
        let size = register()
        try await registry.saved()
        attach()
        try size.set(72)
        async let first: Void = registry.saved()
        store.finish(SaveStatus(saved: 1, attempted: 1))
        try await first
        try size.set(73)
        store.finish(SaveStatus(saved: 1, attempted: 2, failure: "No space left on device"))
        let error = await #expect(throws: TweakError.self) { try await registry.saved() }
        #expect(error?.description == "io revision 2 is not saved: No space left on device")
    }
}
