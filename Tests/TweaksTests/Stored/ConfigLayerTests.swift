// The config file's layer: all or nothing, compared by value, beneath the overrides, held for those who register late.

import Synchronization
import Testing
import Tweaks

@Suite("Config layer")
struct ConfigLayerTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>

    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
    }

    @discardableResult
    private func apply(
        _ lines: [(String, String)], _ policy: ConfigPolicy = ConfigPolicy(), commit: Bool = true
    ) -> (problems: [String], changes: [String], difference: ConfigDifference) {
        let entries = lines.enumerated().map { index, line in
            ConfigEntry(path: line.0, text: line.1, line: index + 1, origin: TweakOrigin("a.conf:\(index + 1)"))
        }
        let (problems, difference) = registry.applyConfigFile(entries, policy, commit: commit)
        let changes = difference.changes.map { change in
            "\(change.path.name) \(change.old.text) → \(change.new.text)" + (change.isRemoved ? " removed" : "")
                + (change.override.map { " under \($0.text)" } ?? "")
                + (change.dropped.map { " drops \($0.text)" } ?? "")
        }
        return (problems.first.map { "\($0.line) \($0.error.code.rawValue)" }, changes, difference)
    }

    @Test("values lie above the default, with file and line as their origin")
    func layer() {
        let result = apply([("A/B/Size", "64"), ("A/B/Count", "0x2")])
        #expect(result.problems == [] && result.changes == ["Size 50 → 64", "Count 1 → 2"])
        #expect(size.value == 64 && count.value == 2 && registry.revision == 1)
        #expect(size.erased.layers.map(\.description) == ["default 50 by code", "config file 64 by a.conf:1"])
        #expect(size.isModified)
    }

    @Test("the same values commit nothing, however they are written", arguments: ["64", "64.0", "6.4e1", "0064"])
    func same(text: String) {
        apply([("A/B/Size", "64")])
        let again = apply([("A/B/Count", "1"), ("A/B/Size", text)])
        #expect(again.changes == ["Count 1 → 1"] && registry.revision == 2)
        let third = apply([("A/B/Count", "1"), ("A/B/Size", text)])
        #expect(!third.difference.didCommit && registry.revision == 2)
        // The line has moved.
        #expect(size.erased.layers.last?.origin.description == "a.conf:2")
    }

    @Test("one bad line changes nothing and every error is listed")
    func allOrNothing() {
        apply([("A/B/Size", "64")])
        tweakAction("A", "B", "Act", registry: registry) { _ in "" }
        _ = try? registry.register("A", "B", "Figure", 1, flags: .readOnly)
        let result = apply([
            ("A/B/Size", "70"), ("A/B/Count", "99"), ("A/B/Size", "71"), ("A/B/Count", "x"), ("A/B/Act", "1"),
            ("A/B/Figure", "2"), ("A/B", "1"),
        ])
        #expect(
            result.problems == [
                "2 out-of-range", "3 conflict", "4 conflict", "4 bad-value", "5 bad-value", "6 read-only",
                "7 unknown-tweak",
            ])
        #expect(size.value == 64 && count.value == 1 && registry.revision == 1)
    }

    @Test("what the file no longer says returns to the default")
    func removed() {
        apply([("A/B/Size", "64"), ("A/B/Count", "2")])
        let result = apply([("A/B/Count", "2")])
        #expect(result.changes == ["Size 64 → 50 removed"] && size.value == 50)
        #expect(apply([]).changes == ["Count 2 → 1 removed"])
        #expect(registry.revision == 3)
    }

    @Test("observers run once for a reload, and not under an override")
    func observers() throws {
        let seen = Mutex<[String]>([])
        let observations = [
            size.observe { change in seen.withLock { $0.append("\(change.old) \(change.new) \(change.origin)") } },
            count.observe { change in seen.withLock { $0.append("\(change.old) \(change.new) \(change.origin)") } },
        ]
        try count.set(5)
        apply([("A/B/Size", "64"), ("A/B/Count", "2")])
        #expect(seen.withLock { $0 } == ["1 5 code", "50.0 64.0 config file"])
        for observation in observations { observation.cancel() }
    }

    @Test("an override stays, and it is said what changed beneath it until somebody decides")
    func overrideStays() throws {
        apply([("A/B/Size", "60")])
        try size.set(72)
        let node = size.erased.node
        #expect(apply([("A/B/Size", "64")]).changes == ["Size 60 → 64 under 72"])
        #expect(size.value == 72)
        #expect(registry.changeBeneath(node).map { "\($0.old.text) → \($0.new.text)" } == "60 → 64")
        apply([("A/B/Size", "66")])
        #expect(registry.changeBeneath(node).map { "\($0.old.text) → \($0.new.text)" } == "60 → 66")
        apply([("A/B/Size", "60")])
        #expect(registry.changeBeneath(node) == nil)
        apply([("A/B/Size", "61")])
        size.reset()
        #expect(size.value == 61 && registry.changeBeneath(node) == nil)
    }

    @Test("where the file wins, a changed value drops the override, an unchanged one does not")
    func fileWins() throws {
        let policy = ConfigPolicy(fileWins: true)
        apply([("A/B/Size", "60"), ("A/B/Count", "2")], policy)
        try size.set(72)
        try count.set(7)
        #expect(apply([("A/B/Size", "64"), ("A/B/Count", "2")], policy).changes == ["Size 60 → 64 drops 72"])
        #expect(size.value == 64 && count.value == 7)
        #expect(size.erased.layers.map(\.layer) == [.default, .configFile])
    }

    @Test("where the file wins, one that changed while the program was down wins, too")
    func fileWinsAtStart() throws {
        let store = StubStore()
        apply([("A/B/Size", "64"), ("A/B/Count", "2")], ConfigPolicy(fileWins: true))
        let stored = [
            try StoredEntry.override("A/B/Size", .number(72), over: .number(60)),
            try StoredEntry.override("A/B/Count", .int(7), over: .int(2)),
        ]
        store.attach(to: registry, overrides: stored, revision: 9)
        #expect(size.value == 64 && count.value == 7)
        #expect(store.taken() == ["A/B/Size"])
    }

    @Test("dry: says the same and does nothing")
    func dry() {
        #expect(apply([("A/B/Size", "64")], commit: false).changes == ["Size 50 → 64"])
        #expect(size.value == 50 && registry.revision == 0)
        #expect(apply([("A/B/Late", "64")], commit: false).difference.unknown.count == 1)
        #expect(registry.heldEntries(try! TweakPath("A/B/Late")).isEmpty)  // The literal is a path.
    }

    // MARK: Late

    @Test("an unknown tweak is held, said, and applied when it registers")
    func held() throws {
        let result = apply([("A/B/Sizes", "64"), ("X/Y/Late", "on")])
        #expect(result.difference.unknown.map(\.error.message)[0].contains("did you mean A/B/Size?"))
        #expect(registry.revision == 0)
        let late = try registry.register("X", "Y", "Late", false)
        #expect(late.value)
        #expect(late.erased.layers.last?.origin.description == "a.conf:2")
        // Known by now.
        #expect(apply([("A/B/Sizes", "64"), ("X/Y/Late", "yes")]).difference.didCommit == false)
    }

    @Test("a held value that does not fit is kept aside; the next file forgets it")
    func heldUnfit() throws {
        apply([("X/Y/Late", "64")])
        let late = try registry.register("X", "Y", "Late", false)
        #expect(!late.value)
        #expect(registry.aside(late.erased.node).map(\.reason.code) == [.badValue])
        #expect(apply([("X/Y/Late", "64")]).problems == ["1 bad-value"])
        apply([("X/Y/Late", "on")])
        #expect(late.value && registry.aside(late.erased.node).isEmpty)
    }

    @Test("what the next file no longer holds is not applied later")
    func heldReplaced() throws {
        apply([("X/Y/Late", "on")])
        apply([])
        #expect(try !registry.register("X", "Y", "Late", false).value)
    }

    @Test("unknown tweaks can be errors like the others")
    func unknownIsError() {
        let result = apply([("A/B/Size", "64"), ("X/Y/Late", "on")], ConfigPolicy(unknownIsError: true))
        #expect(result.problems == ["2 unknown-tweak"] && size.value == 50)
    }

    @Test("both files have a value for a tweak that registers late")
    func bothLate() throws {
        let store = StubStore()
        apply([("X/Y/Late", "3")])
        store.attach(to: registry, overrides: [try .override("X/Y/Late", .int(4), over: .int(2))], revision: 0)
        let late = try registry.register("X", "Y", "Late", 1)
        #expect(late.value == 4)
        #expect(
            late.erased.layers.map(\.description) == [
                "default 1 by code", "config file 3 by a.conf:1", "override 4 by uid 1000",
            ])
        #expect(registry.changeBeneath(late.erased.node).map { "\($0.old.text) → \($0.new.text)" } == "2 → 3")
    }

    @Test("a frozen registry takes no file")
    func frozen() {
        registry.freeze()
        apply([("A/B/Size", "64")])
        #expect(size.value == 50)
    }

    @Test("a snapshot sees a reload whole, while files alternate and others set")
    func consistent() async throws {
        let registry = registry
        let (first, second) = (size, count)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<500 {
                    let value = round % 2
                    let entries = [("A/B/Size", "\(20 + value)"), ("A/B/Count", "\(2 + value)")].enumerated().map {
                        ConfigEntry(path: $1.0, text: $1.1, line: $0, origin: .configFile)
                    }
                    _ = registry.applyConfigFile(entries)
                }
            }
            group.addTask {
                for _ in 0..<5_000 {
                    let snapshot = registry.snapshot()
                    let pair = (snapshot[first], snapshot[second])
                    #expect(pair == (50, 1) || pair == (20, 2) || pair == (21, 3))
                }
            }
        }
    }
}
