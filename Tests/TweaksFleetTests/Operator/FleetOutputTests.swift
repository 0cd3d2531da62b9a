// Tests the output of tweakctl-fleet: rows, progress, changes that a watch receives.

import Testing
import Tweaks
import TweaksSystem

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite struct FleetOutputTests {
    private let keys = FleetKeys(name: "api")
    private let terminal = Style(isHumanReadable: true)

    @Test func `Rows are aligned on a terminal, and lines of a config file otherwise`() {
        let long = FleetConsole.Row(path: "A/B/Longer", value: "\"x\"")
        let rows = [FleetConsole.Row(path: "A/B/C", value: "64", note: "by alice"), long]
        #expect(FleetConsole.lines(rows, .plain) == ["A/B/C = 64  # by alice", "A/B/Longer = \"x\""])
        #expect(FleetConsole.lines(rows, terminal) == ["A/B/C      = 64   # by alice", "A/B/Longer = \"x\""])
    }

    private func progress(
        _ state: Rollout.State = .open, share: Int = 10_000, last: Int = 10_000, confirmWithin: Int64? = nil
    ) throws -> DriverProgress {
        var driver = RolloutDriver()
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        (rollout.share, rollout.confirmWithin) = (try #require(Share(hundredths: share)), confirmWithin)
        rollout.steps = try [1_250, last].map { try #require(Share(hundredths: $0)) }
        (rollout.state, rollout.next) = (state, 100_000)
        rollout.abortIf = [MetricCondition(path: try TweakPath("A/B/C"), comparison: .above, limit: 5)]
        let live = (0..<4).map { number in
            var status = FleetStatus(build: "b")
            (status.revision, status.metrics) = (number == 0 ? 4 : 5, ["A/B/C": Double(number)])
            return LiveInstance(id: "i\(number)", start: 1, status: status)
        }
        let record = VersionedRecord(rollout, EtcdKeyValue(key: [], createRevision: 5, modRevision: 5))
        _ = driver.decide(DriverObservation(record, live: live), now: .now)
        return driver.progress
    }

    @Test func `Progress is one line, or a block with a bar`() throws {
        let progress = try progress()
        let line = "open at 100 %: 3 of 4 reported, 0 refused; A/B/C > 5 on 0, worst 3"
        #expect(ProgressDisplay.line(progress) == line)
        #expect(
            ProgressDisplay.block(progress, id: "r1", now: 10_000, terminal) == [
                "rollout r1  12.5 % → 100 %", "  ##############################  open at 100 %",
                "  3 of 4 reported, 0 refused", "  A/B/C > 5 on 0, worst 3", "  it finishes in 1 min 30 s",
            ])
        var departed = progress
        departed.left = 2
        #expect(ProgressDisplay.line(departed).contains("3 of 4 reported, 0 refused, 2 left;"))
        var divided = progress
        divided.strata = [
            StratumCount(label: "zone", value: nil, members: 1, live: 1),
            StratumCount(label: "zone", value: "eu", members: 3, live: 26),
        ]
        let strata = "no zone 1 of 1, zone=eu 3 of 26"
        #expect(ProgressDisplay.line(divided).contains("3 of 4 reported, 0 refused; \(strata); A/B/C > 5"))
        #expect(ProgressDisplay.block(divided, id: "r1", now: 10_000, terminal)[3] == "  \(strata)")
        #expect(ProgressDisplay.json(divided, id: "r1")["strata"]?.elements.last?["live"]?.wholeNumber == 26)
        divided.strata = (0..<13).map { StratumCount(label: "z", value: "\($0)", members: 0, live: 1) }
        #expect(divided.strata.text.hasSuffix("z=11 0 of 1, … 13 in all"))
        let paused = ProgressDisplay.block(try self.progress(.paused), id: "r1", now: 10_000, terminal)
        #expect(paused.last == "  r resumes it, a aborts it; each with the enter key")
        let json = ProgressDisplay.json(progress, id: "r1")
        #expect(json["members"]?.wholeNumber == 4 && json["reported"]?.wholeNumber == 3)
    }

    @Test(arguments: [
        (share: 1_250, last: 10_000, confirmWithin: nil as Int64?, text: "next step"),
        (10_000, 10_000, nil, "it finishes"), (10_000, 10_000, 600, "it asks to be finished"),
        (5_000, 5_000, nil, "it pauses: this is its last step"),
    ])
    func `The block names what follows the step`(
        _ row: (share: Int, last: Int, confirmWithin: Int64?, text: String)
    ) throws {
        let progress = try progress(share: row.share, last: row.last, confirmWithin: row.confirmWithin)
        for (now, rest) in [(10_000, "in 1 min 30 s"), (100_000, "when all have reported")] as [(Int64, String)] {
            #expect(ProgressDisplay.block(progress, id: "r1", now: now, terminal).last == "  \(row.text) \(rest)")
        }
    }

    @Test func `A text about a rollout names it once`() {
        #expect(ProgressDisplay.line("paused: no data", id: "r1") == "rollout r1: paused: no data")
        #expect(ProgressDisplay.line("rollout r1 is at 50 %", id: "r1") == "rollout r1 is at 50 %")
    }

    private func change(_ key: [UInt8], _ value: [UInt8]?) -> String? {
        let pair = EtcdKeyValue(key: key, value: value ?? [], modRevision: 7)
        return FleetChange(EtcdEvent(value == nil ? .delete : .put, pair), keys)?.text
    }

    @Test func `A watch prints changes of values, rollouts and the log, and no others`() throws {
        let path = try TweakPath("A/B/C d")
        let value = DesiredValue(value: .int(64), by: "alice", at: 0).bytes
        #expect(change(keys.value(path), value) == "\"A/B/C d\" = 64")
        #expect(change(keys.value(path), nil) == "\"A/B/C d\" is reset")
        #expect(change(keys.value(path), [1]) == "\"A/B/C d\" cannot be read")
        let rollout = try Rollout("r1", ["A/B/C d": .int(1)])
        #expect(change(keys.rollout("r1"), rollout.bytes) == "rollout r1 is open at 100 %")
        #expect(change(keys.rollout("r1"), nil) == "rollout r1 is gone")
        let entry = FleetLogEntry(sequence: 9, verb: "pause", rollout: "r1", by: "alice", at: 0)
        #expect(change(keys.log(9), entry.bytes) == "entry 9: pause r1 by alice")
        for key in [keys.log(9), keys.instance("i", start: 1), keys.driver("r1")] { #expect(change(key, nil) == nil) }
        #expect(change(keys.head, [1]) == nil)
        #expect(change(keys.desired + Array("x".utf8), []) == "/tweaks/api/desired/x is not a key of a fleet")
    }
}
