// The state directory that an earlier version has left is read whole, and left as it is until something changes.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// `Fixtures/state-1` is what a daemon wrote on 2026-11-24 that declared the tweaks of `declare`: format 1 of all files.
@Suite("A state directory of format 1", .blocking)
struct EarlierStateTests {
    private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/state-1")
    private static let files = [
        "audit-refused.log", "audit.log", "history.jsonl", "overrides.json", "presets/warm.conf",
    ]

    private let home: TemporaryDirectory
    private let time = ManualTime()

    /// A copy, as a daemon would have it.
    init() throws {
        home = try TemporaryDirectory()
        for folder in ["state", "state/presets"] {
            try FileManager.default.createDirectory(
                atPath: home.file(folder), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        for name in Self.files {
            let bytes = try Data(contentsOf: Self.fixture.appendingPathComponent(name))
            let isMade = FileManager.default.createFile(
                atPath: home.file("state/\(name)"), contents: bytes, attributes: [.posixPermissions: 0o600])
            try #require(isMade)
        }
        // At noon of that day.
        time.jump(by: 268_200_000)
    }

    private func life() throws -> StoredLife {
        let registry = TweakRegistry { [time] in time.now }
        let life = StoredLife.withHistory(home.file("state"), time: time, registry: registry)
        try declare(life.registry)
        return life
    }

    private func declare(_ registry: TweakRegistry) throws {
        for number in 0..<3 {
            let name = "T\(number)"
            _ = try registry.register("Probe", "Bool", name, false)
            _ = try registry.register("Probe", "Int", name, 0)
            _ = try registry.register("Probe", "Number", name, 0.5)
            _ = try registry.register("Probe", "String", name, "")
            _ = try registry.register("Probe", "Color", name, TweakColor.black)
            _ = try registry.register("Probe", "Choice", name, "one", choices: ["one", "two", "three"])
            _ = try registry.register("Probe", "Duration", name, Duration.milliseconds(1))
        }
        _ = try registry.register("Probe", "Pair", "Left", 0)
        _ = try registry.register("Probe", "Pair", "Right", 0)
        _ = try registry.register("Probe", "Secret", "Key", "", flags: .secret)
    }

    /// What differs from the defaults, and where it comes from.
    private func modified(_ registry: TweakRegistry) -> [String] {
        registry.snapshot().values(matching: "*").compactMap { path, value in
            guard let layer = registry["\(path)"]?.layers.last, layer.layer != .default else { return nil }
            return "\(path) = \(value.text) by \(layer.origin)"
        }.sorted()
    }

    @Test("every override is in effect, of each kind, with its author; a temporary one lies above another")
    func overrides() throws {
        let life = try life()
        #expect(
            modified(life.registry) == [
                "Probe/Bool/T0 = true by uid 0", "Probe/Bool/T2 = true by uid 0 (Ada)",
                "Probe/Choice/T0 = two by uid 0", "Probe/Color/T0 = #FFA50080 by uid 0",
                "Probe/Duration/T0 = 1.5s by uid 0", "Probe/Int/T0 = -5 by uid 0", "Probe/Int/T1 = 5 by uid 0",
                "Probe/Number/T0 = 0.1 by uid 0", "Probe/Number/T1 = 4 by uid 0 (Ada)",
                "Probe/Pair/Left = 1 by uid 0", "Probe/Pair/Right = 2 by uid 0",
                #"Probe/Secret/Key = "hunter2" by uid 0"#, #"Probe/String/T0 = "say \"hi\"\tto é" by uid 0"#,
            ])
        #expect(life.registry.revision == 23)
        let temporary = try #require(life.registry["Probe/Number/T1"])
        #expect(temporary.timeLeft == .milliseconds(31_535_856_143))
        #expect(temporary.layers.map(\.value) == [.number(0.5), .number(3), .number(4)])
        #expect(life.store.facts.entries == 14 && life.store.facts.entriesSetAside == 1)
        #expect(life.events == [.opened(path: life.file, entries: 14)])
    }

    @Test("the history has all that it had: a drag as one step, what was undone, reloads, what was set for a while")
    func history() throws {
        let life = try life()
        #expect(life.registry.entries == Self.entries)
        #expect(life.registry.history.first { $0.revision == 19 }?.changes.first?.lifetime == .seconds(31_536_000))
    }

    /// Newest first.
    private static let entries = [
        #"23 config file: T2 0→8, T2 ""→"from the file""#,
        "23 uid 0 (Ada) undid 22: T2 12.25→0.5", "22 uid 0 (Ada) undone: T2 0.5→12.25",
        "21 uid 0 (Ada): T2 false→true",
        #"20 config file: T2 0→8, T2 ""→"from the file""#, "20 config file: T2 7→8",
        "19 uid 0 (Ada): T1 3→4", "18 uid 0 undid 17: T1 true→false", "17 uid 0 undone: T1 false→true",
        "16 uid 0: Left 0→1, Right 0→2", "15 uid 0: T1 0→5", "10 uid 0: T1 0.5→3", "9 uid 0: Key ?→?",
        "8 uid 0: T0 1ms→1.5s", "7 uid 0: T0 one→two", "6 uid 0: T0 #000000FF→#FFA50080",
        #"5 uid 0: T0 ""→"say \"hi\"\tto é""#, "4 uid 0: T0 0.5→0.1", "3 uid 0: T0 0→-5", "2 uid 0: T0 false→true",
        #"1 config file: T2 0→7, T2 ""→"from the file""#,
    ]

    @Test("what was undone is made again, and step by step all is taken back")
    func undo() throws {
        let life = try life()
        let value = { (path: String) in life.registry["Probe/\(path)"]?.value }
        try life.registry.redo()
        #expect(value("Number/T2") == .number(12.25))
        try life.registry.undo()
        #expect(value("Number/T2") == .number(0.5))
        try life.registry.undo()
        #expect(value("Bool/T2") == .bool(false))
        try life.registry.undo()
        #expect(value("Number/T1") == .number(3))
        try life.registry.undo()
        #expect(value("Pair/Left") == .int(0) && value("Pair/Right") == .int(0))
        try life.registry.undo()
        #expect(value("Int/T1") == .int(0))
        life.store.close()
        #expect(home.read("state/overrides.json")?.contains(#"{"path": "Probe/Wish/T0", "kind": "wish""#) == true)
    }

    @Test("the preset is listed, and read")
    func preset() throws {
        let folder = PresetFolder(directory: .success(home.file("state")), program: "probe", time: time)
        let warm = try PresetName("warm")
        let listed = try folder.list()
        #expect(listed.map(\.name) == [warm] && listed.map(\.tweaks) == [11] && listed.map(\.badLines) == [0])
        #expect(listed.first?.heading.by == "uid 0" && listed.first?.heading.pattern == "Probe")
        let preset = try folder.read(warm)
        #expect(preset.problems.isEmpty)
        #expect(
            preset.entries.map { "\($0.path) = \($0.text)" } == [
                "Probe/Bool/T0 = true", "Probe/Choice/T0 = two", "Probe/Color/T0 = #FFA50080",
                "Probe/Duration/T0 = 1.5s", "Probe/Int/T0 = -5", "Probe/Int/T1 = 5", "Probe/Number/T0 = 0.1",
                "Probe/Number/T1 = 3", "Probe/Pair/Left = 1", "Probe/Pair/Right = 2",
                "Probe/String/T0 = say \"hi\"\tto é",
            ])
    }

