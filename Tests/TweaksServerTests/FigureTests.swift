// Figures to a watcher: the newest value, at most ten times a second, and none forgotten.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct FigureTests {
    @Test func theNewestArrivesAndNotAllOnTheWay() throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        let begin = ContinuousClock.now
        try client.ask("watch Player/Status")
        for frames in 1...50_000 { example.frames.value = Double(frames) }
        var events = 0
        var last = ""
        while !last.contains("Frames = 50000") {
            last = try client.line()
            events += 1
        }
        // However long that took: one more than the tenths of a second that have passed, at most.
        #expect(events <= Int((ContinuousClock.now - begin) / .milliseconds(100)) + 1)
        #expect(last.hasPrefix("event 0 Player/Status/Frames = 50000"))
        #expect(example.registry.revision == 0)
    }

    /// A change that waits for its tenth of a second survives what else happens in it.
    @Test(arguments: 1...5) func aRegistrationLosesNone(_ round: Int) throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        try client.ask("watch Player/Status")
        for number in 1...3 {
            example.frames.value = Double(number)
            _ = Tweak("Other", "Tweaks", "Number \(number)", 0, registry: example.registry)
            #expect(try client.line().contains("Frames = \(number)"))
        }
    }

    @Test(arguments: 1...5) func anotherWatcherLosesNone(_ round: Int) throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry)
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("watch Player/Status")
        for number in 1...3 {
            example.frames.value = Double(number)
            try other.ask(number.isMultiple(of: 2) ? "unwatch" : "watch *")
            #expect(try client.line().contains("Frames = \(number)"))
        }
    }

    @Test func aChangeRightBehindTheReplyIsSeen() throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        for number in 1...10 {
            let lines = try client.ask("watch Player/Status")
            #expect(lines.first?.contains("Frames = \(number - 1)") == true)
            example.frames.value = Double(number)
            #expect(try client.line().contains("Frames = \(number)"))
            try client.ask("unwatch")
        }
    }

    @Test func aFigureRegisteredLaterIsWatched() throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        try client.ask("watch Player")
        let late = Tweak("Player", "Status", "Late", 0.0, flags: .readOnly, registry: example.registry)
        late.value = 5
        #expect(try client.line().contains("Late = 5"))
    }
}
