// What the history remembers, merges, takes back, and refuses to take back.

import Synchronization
import Testing
import Tweaks

@Suite("History")
struct HistoryTests {
    private let registry: TweakRegistry
    private let size: Tweak<Double>
    private let name: Tweak<String>

    private final class Clock: Sendable {
        let now = Mutex(ContinuousClock.now)
        func advance(_ duration: Duration) { now.withLock { $0 += duration } }
    }

    private let clock: Clock

    init() throws {
        let clock = Clock()
        self.clock = clock
        registry = TweakRegistry { clock.now.withLock { $0 } }
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        name = try registry.register("A", "B", "Name", "n")
    }

    private func set(_ value: Double, by session: UInt64, after: Duration = .seconds(1)) throws {
        clock.advance(after)
        try registry.commit(
            size.erased.node, .set(.number(value)), origin: TweakOrigin("session \(session)"),
            kind: .change(session: session), delivery: .caller)
    }

    private var entries: [String] {
        registry.history.map { entry in
            let changes = entry.changes.map { "\($0.path.name) \($0.old?.text ?? "?")→\($0.new?.text ?? "?")" }
            return
                "\(entry.revision) \(entry.origin)\(entry.isUndone ? " undone" : ""): \(changes.joined(separator: ", "))"
        }
    }

    @Test("every commit of one session to the same tweak in quick succession is one entry")
    func drag() throws {
        try set(60, by: 1)
        try set(61, by: 1, after: .milliseconds(500))
        try set(62, by: 1, after: .milliseconds(500))
        try set(63, by: 1, after: .milliseconds(501))
        try set(64, by: 2, after: .zero)
        #expect(entries == ["5 session 2: Size 63→64", "4 session 1: Size 62→63", "3 session 1: Size 50→62"])
        #expect(try registry.undo().entry.origin.description == "session 2")
        try registry.undo()
        try registry.undo()
        #expect(size.value == 50 && !size.erased.layers.contains { $0.layer == .override })
        #expect(throws: TweakError.self) { try registry.undo() }
        try registry.redo()
        #expect(size.value == 62)
    }

    @Test("tweaks that are set in turn, as fast as can be, have an entry each, and what was there before stays")
    func machineGun() throws {
        registry.historyLimit = 10
        try set(20, by: 9)
        clock.advance(.seconds(10))
        let other = try registry.register("A", "B", "Other", 0.0)
        for number in 1...10_000 {
            clock.advance(.microseconds(100))
            for (tweak, value) in [(size, 10 + Double(number % 90)), (other, Double(number))] {
                try registry.commit(
                    tweak.erased.node, .set(.number(value)), origin: TweakOrigin("session 1"),
                    kind: .change(session: 1), delivery: .caller)
            }
        }
        #expect(entries.count == 9 && entries.last == "1 session 9: Size 50→20")
        #expect(entries.prefix(2) == ["20001 session 1: Other 3→10000", "20000 session 1: Size 13→20"])
        // Each undo is an entry, too.
        registry.historyLimit = 100
        for _ in 1...8 { try registry.undo() }
        #expect(other.value == 0 && size.value == 20)
        #expect(try registry.undo().entry.origin.description == "session 9")
    }

    @Test("the entry that a change goes on is the one that undo takes back next")
    func goesOnLast() throws {
        let rename = { [registry, name] (text: String) in
            _ = try registry.commit(
                name.erased.node, .set(.string(text)), origin: TweakOrigin("session 1"), kind: .change(session: 1),
                delivery: .caller)
        }
        for round in 1...4 {
            try set(60 + Double(round), by: 1, after: .milliseconds(10))
            try rename("m\(round)")
        }
        try set(70, by: 1, after: .milliseconds(10))
        #expect(entries.count == 8)
        #expect(entries.prefix(2) == ["9 session 1: Size 63→70", "8 session 1: Name \"m3\"→\"m4\""])
        try registry.undo()
        #expect(size.value == 63 && name.value == "m4")
        // Since something was undone, nothing goes on what was before.
        try rename("o")
        #expect(entries[0] == "11 session 1: Name \"m4\"→\"o\"")
    }

    @Test("what somebody else, or another set of tweaks, has touched in between is not gone on with")
    func between() throws {
        let both = { [registry] (session: UInt64) in
            var batch = TweakBatch()
            batch.set("A/B/Size", .number(70 + Double(session)))
            batch.set("A/B/Name", .string("m\(session)"))
            try registry.commit(
                batch, origin: TweakOrigin("session \(session)"), kind: .change(session: session), delivery: .caller)
        }
        try set(60, by: 1)
        for number in 2...10 {
            _ = try both(2)
            try set(60 + Double(number), by: 1, after: .zero)
        }
        #expect(registry.history.count == 19)
        try registry.undo()
        #expect(size.value == 72 && name.value == "m2")
        try registry.undo()
        #expect(size.value == 69)
    }

    @Test("a step is an entry of its own, whoever makes it, and whatever comes right behind it")
    func step() throws {
        try set(60, by: 1)
        _ = try registry.commit(
            size.erased.node, .set(.number(61)), origin: TweakOrigin("session 1"),
            kind: .change(session: 1, isStep: true), delivery: .caller)
        try set(62, by: 1, after: .zero)
        #expect(entries.count == 3)
    }

