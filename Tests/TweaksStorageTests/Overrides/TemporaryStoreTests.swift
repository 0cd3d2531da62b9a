// Temporary overrides through restarts: the rest of their time, what ran out meanwhile, and clocks that jump.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksStorage

@Suite("Overrides on disk: temporary ones", .blocking)
struct TemporaryStoreTests {
    private let home: TemporaryDirectory
    private let time = ManualTime()

    init() throws { home = try TemporaryDirectory() }

    private func live(_ body: (StoredLife) throws -> Void) throws {
        let life = StoredLife(home.file("state"), time: time)
        try body(life)
        life.store.close()
    }

    /// It is set for ten minutes and the process ends after four; what shows at the next start.
    @Test(
        "the rest of the time, by the wall clock",
        arguments: [
            (Duration.zero, Int64(0), Optional(Duration.seconds(360))), (.seconds(100), 0, .seconds(260)),
            (.milliseconds(359_999), 0, .milliseconds(1)), (.seconds(360), 0, nil), (.seconds(86_400), 0, nil),
            // Somebody sets the clock on, or back: never longer than the whole.
            (.zero, 100_000, .seconds(260)), (.zero, 360_000, nil), (.zero, -100_000, .seconds(460)),
            (.zero, -240_000, .seconds(600)), (.zero, -86_400_000, .seconds(600)),
        ])
    func restart(down: Duration, jump: Int64, left: Duration?) throws {
        try live { life in
            try life.number("Size").set(2)
            try life.number("Size").set(3, for: .seconds(600))
            time.advance(by: .seconds(240))
            life.registry.expire()
        }
        time.advance(by: down)
        time.jump(by: jump)
        try live { life in
            let size = try life.number("Size")
            #expect(size.timeLeft == left && size.value == (left == nil ? 2 : 3))
            time.advance(by: left ?? .zero)
            life.registry.expire()
            #expect(size.value == 2)
        }
        try live { life in
            let value = try life.number("Size").value
            #expect(value == 2)
        }
        #expect(home.read("state/overrides.json")?.contains("expires") == false)
    }

    /// A machine without a clock of its own learns the time when its programs run already.
    @Test("the wall clock is set while the program runs", arguments: [3_600_000, -3_600_000], [true, false])
    func setMeanwhile(_ jump: Int64, _ isSetBefore: Bool) throws {
        try live { life in
            let size = try life.number("Size")
            if isSetBefore { try size.set(3, for: .seconds(600)) }
            life.tried()
            time.jump(by: jump)
            if !isSetBefore { try size.set(3, for: .seconds(600)) }
        }
        let moment = jump > 0 ? "2026-11-21T10:40:00.123Z" : "2026-11-21T08:40:00.123Z"
        #expect(home.read("state/overrides.json")?.contains("\"expires\": \"\(moment)\"") == true)
        try live { life in
            let left = try life.number("Size").timeLeft
            #expect(left == .seconds(600))
        }
    }

    @Test("it is noticed within a minute, without anybody changing anything")
    func setMeanwhileAndNothingElse() throws {
        try live { life in
            try life.number("Size").set(3, for: .seconds(600))
            life.tried()
            time.waitUntilAsleep(for: .seconds(60))
            time.jump(by: 3_600_000)
            time.advance(by: .seconds(60))
            try eventually { life.text?.contains("\"expires\": \"2026-11-21T10:40:00.123Z\"") == true }
            // Where nothing ends by itself, nothing wakes.
            try life.number("Size").keep()
            life.tried()
            time.waitUntilIdle()
        }
    }

    @Test("whatever is written next says the new time of the others as well")
    func setBeforeAnotherChange() throws {
        try live { life in
            try life.number("Size").set(3, for: .seconds(600))
            life.tried()
            time.jump(by: 3_600_000)
            try life.number("Other").set(2)
            life.tried()
            let text = try #require(life.text)
            #expect(text.contains("\"expires\": \"2026-11-21T10:40:00.123Z\""))
            // Slewing is no setting.
            time.jump(by: 900)
            try life.number("Other").set(4)
            life.tried()
            let next = try #require(life.text)
            #expect(next.contains("\"expires\": \"2026-11-21T10:40:00.123Z\""))
        }
    }

