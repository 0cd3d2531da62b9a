// Stored overrides: applied, held until their tweak registers, kept aside when they do not fit, noted when they change.

import Synchronization
import Testing
import Tweaks

@Suite("Stored overrides")
struct StoredOverridesTests {
    private let registry = TweakRegistry()
    private let store = StubStore()

    private func size(
        _ registry: TweakRegistry, default value: Double = 60, in range: ClosedRange<Double> = 10...100
    )
        throws -> Tweak<Double>
    {
        try registry.register("Content", "Text", "Size", value, in: range)
    }

    private func attach(_ entries: [StoredEntry], revision: UInt64 = 0) {
        store.attach(to: registry, overrides: entries, revision: revision)
    }

    private func unfit(in registry: TweakRegistry) -> [String] {
        let seen = Mutex<[String]>([])
        registry.onUnfit { path, aside in seen.withLock { $0.append("\(path) \(aside.reason.code.rawValue)") } }
        return seen.withLock { $0 }
    }

    // MARK: At start

    @Test("an override comes back with its origin, and its observer sees it")
    func comesBack() throws {
        let size = try size(registry)
        let seen = Mutex<[Double]>([])
        let observation = size.observe { change in seen.withLock { $0.append(change.new) } }
        attach([try .override("Content/Text/Size", .number(72), over: .number(60))], revision: 43)
        #expect(size.value == 72)
        #expect(size.erased.layers.map(\.description) == ["default 60 by code", "override 72 by uid 1000"])
        #expect(seen.withLock { $0 } == [72])
        #expect(registry.revision == 43)
        #expect(store.taken() == [])
        try size.set(73)
        #expect(registry.revision == 44)
        observation.cancel()
    }

    @Test("what the program has set in this run stays, and is noted")
    func newerWins() throws {
        let size = try size(registry)
        try size.set(80)
        attach([try .override("Content/Text/Size", .number(72))], revision: 43)
        #expect(size.value == 80)
        #expect(store.taken() == ["Content/Text/Size=80 by code over 60"])
        // It is not what was saved as revision 43.
        #expect(registry.revision == 44)
    }

    @Test("a tweak that registers late has its override from the first moment")
    func late() throws {
        attach([try .override("Content/Text/Size", .number(72), over: .number(60))])
        #expect(registry.heldCounts.waiting == 1)
        let size = try size(registry)
        #expect(size.value == 72)
        #expect(registry.heldCounts.waiting == 0)
        #expect(store.taken() == [])
    }

    @Test("a call site that registers at its first use reads the override")
    func callSite() throws {
        attach([try .override("Content/Text/Size", .number(72))])
        #expect(tweakValue("Content", "Text", "Size", 60.0, registry: registry) == 72)
    }

