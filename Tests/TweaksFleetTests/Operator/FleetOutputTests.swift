// Tests the output of tweakctl-fleet: rows, progress, changes that a watch receives.

import Testing
import Tweaks
import TweaksSystem

@testable import TweaksFleet
@testable import tweakctl_fleet

@Suite struct FleetOutputTests {
    private let keys = FleetKeys(name: "api")
    private let terminal = Style(isHumanReadable: true)

    @Test func `Rows are aligned on a terminal, and lines of a config file otherwise`() {
        let long = FleetConsole.Row(path: "A/B/Longer", value: "\"x\"")
        let rows = [FleetConsole.Row(path: "A/B/C", value: "64", note: "by alice"), long]
        #expect(FleetConsole.lines(rows, .plain) == ["A/B/C = 64  # by alice", "A/B/Longer = \"x\""])
        #expect(FleetConsole.lines(rows, terminal) == ["A/B/C      = 64   # by alice", "A/B/Longer = \"x\""])
    }

    private func progress(_ state: Rollout.State = .open) throws -> DriverProgress {
        var driver = RolloutDriver()
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        rollout.steps = [try #require(Share(hundredths: 1_250)), .all]
        (rollout.state, rollout.next) = (state, 100_000)
        rollout.abortIf = [MetricCondition(path: try TweakPath("A/B/C"), comparison: .above, limit: 5)]
        let live = (0..<4).map { number in
            var status = FleetStatus(build: "b")
            (status.revision, status.metrics) = (number == 0 ? 4 : 5, ["A/B/C": Double(number)])
            return LiveInstance(id: "i\(number)", start: 1, status: status)
        }
        let record = VersionedRecord(rollout, EtcdKeyValue(key: [], createRevision: 5, modRevision: 5))
        _ = driver.decide(record, live: live, now: 10_000)
        return driver.progress
    }

    @Test func `Progress is one line, or a block with a bar`() throws {
        let progress = try progress()
        let line = "open at 100 %: 3 of 4 reported, 0 refused; A/B/C > 5 on 0, worst 3"
        #expect(ProgressDisplay.line(progress) == line)
        #expect(
            ProgressDisplay.block(progress, id: "r1", now: 10_000, terminal) == [
                "rollout r1  12.5 % → 100 %", "  ##############################  open at 100 %",
                "  3 of 4 reported, 0 refused", "  A/B/C > 5 on 0, worst 3", "  next step in 1 min 30 s",
            ])
        let paused = ProgressDisplay.block(try self.progress(.paused), id: "r1", now: 10_000, terminal)
        #expect(paused.last == "  r resumes it, a aborts it; each with the enter key")
        let json = ProgressDisplay.json(progress, id: "r1")
        #expect(json["members"]?.wholeNumber == 4 && json["reported"]?.wholeNumber == 3)
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
