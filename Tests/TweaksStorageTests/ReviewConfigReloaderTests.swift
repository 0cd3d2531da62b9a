// What is said of a config file that comes and goes.

import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

struct ReviewConfigReloaderTests {
    /// A file that came back unchanged and is gone again is news again; as long as it is gone, it is said once.
    @Test func goneAgain() {
        let content = Mutex(FileContent.bytes(Array("Content/Text/Size = 64\n".utf8)))
        let waits = Mutex(0)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(), registry: ExampleTweaks().registry,
            read: { _ in content.withLock { $0 } }
        ) { event in
            if case .waiting = event { waits.withLock { $0 += 1 } }
        }
        reloader.look()
        let file = content.withLock { $0 }
        for round in 1...3 {
            content.withLock { $0 = .missing }
            reloader.look()
            reloader.look()
            #expect(waits.withLock { $0 } == round)
            content.withLock { $0 = file }
            reloader.look()
        }
        #expect(waits.withLock { $0 } == 3)
    }

    /// A million lines that are wrong in two ways: what is kept of them is small, in order, and says how many there are.
    @Test(.tags(.quantity)) func countedErrors() throws {
        let count = quantity(1_000_000, few: 50_000)
        var text = String(repeating: "nonsense\n", count: count / 2)
        // Beyond a hundred thousand assignments the rest would not be looked at.
        let bad = min(count / 2, 90_000)
        text += String(repeating: "No/Such/Tweak = 1\n", count: bad)
        let bytes = Array(text.utf8)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(unknownIsError: true), registry: ExampleTweaks().registry,
            read: { _ in .bytes(bytes) }, onEvent: { _ in })
        let failure = #expect(throws: ReloadFailure.self) { try reloader.reload() }
        #expect(failure?.problems.count == 100 && failure?.problems.compactMap(\.line) == Array(1...100))
        #expect(failure?.count == count / 2 + bad)
        #expect(failure?.lines.count == 101 && failure?.lines.last == "… and \(count / 2 + bad - 100) more")
    }

    /// Ended while it is under way, as by SIGTERM: it is not waited for, and nothing comes of it.
    @Test func cancelled() throws {
        let tweaks = ExampleTweaks()
        let text = "Content/Text/Size = 64\n" + String(repeating: "nonsense\n", count: 100_000)
        let reloader = Mutex<ConfigReloader?>(nil)
        let made = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(), registry: tweaks.registry,
            read: { _ in
                // It is ended while it is being read.
                reloader.withLock { $0 }?.cancel()
                return .bytes(Array(text.utf8))
            }, onEvent: { _ in })
        reloader.withLock { $0 = made }
        let failure = #expect(throws: ReloadFailure.self) { try made.reload() }
        // Of a hundred thousand bad lines none was looked at but the first few.
        #expect(failure?.count == 1 && failure?.problems.first?.error.message.contains("the process ends") == true)
        #expect(tweaks.size.value == 60)
        reloader.withLock { $0 = nil }
    }

    /// The parts of it ask whether they are to go on, often enough.
    @Test func lookedAtNowAndThen() throws {
        let asked = Mutex(0)
        let isOver = {
            asked.withLock {
                $0 += 1; return $0 > 3
            }
        }
        let text = String(repeating: "nonsense\n", count: 1_000_000)
        let file = ConfigFile(Array(text.utf8), name: "a.conf", listedProblems: 100, isCancelled: isOver)
        #expect(file.allProblems.count < 2_000 && asked.withLock { $0 } == 4)
        let registry = ExampleTweaks().registry
        let entries = (1...100_000).lazy.map { line in
            ConfigEntry(path: "No/Such/Tweak", text: "1", line: line, origin: .configFile)
        }
        asked.withLock { $0 = 0 }
        let result = registry.applyConfigFile(
            entries, ConfigPolicy(unknownIsError: true, listedProblems: 100), isCancelled: isOver)
        #expect(result.problems.count < 2_000 && !result.difference.didCommit)
    }
}
