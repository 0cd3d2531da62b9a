// Tests that a state directory of an earlier format is read, and unchanged until something changes.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// A daemon with the tweaks of `declare` wrote `Fixtures/state-1` on 2026-11-24, in format 1 of all files.
@Suite(.blocking) struct EarlierFormatTests {
    private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/state-1")
    private static let files = [
        "audit-refused.log", "audit.log", "history.jsonl", "overrides.json", "presets/warm.conf",
    ]

    private let home: TemporaryDirectory
    private let time = ManualClock()

    /// Copies the fixture; the clock is at noon of its day.
    init() throws {
        home = try TemporaryDirectory()
        for folder in ["state", "state/presets"] { try home.makeFolder(folder) }
        for name in Self.files {
            let bytes = try Data(contentsOf: Self.fixture.appendingPathComponent(name))
            let isMade = FileManager.default.createFile(
                atPath: home.file("state/\(name)"), contents: bytes, attributes: [.posixPermissions: 0o600])
            try #require(isMade)
        }
        time.jump(by: 268_200_000)
    }

    private func start() throws -> ProgramRun {
        let registry = TweakRegistry { [time] in time.now }
        let run = ProgramRun(home.file("state"), keepsHistory: true, time: time, registry: registry)
        try declare(run.registry)
        return run
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

    /// The values that differ from the defaults, with their origin.
    private func modified(_ registry: TweakRegistry) -> [String] {
        registry.snapshot().values(matching: "*").compactMap { path, value in
            guard let layer = registry["\(path)"]?.layers.last, layer.layer != .default else { return nil }
            return "\(path) = \(value.text) by \(layer.origin)"
        }.sorted()
    }

    @Test func everyOverrideIsInEffectWithItsAuthor() throws {
        let run = try start()
        #expect(
            modified(run.registry) == [
                "Probe/Bool/T0 = true by uid 0", "Probe/Bool/T2 = true by uid 0 (Ada)",
                "Probe/Choice/T0 = two by uid 0", "Probe/Color/T0 = #FFA50080 by uid 0",
                "Probe/Duration/T0 = 1.5s by uid 0", "Probe/Int/T0 = -5 by uid 0", "Probe/Int/T1 = 5 by uid 0",
                "Probe/Number/T0 = 0.1 by uid 0", "Probe/Number/T1 = 4 by uid 0 (Ada)",
                "Probe/Pair/Left = 1 by uid 0", "Probe/Pair/Right = 2 by uid 0",
                #"Probe/Secret/Key = "hunter2" by uid 0"#, #"Probe/String/T0 = "say \"hi\"\tto é" by uid 0"#,
            ])
        #expect(run.registry.revision == 23)
        let temporary = try #require(run.registry["Probe/Number/T1"])
        #expect(temporary.timeLeft == .milliseconds(31_535_856_143))
        #expect(temporary.layers.map(\.value) == [.number(0.5), .number(3), .number(4)])
        #expect(run.store.info.entries == 14 && run.store.info.entriesQuarantined == 1)
        #expect(run.events == [.opened(path: run.file, entries: 14)])
    }

    @Test func theHistoryIsComplete() throws {
        let run = try start()
        #expect(run.registry.entries == Self.entries)
        #expect(run.registry.history.first { $0.revision == 19 }?.changes.first?.lifetime == .seconds(31_536_000))
    }

    /// Newest first.
    private static let entries = [
        #"23 config file: T2 0→8, T2 ""→"from the file""#,
        "23 uid 0 (Ada) undid 22: T2 12.25→0.5", "22 uid 0 (Ada) undone: T2 0.5→12.25", "21 uid 0 (Ada): T2 false→true",
        #"20 config file: T2 0→8, T2 ""→"from the file""#, "20 config file: T2 7→8",
        "19 uid 0 (Ada): T1 3→4", "18 uid 0 undid 17: T1 true→false", "17 uid 0 undone: T1 false→true",
        "16 uid 0: Left 0→1, Right 0→2", "15 uid 0: T1 0→5", "10 uid 0: T1 0.5→3", "9 uid 0: Key ?→?",
        "8 uid 0: T0 1ms→1.5s", "7 uid 0: T0 one→two", "6 uid 0: T0 #000000FF→#FFA50080",
        #"5 uid 0: T0 ""→"say \"hi\"\tto é""#, "4 uid 0: T0 0.5→0.1", "3 uid 0: T0 0→-5", "2 uid 0: T0 false→true",
        #"1 config file: T2 0→7, T2 ""→"from the file""#,
    ]

    @Test func redoAndEveryUndoWork() throws {
        let run = try start()
        let value = { (path: String) in run.registry["Probe/\(path)"]?.value }
        try run.registry.redo()
        #expect(value("Number/T2") == .number(12.25))
        let undone: [[(String, TweakValue)]] = [
            [("Number/T2", .number(0.5))], [("Bool/T2", .bool(false))], [("Number/T1", .number(3))],
            [("Pair/Left", .int(0)), ("Pair/Right", .int(0))], [("Int/T1", .int(0))],
        ]
        for values in undone {
            try run.registry.undo()
            for (path, expected) in values { #expect(value(path) == expected, "\(path)") }
        }
        run.store.close()
        #expect(home.read("state/overrides.json")?.contains(#"{"path": "Probe/Wish/T0", "kind": "wish""#) == true)
    }

    @Test func thePresetIsListedAndRead() throws {
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

    @Test func nothingIsWrittenUntilSomethingChanges() throws {
        let run = try start()
        let trail = audit(run.registry)
        #expect(try PresetFolder(directory: .success(home.file("state")), program: "probe").list().count == 1)
        trail.close()
        run.store.close()
        for name in Self.files {
            #expect(try bytes(name) == Data(contentsOf: Self.fixture.appendingPathComponent(name)), "\(name)")
        }
        let names = [
            "audit-refused.log", "audit.log", "audit.log.lock", "history.jsonl", "lock", "overrides.json", "presets",
        ]
        #expect(home.names("state") == names)
    }

    @Test func auditAndHistoryAreAppendedTo() throws {
        let run = try start()
        let trail = audit(run.registry)
        try #require(run.registry["Probe/Int/T0"]).set(text: "7")
        // A running program appends to the history; closing may replace the file.
        run.flush()
        trail.close()
        run.store.close()
        // The second line of the history drops the entries that were undone.
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
