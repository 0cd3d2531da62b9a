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
