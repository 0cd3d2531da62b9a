// Tests that overrides survive the end of a program, and that reset ones do not.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@testable import Tweaks

@Suite(.blocking) struct OverrideStoreTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test func overridesSurviveWithOriginTimeAndRevision() throws {
        var first: TweakLayerValue?
        try home.withRun { run in
            #expect(run.events == [.opened(path: run.file, entries: 0)])
            let size = try run.number("Size")
            try run.registry.commit(origin: .user(1000)) { $0.set("A/B/Size", .number(72)) }
            #expect(run.flush() == nil && run.text?.contains(#""revision": 1,"#) == true)
            first = run.registry["A/B/Size"]?.layers.last
            size.value = 73
        }
        try home.withRun { run in
            #expect(run.events == [.opened(path: run.file, entries: 1)] && run.registry.revision == 2)
            let size = try run.number("Size")
            let layer = run.registry["A/B/Size"]?.layers.last
            #expect(size.value == 73 && layer?.layer == .override && layer?.origin == .code)
            size.value = 74
            #expect(run.registry.revision == 3)
        }
        #expect(first?.origin == .user(1000))
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test func theFileIsSortedAndPrivateAndHoldsOnlyOverrides() throws {
        try home.withRun { run in
            _ = try run.number("Default")
            try run.number("Z").value = 2
            try run.save("A", 3)
            let lines = try #require(run.text).split(separator: "\n").filter { $0.contains("path") }
            #expect(lines.map { $0.split(separator: "\"")[3] } == ["A/B/A", "A/B/Z"])
        }
        #expect(try home.mode("state/overrides.json") == 0o600 && home.mode("state") == 0o700)
    }

    @Test func missingLevelsAreCreatedForTheirOwnerAlone() throws {
        #expect(try ProgramRun(home.file("a/b/c")).save("X", 2) == nil)
        #expect(try home.mode("a") == 0o700)
    }

    @Test func aResetRemovesTheEntryAndEveryCommitStoresItsRevision() throws {
        try home.withRun { run in
            let size = try run.number("Size")
            size.value = 2
            size.reset()
            #expect(run.flush() == nil && run.text?.contains("A/B/Size") == false)
            let entries = [ConfigEntry(path: "A/B/Size", text: "5", line: 1, origin: .configFile)]
            #expect(run.registry.replace(.configFile, with: entries).revision == 3)
            #expect(run.flush() == nil && run.text?.contains(#""revision": 3,"#) == true)
        }
        #expect(home.withRun { $0.registry.revision } == 3)
    }

    @Test func aValueSetBeforeOpeningIsNewerAndIsWritten() throws {
        try home.withRun { run in for name in ["Size", "Other"] { try run.number(name).value = 2 } }
        let run = ProgramRun(home.file("state"), isOpen: false)
        let size = try run.number("Size")
        size.value = 3
        run.store.open(run.registry)
        #expect(size.value == 3 && run.registry.revision == 3)
        #expect(run.flush() == nil && run.text?.contains(#""value": 3"#) == true && run.text?.contains("Other") == true)
    }

    @Test func unregisteredAndInvalidOverridesSurviveRewriting() throws {
        try home.withRun { run in
            try run.number("Late").value = 2
            try run.number("Wide").value = 200
        }
        try home.withRun { run in
            let wide = try run.registry.register("A", "B", "Wide", 5.0, in: 0...10)
            #expect(wide.value == 5)
            try run.save("New", 3)
            #expect(run.text?.split(separator: "\n").count { $0.contains("path") } == 3)
        }
        #expect(try home.withRun { run in try ["Late", "Wide"].map { try run.number($0).value } } == [2, 200])
    }

    /// The entry has a key of a later version.
    @Test func unregisteredEntriesAreWrittenBackVerbatim() throws {
        try home.withRun { run in try run.number("X").value = 2 }
        let entry =
            #"{"path": "A/A/A", "kind": "int", "value": 1, "origin": "x", "time": "2026-01-01T00:00:00Z", "by": {"a":1}}"#
        let text = try #require(home.read("state/overrides.json"))
        try home.write(text.replacing("[\n", with: "[\n    \(entry),\n"), to: "state/overrides.json")
        try home.withRun { run in
            #expect(run.events == [.opened(path: run.file, entries: 2)])
            try run.number("X").value = 3
        }
        #expect(home.read("state/overrides.json")?.contains("    \(entry),\n") == true)
    }

    @Test func anOverrideMovesToTheNewPathOfItsTweak() throws {
        try home.withRun { try $0.number("Old").value = 2 }
        let value = try home.withRun { try $0.registry.register("A", "B", "New", 1.0, formerly: "A/B/Old").value }
        let text = try #require(home.read("state/overrides.json"))
        #expect(value == 2 && text.contains("A/B/New") && !text.contains("A/B/Old"))
    }

    @Test func aBatchIsInTheFileAsAWholeOrNotAtAll() throws {
        let run = ProgramRun(home.file("state"))
        for name in ["X", "Y"] { _ = try run.number(name, 0) }
        let thread = Thread { [registry = run.registry] in
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
            let text = run.text ?? ""
            let values = text.split(separator: "\n").filter { $0.contains("path") }.map { line in
                line.split(separator: "\"value\": ").last?.prefix { $0 != "," }
            }
            if values.count != 2 { #expect(values.isEmpty) }
            #expect(values.first == values.last)
            if let value = values.first, let value, let number = Int(value) { seen = number }
        }
    }

    @Test func manyChangesShareWritesAndTheLastValueIsSaved() throws {
        let run = ProgramRun(home.file("state"))
        let size = try run.number("Size")
        for number in 1...1_000 { size.value = Double(number) + 1 }
        #expect(run.flush() == nil && run.text?.contains(#""value": 1001"#) == true)
        let info = run.store.info
        #expect(info.writes <= 1_000 && info.entries == 1 && info.failures == 0)
    }

    @Test func tenThousandOverridesAreSavedAndLoaded() throws {
        try home.withRun { run in
            for number in 0..<10_000 { try run.number("N\(number)").value = 2 }
            #expect(run.flush() == nil)
        }
        let run = ProgramRun(home.file("state"))
        #expect(try run.events == [.opened(path: run.file, entries: 10_000)] && run.number("N9999").value == 2)
    }

    @Test func aClosedStorageAnswersAtOnceAndStaysClosed() throws {
        let run = ProgramRun(home.file("state"))
        try run.number("X").value = 2
        run.store.close()
        #expect(home.read("state/overrides.json")?.contains("A/B/X") == true)
        #expect(run.store.status.answer(for: 1) == .saved)
        #expect(run.store.status.answer(for: 2) == .unsaved("the storage is closed"))
        #expect(try run.propose([:]) == "the storage is closed")
        run.store.open(run.registry)
        #expect(run.registry.store == nil)
        run.store.close()
    }

    @Test func aRegistryCanBeStoredAgain() throws {
        let registry = TweakRegistry()
        let size = try registry.register("A", "B", "Size", 1.0)
        for round in 1...3 {
            let store = OverrideStore(directory: home.file("state"), program: "test") { _ in }
            store.open(registry)
            size.value = Double(round) + 1
            store.close()
        }
        #expect(try home.withRun { try $0.number("Size").value } == 4)
    }

    @Test func storagesLeaveNoDescriptorsOpen() throws {
        for round in 0..<1_000 {
            let run = ProgramRun(home.file("state\(round % 3)"))
            if round % 10 == 0 { try run.number("X").value = Double(round) + 2 }
            run.store.close()
        }
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let targets = links.map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        #expect(!targets.contains { $0?.hasPrefix(home.path) == true })
    }
}