    @Test("registering from many threads while overrides arrive loses none")
    func race() async throws {
        let entries = try (0..<200).map { try StoredEntry.override("A/B/\($0)", .int($0)) }
        let registry = registry
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    for index in stride(from: part, to: 200, by: 4) {
                        _ = try? registry.register("A", "B", "\(index)", -1)
                    }
                }
            }
            group.addTask { [store] in store.attach(to: registry, overrides: entries, revision: 0) }
        }
        #expect((0..<200).allSatisfy { registry["A/B/\($0)"]?.value == .int($0) })
        #expect(registry.heldCounts.waiting == 0)
    }

    // MARK: What does not fit

    @Test(
        "an override that does not fit is kept aside and the default shows",
        arguments: [
            (TweakValue.number(500), "out-of-range"), (.string("big"), "bad-value"), (.bool(true), "bad-value"),
            (.duration(.seconds(1)), "bad-value"),
        ])
    func unfit(value: TweakValue, code: String) throws {
        let size = try size(registry)
        attach([try .override("Content/Text/Size", value)])
        #expect(size.value == 60 && !size.isModified)
        #expect(unfit(in: registry) == ["Content/Text/Size \(code)"])
        #expect(registry.heldCounts.unfit == 1)
        #expect(
            registry.aside(try #require(registry["Content/Text/Size"]).node).map(\.entry.content) == [.value(value)])
        // It stays in the file.
        #expect(store.taken() == [])
    }

    @Test("it returns when the definition changes back")
    func returns() throws {
        attach([try .override("Content/Text/Size", .number(500))])
        _ = try size(registry)
        registry.remove(try TweakPath("Content/Text/Size"))
        let wide = try size(registry, in: 0...1_000)
        #expect(wide.value == 500)
        #expect(registry.heldCounts == (0, 0))
    }

    @Test("a clamping tweak does not bend what was stored")
    func clamping() throws {
        attach([try .override("A/B/C", .number(500))])
        let tweak = try registry.register("A", "B", "C", 1.0, in: 0...10, policy: .clamp)
        #expect(tweak.value == 1)
        #expect(registry.heldCounts.unfit == 1)
    }

    @Test("a whole number fits a tweak that has become a number; a figure and an action take none")
    func kinds() throws {
        attach([
            try .override("A/B/Number", .int(3)), try .override("A/B/Figure", .int(3)),
            try .override("A/B/Action", .int(3)),
        ])
        #expect(try registry.register("A", "B", "Number", 1.5).value == 3)
        #expect(try registry.register("A", "B", "Figure", 1, flags: .readOnly).value == 1)
        tweakAction("A", "B", "Action", registry: registry) { _ in "" }
        #expect(unfit(in: registry).sorted() == ["A/B/Action bad-value", "A/B/Figure read-only"])
    }

    @Test("a set or a reset ends what was kept aside")
    func endsAside() throws {
        let size = try size(registry)
        attach([try .override("Content/Text/Size", .number(500))])
        try size.set(70)
        #expect(registry.heldCounts.unfit == 0)
        #expect(store.taken() == ["Content/Text/Size=70 by code over 60"])

        let other = TweakRegistry()
        let tweak = try self.size(other)
        store.attach(to: other, overrides: [try .override("Content/Text/Size", .number(500))], revision: 7)
        #expect(tweak.reset()?.didStore == true)
        #expect(other.revision == 8)
        #expect(store.taken() == ["Content/Text/Size"])
        #expect(tweak.reset()?.didStore == false)
    }

    // MARK: Names

    @Test("an override is noted with what it covers, and its end too")
    func noted() throws {
        let size = try size(registry)
        attach([])
        try size.set(72)
        try registry.commit(origin: .user(1000)) { $0.set("Content/Text/Size", .number(73)) }
        #expect(store.taken() == ["Content/Text/Size=73 by uid 1000 over 60"])
        size.reset()
        #expect(store.taken() == ["Content/Text/Size"])
        try size.set(60)
        #expect(store.taken() == ["Content/Text/Size=60 by code over 60"])
        let count = store.wakeUps
        try size.set(60)
        #expect(store.taken() == [] && store.wakeUps == count)
    }

    @Test("a removed tweak's override waits for it")
    func removed() throws {
        attach([])
        try size(registry).set(72)
        registry.removeAll()
        #expect(registry.heldCounts.waiting == 1)
        #expect(try size(registry).value == 72)
        #expect(store.taken() == ["Content/Text/Size=72 by code over 60"])
    }

    @Test("an override that nobody registers for can be forgotten")
    func forget() throws {
        attach([try .override("Gone/For/Good", .int(1))], revision: 5)
        let path = try TweakPath("Gone/For/Good")
        #expect(registry.heldEntries(path).map(\.layer) == [.override])
        #expect(registry.forgetHeldOverride(path) == 6)
        #expect(registry.forgetHeldOverride(path) == nil)
        #expect(store.taken() == ["Gone/For/Good"])
    }

    @Test("a default that has changed under an override is told")
    func changedBeneath() throws {
        attach([try .override("Content/Text/Size", .number(72), over: .number(50))])
        let node = try registry.register("Content", "Text", "Size", 60.0).erased.node
        let change = try #require(registry.changeBeneath(node))
        #expect(change.old == .number(50) && change.new == .number(60))
    }

    // MARK: Former paths

    @Test("a tweak takes over the override of its former path")
    func formerly() throws {
        attach([try .override("Old/Text/Points", .number(72), over: .number(60))])
        let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, formerly: "Old/Text/Points", registry: registry)
        #expect(size.value == 72)
        #expect(store.taken() == ["Content/Text/Size=72 by uid 1000 over 60", "Old/Text/Points"])
        #expect(registry.heldCounts.waiting == 0)
        // From here on the override is its own.
        size.reset()
        #expect(store.taken() == ["Content/Text/Size"])
    }

    @Test("also when it is registered before the overrides arrive, and a config file may use the old name")
    func formerlyEarly() throws {
        let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, formerly: "Old/Text/Points", registry: registry)
        attach([try .override("Old/Text/Points", .number(72))])
        #expect(size.value == 72)
        let entry = ConfigEntry(path: "Old/Text/Points", text: "64", line: 1, origin: .configFile)
        #expect(registry.applyConfigFile([entry]).difference.unknown.isEmpty)
        size.reset()
        #expect(size.value == 64)
    }

    @Test("its own override wins over that of a former path, and a tweak that has the old path keeps it")
    func formerlyTaken() throws {
        attach([try .override("Old/Text/Points", .number(72)), try .override("Content/Text/Size", .number(33))])
        #expect(
            Tweak("Content", "Text", "Size", 60.0, formerly: "Old/Text/Points", registry: registry).value == 33)
        let other = TweakRegistry()
        store.attach(to: other, overrides: [try .override("Old/Text/Points", .number(72))], revision: 0)
        #expect(Tweak("Old", "Text", "Points", 1.0, registry: other).value == 72)
        #expect(Tweak("Content", "Text", "Size", 60.0, formerly: "Old/Text/Points", registry: other).value == 60)
    }

    @Test("who asks for the old path is told the new one")
    func formerlyAsked() {
        _ = Tweak("Content", "Text", "Size", 60.0, formerly: "Old/Text/Points", registry: registry)
        #expect(registry.unknown("Old/Text/Points").message.hasSuffix("it is called Content/Text/Size now"))
    }

    @Test("every form of declaration takes a former path")
    func forms() throws {
        attach(try (1...9).map { try .override("Old/Old/\($0)", $0 == 6 || $0 == 7 ? .string("s") : .int($0)) })
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
        #expect(
            Tweak("N", "N", "6", "", maxLength: 3, formerly: "Old/Old/6", registry: registry).value == "s")
        #expect(
            Tweak("N", "N", "7", "", validate: { _ in nil }, formerly: "Old/Old/7", registry: registry).value == "s")
        #expect(try registry.register("N", "N", "8", 0, formerly: "Old/Old/8").value == 8)
        #expect(try registry.register("N", "N", "9", 0, in: 0...9, formerly: "Old/Old/9").value == 9)
        #expect(throws: TweakError.self) { try registry.register("N", "N", "10", 0, formerly: "no path") }
    }

    // MARK: Waiting for the disk

    @Test("saved() waits for the disk, and says what it refused")
    func saved() async throws {
        let size = try size(registry)
        try await registry.saved()
        attach([])
        try size.set(72)
        async let first: Void = registry.saved()
        store.finish(SaveStatus(saved: 1, tried: 1))
        try await first
        try size.set(73)
        store.finish(SaveStatus(saved: 1, tried: 2, failure: "No space left on device"))
        let error = await #expect(throws: TweakError.self) { try await registry.saved() }
        #expect(error?.description == "io revision 2 is not saved: No space left on device")
    }
}
