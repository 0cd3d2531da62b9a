// What nobody waits for shares a write with what somebody does, and is written in the end all the same.

import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite("Overrides that can wait", .blocking)
struct OverrideHasteTests {
    private let home: TemporaryDirectory
    private let time = ManualTime()
    private let life: StoredLife
    private let size: Tweak<Double>
    private let other: Tweak<Double>

    init() throws {
        home = try TemporaryDirectory()
        life = StoredLife(home.file("state"), time: time)
        (size, other) = (try life.number("Size"), try life.number("Other"))
    }

    /// One step of a drag.
    private func drag(_ value: Double) throws {
        var batch = TweakBatch()
        batch.set("A/B/Size", .number(value))
        try life.registry.commit(batch, origin: .user(1000), isUrgent: false, delivery: .caller)
    }

    private var isHeld: Bool { life.text?.contains("Size") != true }

    @Test("a drag is one write, at its end")
    func drag() throws {
        for value in 2...60 { try drag(Double(value)) }
        time.waitUntilAsleep(for: .seconds(10))
        #expect(life.store.facts.writes == 0 && life.store.facts.state == "waiting: a drag has not ended")
        size.value = 61
        #expect(life.tried() == nil)
        #expect(life.store.facts.writes == 1 && life.store.facts.state == "saved")
        #expect(life.text?.contains("\"value\": 61") == true)
    }

    @Test("without an end it is written ten seconds after its beginning")
    func withoutAnEnd() throws {
        try drag(2)
        time.waitUntilAsleep(for: .seconds(10))
        time.advance(by: .seconds(9))
        try drag(3)
        time.waitUntilAsleep(for: .seconds(1))
        #expect(isHeld)
        time.advance(by: .seconds(1))
        time.waitUntilIdle()
        #expect(life.store.facts.writes == 1)
        #expect(life.text?.contains("\"value\": 3") == true)
        // The next one begins anew.
        try drag(4)
        time.waitUntilAsleep(for: .seconds(10))
    }

    @Test("whoever waits for the disk, or changes something else, has it written at once")
    func somebodyElse() throws {
        try drag(2)
        #expect(life.tried() == nil)
        #expect(life.store.facts.writes == 1)
        try drag(3)
        time.waitUntilAsleep(for: .seconds(10))
        other.value = 2
        time.waitUntilIdle()
        #expect(life.store.facts.writes == 2)
        #expect(life.text?.contains("\"value\": 3") == true)
    }

    @Test("what is proposed has it written, too")
    func proposal() throws {
        try drag(2)
        #expect(try life.propose(["Other": 7]) == nil)
        #expect(!isHeld)
        #expect(life.store.facts.writes == 1)
    }

    @Test("a program that ends writes it")
    func closing() throws {
        try drag(2)
        life.store.close()
        #expect(!isHeld)
    }
}
