// Tests figures in watches: the newest value, at most ten times a second, and no last value is lost.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct FigureTests {
    private let example = ExampleTweaks()
    private let server: TestServer
    private let client: TestClient

    init() throws { (server, client) = try TestServer(registry: example.registry).withClient() }

    @Test func onlyTheNewestOfManyValuesArrives() throws {
        let begin = ContinuousClock.now
        try client.ask("watch Player/Status")
        for frames in 1...50_000 { example.frames.value = Double(frames) }
        var events = 0
        var last = ""
        while !last.contains("Frames = 50000") {
            last = try client.line()
            events += 1
        }
        // At most one for each tenth of a second that has passed, and one more.
        #expect(events <= Int((ContinuousClock.now - begin) / .milliseconds(100)) + 1)
        #expect(last.hasPrefix("event 0 Player/Status/Frames = 50000"))
        #expect(example.registry.revision == 0)
    }

    /// A registration, or another session that watches, while a change waits for its tenth of a second.
    @Test(arguments: 1...5, [true, false])
    func otherActivityLosesNoChange(_ round: Int, _ isRegistration: Bool) throws {
        let other = try server.connect()
        try client.ask("watch Player/Status")
        for number in 1...3 {
            example.frames.value = Double(number)
            if isRegistration {
                _ = Tweak("Other", "Tweaks", "Number \(number)", 0, registry: example.registry)
            } else {
                try other.ask(number.isMultiple(of: 2) ? "unwatch" : "watch *")
            }
            #expect(try client.line().contains("Frames = \(number)"))
        }
    }

    @Test func aChangeRightAfterTheReplyIsAnEvent() throws {
        for number in 1...10 {
            let lines = try client.ask("watch Player/Status")
            #expect(lines.first?.contains("Frames = \(number - 1)") == true)
            example.frames.value = Double(number)
            #expect(try client.line().contains("Frames = \(number)"))
            try client.ask("unwatch")
        }
    }

    @Test func aFigureRegisteredLaterIsWatched() throws {
        try client.ask("watch Player")
        Tweak("Player", "Status", "Late", 0.0, flags: .readOnly, registry: example.registry).value = 5
        #expect(try client.line().contains("Late = 5"))
    }

    /// Figures change without a revision.
    @Test func sinceAlwaysShowsFigures() throws {
        example.frames.value = 24
        let lines = try client.ask("watch Player/Status since 0")
        #expect(lines.first?.hasPrefix("Player/Status/Frames = 24 ") == true && lines.last == "ok rev 0 watching 1")
    }
}