    @Test("what ran out meanwhile is gone from the file as soon as that is written")
    func gone() throws {
        try live { life in try life.number("Size").set(3, for: .seconds(600)) }
        #expect(home.read("state/overrides.json")?.contains("expires") == true)
        time.advance(by: .seconds(600))
        try live { life in
            let value = try life.number("Size").value
            #expect(value == 1)
        }
        #expect(home.read("state/overrides.json")?.contains("expires") == false)
    }

    @Test("kept, reset, set plainly: the next start knows it")
    func ended() throws {
        try live { life in
            let (kept, reset, plain) = (try life.number("Kept"), try life.number("Reset"), try life.number("Plain"))
            for tweak in [kept, reset, plain] { try tweak.set(2, for: .seconds(600)) }
            life.tried()
            try kept.keep()
            reset.reset()
            try plain.set(3)
        }
        time.advance(by: .seconds(6_000))
        try live { life in
            let values = try ["Kept", "Reset", "Plain"].map { try life.number($0).value }
            #expect(values == [2, 1, 3])
        }
    }

    @Test("a file cannot ask for more than anybody may")
    func tooLong() throws {
        let text = """
            {"format":"tweaks-overrides","version":1,"program":"test","revision":5,"overrides":[{"path":"A/B/Size",\
            "kind":"number","value":3,"origin":"uid 0","time":"0001-01-01T00:00:00Z","expires":"9999-12-31T23:59:59Z"}]}
            """
        try FileManager.default.createDirectory(
            atPath: home.file("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(text.utf8).write(to: URL(fileURLWithPath: home.file("state/overrides.json")))
        try live { life in
            let size = try life.number("Size")
            #expect(size.value == 3 && size.timeLeft == .seconds(365 * 86_400))
        }
    }

    @Test("a tweak that registers late has what is left, or nothing any more")
    func late() throws {
        try live { life in
            try life.number("Soon").set(2, for: .seconds(600))
            try life.number("Late").set(2, for: .seconds(600))
        }
        try live { life in
            time.advance(by: .seconds(300))
            let soon = try life.number("Soon")
            #expect(soon.timeLeft == .seconds(300))
            time.advance(by: .seconds(300))
            let late = try life.number("Late")
            #expect(late.value == 1)
            life.registry.expire()
            #expect(soon.value == 1)
        }
    }

    @Test("a removed tweak's time goes on")
    func removed() throws {
        try live { life in
            let size = try life.number("Size")
            try size.set(2, for: .seconds(600))
            life.registry.remove(size.path)
            time.advance(by: .seconds(200))
            let again = try life.number("Size")
            #expect(again.timeLeft == .seconds(400))
        }
    }

    @Test("under a former path, and one that does not fit any more")
    func formerlyAndUnfit() throws {
        try live { life in
            try life.number("Old").set(2, for: .seconds(600))
            try life.registry.register("A", "B", "Wide", 1.0, in: 0...200).set(150, for: .seconds(600))
        }
        try live { life in
            let new = try life.registry.register("A", "B", "New", 1.0, formerly: "A/B/Old")
            let wide = try life.registry.register("A", "B", "Wide", 1.0, in: 0...100)
            #expect(new.value == 2 && new.timeLeft == .seconds(600))
            #expect(wide.value == 1 && wide.timeLeft == nil)
            let node = try #require(life.registry["A/B/Wide"]).node
            let aside = life.registry.aside(node)
            #expect(aside.map(\.layer) == [.temporaryOverride])
        }
        let text = try #require(home.read("state/overrides.json"))
        #expect(text.contains("A/B/New") && !text.contains("A/B/Old") && text.contains("A/B/Wide"))
        try live { life in
            let wide = try life.registry.register("A", "B", "Wide", 1.0, in: 0...200)
            #expect(wide.value == 150)
        }
    }

    @Test("a new word ends what was kept aside, in the file, too")
    func asideIsForgotten() throws {
        try live { life in
            try life.registry.register("A", "B", "Wide", 1.0, in: 0...200).set(150, for: .seconds(600))
        }
        try live { life in
            try life.registry.register("A", "B", "Wide", 1.0, in: 0...100).set(50)
        }
        #expect(home.read("state/overrides.json")?.contains("expires") == false)
        try live { life in
            let wide = try life.registry.register("A", "B", "Wide", 1.0, in: 0...200)
            #expect(wide.value == 50)
        }
    }
}
