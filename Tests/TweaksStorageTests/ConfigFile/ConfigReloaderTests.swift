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
            path: "example.conf", policy: LayerPolicy(), registry: ExampleTweaks().registry,
            read: { _ in FileReading(content.withLock { $0 }) }
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

    /// A reloader of a file that a test replaces, with a clock and a timer that stand still.
    private final class Scene: Sendable {
        let tweaks: ExampleTweaks
        let clock: ManualClock
        private let reading = Mutex(FileReading(.missing))
        private let timers = Mutex<[@Sendable () -> Void]>([])
        private let waits = Mutex<[String]>([])
        private let current = Mutex<ConfigReloader?>(nil)

        init() {
            let clock = ManualClock()
            self.clock = clock
            tweaks = ExampleTweaks(in: TweakRegistry(now: { clock.now }))
        }

        deinit { current.withLock { $0 }?.cancel() }

        func start(_ text: String, inode: UInt64 = 1) throws {
            let reloader = ConfigReloader(
                path: "example.conf", policy: LayerPolicy(), registry: tweaks.registry,
                read: { [weak self] _ in self?.reading.withLock { $0 } ?? FileReading(.missing) },
                schedule: { [weak self] queue, _, body in self?.timers.withLock { $0.append(body) } }
            ) { [weak self] event in
                if case .waiting(let text) = event { self?.waits.withLock { $0.append(text) } }
            }
            current.withLock { $0 = reloader }
            change(text, inode: inode, isNoticed: false)
            try reloader.reload()
        }

        /// Changes the file, and has the change noticed.
        func change(_ text: String?, inode: UInt64 = 1, isNoticed: Bool = true) {
            reading.withLock {
                let file = ResolvedPath.Identity(device: 1, inode: inode)
                $0 = text.map { FileReading(.bytes(Array($0.utf8)), of: file) } ?? FileReading(.missing)
            }
            if isNoticed { current.withLock { $0 }?.reloadIfChanged() }
        }

        /// Lets a time pass, and runs the timers that were set before.
        func pass(_ time: Duration) {
            clock.advance(by: time)
            let due = timers.withLock { timers in
                defer { timers = [] }
                return timers
            }
            for body in due { body() }
        }

        var size: Double { tweaks.size.value }
        var waitCount: Int { waits.withLock { $0.count } }
        var timerCount: Int { timers.withLock { $0.count } }
    }

    @Test func aFileWithoutALastLineBreakIsTakenWhenItReplacesAnother() throws {
        let scene = Scene()
        try scene.start("Content/Text/Size = 64")
        #expect(scene.size == 64)
        scene.change("Content/Text/Size = 65", inode: 2)
        #expect(scene.size == 65 && scene.waitCount == 0)
        scene.change("Content/Text/Size = 66", inode: 1)
        #expect(scene.size == 66 && scene.waitCount == 0)
    }

    @Test func oneThatIsRewrittenIsTakenWhenItDoesNotChangeAnyMore() throws {
        let scene = Scene()
        try scene.start("Content/Text/Size = 64")
        scene.change("Content/Text/Size = 65")
        #expect(scene.size == 64 && scene.waitCount == 1)
        scene.pass(ConfigReloader.settlingTime - .milliseconds(1))
        // A timer that fires too early is set again.
        #expect(scene.size == 64 && scene.timerCount == 1)
        scene.pass(.milliseconds(1))
        #expect(scene.size == 65 && scene.waitCount == 1 && scene.timerCount == 0)
        scene.change("Content/Text/Size = 66")
        scene.pass(ConfigReloader.settlingTime)
        #expect(scene.size == 66)
    }

    @Test func oneThatIsStillBeingWrittenWaits() throws {
        let scene = Scene()
        try scene.start("Content/Text/Size = 64\n")
        let text = "Content/Text/Size = 75"
        for count in 20...text.utf8.count {
            scene.change(String(text.prefix(count)))
            scene.pass(ConfigReloader.settlingTime - .milliseconds(1))
            // The timers of earlier contents have ended.
            #expect(scene.size == 64 && scene.timerCount == 1)
        }
        scene.change(text + "\n")
        #expect(scene.size == 75)
        scene.pass(ConfigReloader.settlingTime)
        #expect(scene.timerCount == 0)
    }

    /// One that is removed and made anew may be written slowly; an empty one does not settle.
    @Test func oneThatWasMissingOrIsEmptyIsNotTakenAtOnce() throws {
        let scene = Scene()
        try scene.start("Content/Text/Size = 64\n")
        scene.change(nil)
        scene.change("Content/Text/Size = 7", inode: 2)
        #expect(scene.size == 64 && scene.waitCount == 2)
        scene.change("Content/Text/Size = 70", inode: 2)
        scene.pass(ConfigReloader.settlingTime)
        #expect(scene.size == 70)
        scene.change("", inode: 3)
        scene.pass(ConfigReloader.settlingTime * 10)
        #expect(scene.size == 70)
    }

    @Test func aConfigMapWithoutALastLineBreakIsFollowed() throws {
        let (tweaks, home) = (ExampleTweaks(), try TemporaryDirectory())
        let path = home.file("bounce.conf")
        func publish(_ size: Int) throws {
            // As the kubelet does: a new directory, and a link to it that is replaced by renaming.
            try Shell.run(
                "mkdir ..\(size) && printf 'Content/Text/Size = \(size)' > ..\(size)/bounce.conf && "
                    + "ln -s ..\(size) ..new && mv -T ..new ..data", in: home.path)
        }
        try publish(64)
        try Shell.run("ln -s ..data/bounce.conf bounce.conf", in: home.path)
        let reloader = ConfigReloader(
            path: path, policy: LayerPolicy(), registry: tweaks.registry, onEvent: { _ in })
        try reloader.reload()
        #expect(tweaks.size.value == 64)
        for size in 65...67 {
            try publish(size)
            reloader.reloadIfChanged()
            #expect(tweaks.size.value == Double(size))
        }
        try Shell.run("printf 'Content/Text/Size = 68' > new && mv new bounce.conf", in: home.path)
        reloader.reloadIfChanged()
        #expect(tweaks.size.value == 68)
        // In place.
        try Shell.run("printf 'Content/Text/Size = 69' > bounce.conf", in: home.path)
        reloader.reloadIfChanged()
        #expect(tweaks.size.value == 68)
        reloader.cancel()
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x23, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x23], "UTF-16"), ([0x23, 0, 0x0A, 0], "UTF-16"),
            ([0xFF, 0xFE, 0, 0, 0x23, 0, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x23], "UTF-32"),
            ([0x23, 0, 0, 0], "UTF-32"),
        ] as [([UInt8], String)])
    func aFileInAnotherEncodingIsAnErrorThatSaysSo(_ bytes: [UInt8], _ encoding: String) throws {
        let failures = Mutex<[ReloadFailure]>([])
        let content = Mutex(FileReading(.bytes(Array("Content/Text/Size = 64\n".utf8))))
        let reloader = ConfigReloader(
            path: "a.conf", policy: LayerPolicy(), registry: ExampleTweaks().registry,
            read: { _ in content.withLock { $0 } }
        ) { event in
            if case .failed(let failure) = event { failures.withLock { $0.append(failure) } }
        }
        try reloader.reload()
        content.withLock { $0 = FileReading(.bytes(bytes)) }
        reloader.reloadIfChanged()
        #expect(failures.withLock { $0 }.first?.lines == ["a.conf:1: bad-line it is \(encoding); save it as UTF-8"])
    }

    /// Half of the lines are malformed and half name an unknown tweak. Only 100,000 assignments are checked.
    @Test(.tags(.quantity)) func aMillionErrorsAreCountedAndTheFirstHundredListed() throws {
        let half = quantity(1_000_000, few: 50_000) / 2
        let unknown = min(half, 90_000)
        let text =
            String(repeating: "nonsense\n", count: half) + String(repeating: "No/Such/Tweak = 1\n", count: unknown)
        let bytes = Array(text.utf8)
        let reloader = ConfigReloader(
            path: "example.conf", policy: LayerPolicy(unknownIsError: true), registry: ExampleTweaks().registry,
            read: { _ in FileReading(.bytes(bytes)) }, onEvent: { _ in })
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
            path: "example.conf", policy: LayerPolicy(), registry: tweaks.registry,
            read: { _ in
                current.withLock { $0 }?.cancel()
                return FileReading(.bytes(Array(text.utf8)))
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
        let result = ExampleTweaks().registry.replace(
            .configFile, with: entries, LayerPolicy(unknownIsError: true, listedProblems: 100), isCancelled: isCanceled)
        #expect(result.problems.count < 2_000 && !result.didCommit)
    }
}
