// Tests reloading of a config file: its disappearance, many errors, and cancellation.

import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite struct ConfigReloaderTests {
    /// The file reappears unchanged in between.
    @Test func eachDisappearanceOfTheFileIsReportedOnce() {
        let content = Mutex(FileContent.bytes(Array("Content/Text/Size = 64\n".utf8)))
        let waits = Mutex(0)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(), registry: ExampleTweaks().registry,
            read: { _ in content.withLock { $0 } }
        ) { event in
            if case .waiting = event { waits.withLock { $0 += 1 } }
        }
        reloader.reloadIfChanged()
        let file = content.withLock { $0 }
        for round in 1...3 {
            content.withLock { $0 = .missing }
            for _ in 1...2 { reloader.reloadIfChanged() }
            #expect(waits.withLock { $0 } == round)
            content.withLock { $0 = file }
            reloader.reloadIfChanged()
        }
        #expect(waits.withLock { $0 } == 3)
    }

    /// Half of the lines are malformed and half name an unknown tweak. Only 100,000 assignments are checked.
    @Test(.tags(.quantity)) func aMillionErrorsAreCountedAndTheFirstHundredListed() throws {
        let half = quantity(1_000_000, few: 50_000) / 2
        let unknown = min(half, 90_000)
        let text =
            String(repeating: "nonsense\n", count: half) + String(repeating: "No/Such/Tweak = 1\n", count: unknown)
        let bytes = Array(text.utf8)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(unknownIsError: true), registry: ExampleTweaks().registry,
            read: { _ in .bytes(bytes) }, onEvent: { _ in })
        let failure = try #require(throws: ReloadFailure.self) { try reloader.reload() }
        #expect(failure.problems.count == 100 && failure.problems.compactMap(\.line) == Array(1...100))
        #expect(failure.count == half + unknown)
        #expect(failure.lines.count == 101 && failure.lines.last == "… and \(half + unknown - 100) more")
    }

    /// Ends like one during which the process receives SIGTERM.
    @Test func aCanceledReloadChangesNothing() throws {
        let tweaks = ExampleTweaks()
        let text = "Content/Text/Size = 64\n" + String(repeating: "nonsense\n", count: 100_000)
        let current = Mutex<ConfigReloader?>(nil)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(), registry: tweaks.registry,
            read: { _ in
                current.withLock { $0 }?.cancel()
                return .bytes(Array(text.utf8))
            }, onEvent: { _ in })
        current.withLock { $0 = reloader }
        let failure = #expect(throws: ReloadFailure.self) { try reloader.reload() }
        // Only the first few lines were parsed.
        #expect(failure?.count == 1 && failure?.problems.first?.error.message.contains("the process ends") == true)
        #expect(tweaks.size.value == 60)
        current.withLock { $0 = nil }
    }

    @Test func parsingAndApplyingCheckForCancellation() throws {
        let checks = Mutex(0)
        let isCanceled = {
            checks.withLock {
                $0 += 1
                return $0 > 3
            }
        }
        let text = String(repeating: "nonsense\n", count: 1_000_000)
        let file = ConfigFile(Array(text.utf8), name: "a.conf", listedProblems: 100, isCancelled: isCanceled)
        #expect(file.allProblems.count < 2_000 && checks.withLock { $0 } == 4)
        let entries = (1...100_000).lazy.map { line in
            ConfigEntry(path: "No/Such/Tweak", text: "1", line: line, origin: .configFile)
        }
        checks.withLock { $0 = 0 }
        let result = ExampleTweaks().registry.applyConfigFile(
            entries, ConfigPolicy(unknownIsError: true, listedProblems: 100), isCancelled: isCanceled)
        #expect(result.problems.count < 2_000 && !result.difference.didCommit)
    }
}
