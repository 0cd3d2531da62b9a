// Overrides through the ends of programs: what was set is there again, what was reset is not.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@testable import Tweaks

@Suite("Overrides on disk", .blocking)
struct OverrideStoreTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func live(_ body: (StoredLife) throws -> Void) rethrows {
        let life = StoredLife(home.file("state"))
        try body(life)
        life.store.close()
    }

    @Test("what was set is there again, with origin, time and revision")
    func survives() throws {
        var first: TweakLayerValue?
        try live { life in
            #expect(life.events == [.opened(path: life.file, entries: 0)])
            let size = try life.number("Size")
            try life.registry.commit(origin: .user(1000)) { $0.set("A/B/Size", .number(72)) }
            #expect(life.tried() == nil)
            #expect(life.text?.contains(#""revision": 1,"#) == true)
            first = life.registry["A/B/Size"]?.layers.last
            size.value = 73
        }
        try live { life in
            #expect(life.events == [.opened(path: life.file, entries: 1)])
            #expect(life.registry.revision == 2)
            let size = try life.number("Size")
            #expect(size.value == 73)
            let layer = life.registry["A/B/Size"]?.layers.last
            #expect(layer?.layer == .override)
            #expect(layer?.origin == .code)
            size.value = 74
            #expect(life.registry.revision == 3)
        }
        #expect(first?.origin == .user(1000))
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test("it is readable, sorted, and holds overrides alone")
    func file() throws {
        try live { life in
            _ = try life.number("Default")
            try life.number("Z").value = 2
            try life.number("A").value = 3
            life.tried()
            let lines = try #require(life.text).split(separator: "\n").filter { $0.contains("path") }
            #expect(lines.map { $0.split(separator: "\"")[3] } == ["A/B/A", "A/B/Z"])
            let facts = try FileManager.default.attributesOfItem(atPath: life.file)
            #expect(facts[.posixPermissions] as? Int == 0o600)
        }
        let facts = try FileManager.default.attributesOfItem(atPath: home.file("state"))
        #expect(facts[.posixPermissions] as? Int == 0o700)
    }

    @Test("several missing levels are made, for their owner alone")
    func levels() throws {
        let life = StoredLife(home.file("a/b/c"))
        try life.number("X").value = 2
        #expect(life.tried() == nil)
        let facts = try FileManager.default.attributesOfItem(atPath: home.file("a"))
        #expect(facts[.posixPermissions] as? Int == 0o700)
    }

    @Test("a reset removes it; a commit that stores nothing new still stores its revision")
    func reset() throws {
        try live { life in
            let size = try life.number("Size")
            size.value = 2
            size.reset()
            #expect(life.tried() == nil)
            #expect(life.text?.contains("A/B/Size") == false)
            let entries = [ConfigEntry(path: "A/B/Size", text: "5", line: 1, origin: .configFile)]
            #expect(life.registry.applyConfigFile(entries).difference.revision == 3)
            #expect(life.tried() == nil)
            #expect(life.text?.contains(#""revision": 3,"#) == true)
        }
        live { life in #expect(life.registry.revision == 3) }
    }

    @Test("what was set before the storage opened is newer, and is written")
    func before() throws {
        try live { life in
            try life.number("Size").value = 2
            try life.number("Other").value = 2
        }
        let life = StoredLife(home.file("state"), isOpen: false)
        let size = try life.number("Size")
        size.value = 3
        life.store.open(life.registry)
        #expect(size.value == 3)
        #expect(life.registry.revision == 3)
        #expect(life.tried() == nil)
        #expect(life.text?.contains(#""value": 3"#) == true)
        #expect(life.text?.contains("Other") == true)
    }

    @Test("overrides of tweaks that are not registered survive rewriting, as do those that do not fit")
    func kept() throws {
        try live { life in
            try life.number("Late").value = 2
            try life.number("Wide").value = 200
        }
        try live { life in
            let wide = try life.registry.register("A", "B", "Wide", 5.0, in: 0...10)
            #expect(wide.value == 5)
            try life.number("New").value = 3
            life.tried()
            #expect(life.text?.split(separator: "\n").count { $0.contains("path") } == 3)
        }
        try live { life in
            let (late, wide) = (try life.number("Late"), try life.number("Wide"))
            #expect(late.value == 2)
            #expect(wide.value == 200)
        }
    }

    @Test("what is not registered is written back untouched, with what this version does not know")
    func untouched() throws {
        try live { life in try life.number("X").value = 2 }
        let entry =
            #"{"path": "A/A/A", "kind": "int", "value": 1, "origin": "x", "time": "2026-01-01T00:00:00Z", "by": {"a":1}}"#
        let text = try #require(home.read("state/overrides.json"))
        try home.write(text.replacing("[\n", with: "[\n    \(entry),\n"), to: "state/overrides.json")
        try live { life in
            #expect(life.events == [.opened(path: life.file, entries: 2)])
            try life.number("X").value = 3
        }
        #expect(home.read("state/overrides.json")?.contains("    \(entry),\n") == true)
    }

    @Test("an override moves to the new path of its tweak")
    func formerly() throws {
        try live { life in try life.number("Old").value = 2 }
        try live { life in
            let new = try life.registry.declare(
                TweakPath("A", "B", "New"), 1.0, TweakShape(facts: DeclaredFacts(formerly: "A/B/Old")),
                TweakSource(fileID: #fileID, line: #line))
            #expect(new.value == 2)
        }
        let text = try #require(home.read("state/overrides.json"))
        #expect(text.contains("A/B/New") && !text.contains("A/B/Old"))
    }

    @Test("a batch is in the file as a whole, or not at all")
    func batches() throws {
        let life = StoredLife(home.file("state"))
        for name in ["X", "Y"] { _ = try life.number(name, 0) }
        let thread = Thread { [registry = life.registry] in
            for number in 1...2_000 {
                _ = try? registry.commit(origin: .code) { batch in
                    batch.set("A/B/X", .number(Double(number)))
                    batch.set("A/B/Y", .number(Double(number)))
                }
            }
        }
        thread.start()
        var seen = 0
        while seen < 2_000 {
            let text = life.text ?? ""
            let values = text.split(separator: "\n").filter { $0.contains("path") }.map { line in
                line.split(separator: "\"value\": ").last?.prefix { $0 != "," }
            }
            if values.count != 2 { #expect(values.isEmpty) }
            #expect(values.first == values.last)
            if let value = values.first, let value, let number = Int(value) { seen = number }
        }
    }

    @Test("many sets: far fewer writes where the disk is slow, and always the last value")
    func many() throws {
        let life = StoredLife(home.file("state"))
        let size = try life.number("Size")
        for number in 1...1_000 { size.value = Double(number) + 1 }
        #expect(life.tried() == nil)
        #expect(life.text?.contains(#""value": 1001"#) == true)
        #expect(life.store.facts.writes <= 1_000)
        #expect(life.store.facts.entries == 1)
        #expect(life.store.facts.failures == 0)
    }

    @Test("10,000 overrides, given at once and one by one")
    func large() throws {
        try live { life in
            for number in 0..<10_000 { try life.number("N\(number)").value = 2 }
            #expect(life.tried() == nil)
        }
        let life = StoredLife(home.file("state"))
        #expect(life.events == [.opened(path: life.file, entries: 10_000)])
        #expect(try life.number("N9999").value == 2)
    }

    @Test("a closed storage answers at once, and can follow its registry no more")
    func closed() throws {
        let life = StoredLife(home.file("state"))
        try life.number("X").value = 2
        life.store.close()
        #expect(home.read("state/overrides.json")?.contains("A/B/X") == true)
        #expect(life.store.status.answer(for: 1) == .saved)
        #expect(life.store.status.answer(for: 2) == .unsaved("the storage is closed"))
        #expect(try life.propose([:]) == "the storage is closed")
        life.store.open(life.registry)
        #expect(life.registry.store == nil)
        life.store.close()
    }

    @Test("the same registry can be stored again")
    func again() throws {
        let registry = TweakRegistry()
        let size = try registry.register("A", "B", "Size", 1.0)
        for round in 1...3 {
            let store = OverrideStore(directory: home.file("state"), program: "test") { _ in }
            store.open(registry)
            size.value = Double(round) + 1
            store.close()
        }
        live { life in #expect((try? life.number("Size").value) == 4) }
    }

    @Test("a thousand storages leave no descriptor and no thread behind")
    func leaks() throws {
        func openFiles() -> Int {
            let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return links.count { link in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)")
                return target?.hasPrefix(home.path) == true
            }
        }
        for round in 0..<1_000 {
            let life = StoredLife(home.file("state\(round % 3)"))
            if round % 10 == 0 { try life.number("X").value = Double(round) + 2 }
            life.store.close()
        }
        #expect(openFiles() == 0)
    }
}