    @Test("nothing is written until something changes")
    func unchanged() throws {
        let life = try life()
        let trail = audit(life.registry)
        #expect(try PresetFolder(directory: .success(home.file("state")), program: "probe").list().count == 1)
        trail.close()
        life.store.close()
        for name in Self.files {
            let (now, before) = (try bytes(name), try Data(contentsOf: Self.fixture.appendingPathComponent(name)))
            #expect(now == before, "\(name)")
        }
        #expect(
            home.names("state") == [
                "audit-refused.log", "audit.log", "history.jsonl", "lock", "overrides.json", "presets",
            ])
    }

    @Test("audit and history go on behind what is there")
    func goesOn() throws {
        let life = try life()
        let trail = audit(life.registry)
        try #require(life.registry["Probe/Int/T0"]).set(text: "7")
        // While it runs the history is appended to; what is left at the end may replace the file.
        life.tried()
        trail.close()
        life.store.close()
        // In the history what had been undone is dropped for good, too.
        for (name, lines) in [("audit.log", 1), ("history.jsonl", 2)] {
            let before = try Data(contentsOf: Self.fixture.appendingPathComponent(name))
            let now = try bytes(name)
            let added = now.dropFirst(before.count).count { $0 == UInt8(ascii: "\n") }
            #expect(now.starts(with: before) && added == lines, "\(name)")
        }
        let overrides = try #require(home.read("state/overrides.json"))
        #expect(overrides.contains(#""Probe/Int/T0", "kind": "int", "value": 7"#) && overrides.contains("hunter2"))
    }

    private func audit(_ registry: TweakRegistry) -> AuditTrail {
        AuditTrail(AuditSettings(path: home.file("state/audit.log")), registry: registry, time: time) { event in
            Issue.record("\(event)")
        }
    }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: home.file("state/\(name)")))
    }
}
