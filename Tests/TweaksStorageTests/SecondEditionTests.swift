// Tests that a state directory that the second edition's daemon wrote is read, continued, and explained.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// The example hello of the second edition wrote `Fixtures/state-2` on 2026-11-27, beside a config file that sets
/// `Greeting/Text/Repeat` to 2.
@Suite(.blocking) struct SecondEditionTests {
    private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/state-2")

    private let home: TemporaryDirectory
    private let time = ManualClock()
    private let registry: TweakRegistry
    private let words: Tweak<String>
    private let count: Tweak<Int>
    private let pause: Tweak<Duration>

    /// Copies the fixture; the clock is some minutes later.
    init() throws {
        home = try TemporaryDirectory()
        for folder in ["state", "state/presets"] { try home.makeFolder(folder) }
        for name in ["audit.log", "config.last", "history.jsonl", "overrides.json", "presets/mine.conf"] {
            let isMade = FileManager.default.createFile(
                atPath: home.file("state/\(name)"),
                contents: try Data(contentsOf: Self.fixture.appendingPathComponent(name)),
                attributes: [.posixPermissions: 0o600])
            try #require(isMade)
        }
        time.jump(by: 520_200_000)
        let registry = TweakRegistry { [time] in time.now }
        words = try registry.register("Greeting", "Text", "Words", "Hello, world")
        count = try registry.register("Greeting", "Text", "Repeat", 1, in: 1...5)
        pause = try registry.register(
            "Greeting", "Timing", "Pause", .seconds(1), in: .milliseconds(100) ... .seconds(10))
        self.registry = registry
    }

    private func start(config: String = "Greeting/Text/Repeat = 2\n") throws -> ProgramRun {
        try home.write(config, to: "hello.conf")
        let reloader = ConfigReloader(
            path: home.file("hello.conf"), policy: LayerPolicy(), registry: registry, onEvent: { _ in })
        try reloader.start()
        let run = ProgramRun(home.file("state"), keepsHistory: true, time: time, registry: registry)
        #expect(reloader.continueRun(in: home.file("state")) == nil)
        return run
    }

    @Test func everyLayerIsInEffect() throws {
        let run = try start()
        #expect(registry.revision == 8 && run.store.info.entries == 3 && run.store.info.entriesQuarantined == 0)
        #expect(
            count.erased.layers.map { "\($0.layer) \($0.value)" } == ["default 1", "config file 2", "override 1"])
        #expect(words.value == "both" && words.erased.layers.map(\.layer) == [.default, .override])
        #expect(pause.value == .seconds(2) && pause.erased.layers.map(\.layer) == [.default, .temporaryOverride])
    }

    @Test func theHistoryIsUndoneStepByStep() throws {
        let run = try start()
        #expect(registry.history.map(\.revision) == [8, 7, 6, 5, 4, 3, 2, 1])
        try registry.undo()
        #expect(words.value == "and again" && count.value == 4)
        try registry.undo()
        #expect(pause.value == .seconds(1))
        for value in [3, 3, 2] {
            try registry.undo()
            #expect(count.value == value)
        }
        try registry.undo()
        #expect(words.value == "Hello, world" && !words.isModified)
        run.store.close()
    }

    @Test func aFileThatWasEditedBetweenTheRunsIsRecorded() throws {
        // The override hides the change of one tweak; the other one has none.
        let run = try start(config: "Greeting/Text/Repeat = 3\nGreeting/Timing/Pause = 3s\n")
        #expect(registry.revision == 8 && registry.underlyingValueChange(count.erased.node)?.new == .int(3))
        try registry.reset(matching: "*")
        #expect(count.value == 3 && pause.value == .seconds(3))
        run.store.close()
    }

    @Test func auditAndHistoryAreAppendedToAndThePresetIsRead() throws {
        let run = try start()
        let trail = AuditTrail(
            AuditSettings(path: home.file("state/audit.log")), registry: registry, time: time
        ) { Issue.record("\($0)") }
        try count.erased.set(text: "5")
        run.flush()
        trail.close()
        run.store.close()
        for name in ["audit.log", "history.jsonl"] {
            let before = try Data(contentsOf: Self.fixture.appendingPathComponent(name))
            let now = try Data(contentsOf: URL(fileURLWithPath: home.file("state/\(name)")))
            #expect(now.starts(with: before) && now.count > before.count, "\(name)")
        }
        let preset = try PresetFolder(directory: .success(home.file("state")), program: "hello", time: time)
            .read(PresetName("mine"))
        #expect(preset.problems.isEmpty && preset.entries.map(\.text) == ["and again", "4", "2s"])
    }
}