    @Test("a batch is taken back whole, and each observer runs once")
    func batch() throws {
        try set(60, by: 1)
        clock.advance(.seconds(1))
        try registry.commit(origin: .user(1000)) { batch in
            batch.set("A/B/Size", .number(70))
            batch.set("A/B/Name", .string("m"))
        }
        let seen = Mutex<[String]>([])
        let observations = [
            size.observe { change in seen.withLock { $0.append("\(change.new) \(change.origin)") } },
            name.observe { change in seen.withLock { $0.append("\(change.new) \(change.origin)") } },
        ]
        let undo = try registry.undo(origin: .user(7))
        #expect(undo.entry.origin == .user(1000) && undo.result.revision == 3)
        #expect(seen.withLock { $0 } == ["60.0 uid 7", "n uid 7"])
        #expect(size.erased.layers.last?.origin == .user(7))
        #expect(entries[0] == "3 uid 7: Size 70→60, Name \"m\"→\"n\"")
        #expect(registry.history[0].kind == .undo(of: 2))
        for observation in observations { observation.cancel() }
    }

    @Test("what was changed since by something else is not overwritten, unless forced")
    func conflict() throws {
        try set(60, by: 1)
        // The file wins over the override: no change of anybody's that undo could go back to.
        let entry = ConfigEntry(path: "A/B/Size", text: "20", line: 1, origin: TweakOrigin("a.conf:1"))
        _ = registry.applyConfigFile([entry], ConfigPolicy(fileWins: true))
        #expect(size.value == 20)
        let error = #expect(throws: TweakError.self) { try registry.undo() }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("A/B/Size has changed since, in revision 2") == true)
        #expect(registry.revision == 2)
        try registry.undo(force: true)
        #expect(size.value == 20 && registry.history.first { $0.kind == .change }?.isUndone == true)
    }

    @Test("a reload is remembered and not taken back")
    func reload() throws {
        try set(60, by: 1)
        size.reset()
        let entry = ConfigEntry(path: "A/B/Name", text: "file", line: 1, origin: TweakOrigin("a.conf:1"))
        _ = registry.applyConfigFile([entry])
        #expect(entries[0] == "3 config file: Name \"n\"→\"file\"")
        #expect(try registry.undo().entry.revision == 2)
        #expect(name.value == "file" && size.value == 60)
    }

    @Test("a secret's values are not remembered, and it is not taken back")
    func secret() throws {
        let token = try registry.register("A", "B", "Token", "", flags: .secret)
        try token.set("hush")
        #expect(entries == ["1 code: Token ?→?"])
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(token.value == "hush")
        #expect(!String(describing: registry.history).contains("hush"))
    }

    @Test("a removed tweak is not taken back")
    func removed() throws {
        try set(60, by: 1)
        registry.remove(size.path)
        #expect(throws: TweakError.self) { try registry.undo() }
        #expect(entries.count == 1)
    }

    @Test("a new change ends redo")
    func endsRedo() throws {
        try set(60, by: 1)
        try registry.undo()
        try set(61, by: 1)
        #expect(throws: TweakError.self) { try registry.redo() }
        try registry.undo()
        #expect(size.value == 50)
        #expect(throws: TweakError.self) { try registry.undo() }
    }

    @Test("only so many are kept, and none where none are wanted")
    func limit() throws {
        registry.historyLimit = 6
        for value in 0..<20 { try set(Double(20 + value), by: UInt64(value % 2)) }
        #expect(entries.count == 6)
        // Undos are commits, too, and take their place.
        for _ in 0..<3 { try registry.undo() }
        #expect(size.value == 36)
        registry.historyLimit = 0
        try set(90, by: 1)
        #expect(entries == [])
        #expect(throws: TweakError.self) { try registry.undo() }
    }

    @Test("of large commits fewer are kept, and any limit may be asked for")
    func large() throws {
        registry.historyLimit = .max
        for number in 0..<3_000 { _ = try registry.register("L", "M", "\(number)", 0) }
        var batches = 0
        for round in 1...40 {
            try registry.commit(origin: .code) { batch in
                for number in 0..<3_000 { batch.set("L/M/\(number)", .int(Int64(round))) }
            }
            // Small ones in between are no drag.
            try set(Double(10 + round), by: 1)
            batches += 1
        }
        let counts = registry.history.map(\.changes.count)
        #expect(counts.reduce(0, +) <= 100_000 + batches && counts.count { $0 == 3_000 } == 33)
        #expect(registry.history(last: 2).map(\.changes.count) == [1, 3_000])
        try registry.undo()
        try registry.undo()
        #expect(registry["L/M/7"]?.value == .int(39) && size.value == 49)
    }

    @Test("an unchanged set and a figure leave no trace")
    func nothing() throws {
        try set(60, by: 1)
        try set(60, by: 1)
        let figure = try registry.register("A", "B", "Figure", 1, flags: .readOnly)
        try figure.set(2)
        #expect(entries.count == 1)
    }

    @Test("two who undo at once: one wins, and the other is told")
    func race() throws {
        try set(60, by: 1)
        try set(70, by: 1)
        let first = try registry.historyStep(.undo, force: false)
        let second = try registry.historyStep(.undo, force: false)
        for (step, works) in [(first, true), (second, false)] {
            let result = Result { () throws(TweakError) in
                try registry.commit(
                    step.batch, origin: .code, ifUnchangedSince: step.revision, kind: step.kind, delivery: .caller)
            }
            #expect(((try? result.get()) != nil) == works)
        }
        #expect(size.value == 60)
    }
}
