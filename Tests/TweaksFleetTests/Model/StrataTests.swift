// Tests shares by stratum, seeds and canaries: which processes are members, and what older versions make of it.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct StrataTests {
    /// Processes of seven strata of uneven sizes, the last one without the label; 10,000 together.
    private static let sizes = ["eu": 6_000, "us": 2_500, "ap": 1_001, "sa": 400, "af": 90, "me": 8, "": 1]

    private static func instances() -> [FleetInstance] {
        sizes.flatMap { zone, size in
            (0..<size).map { FleetInstance(id: "\(zone)-\($0)", labels: zone.isEmpty ? [:] : ["zone": zone]) }
        }
    }

    private func rollout(_ hundredths: Int, per: String? = "zone", seed: String? = nil) throws -> Rollout {
        var rollout = try Rollout("r1", ["A/B/C": .int(1)], share: try #require(Share(hundredths: hundredths)))
        (rollout.per, rollout.seed) = (per, seed)
        return rollout
    }

    /// A position with a hash that is chosen.
    private func position(_ hash: UInt64, _ id: String, _ stratum: String? = "eu") -> StratumPosition {
        StratumPosition(stratum: stratum, hash: hash, id: id)
    }

    /// The IDs of the positions that a rollout includes.
    private func members(_ rollout: Rollout, _ positions: [StratumPosition]) -> [String] {
        positions.filter(rollout.includes).map(\.id)
    }

    @Test(arguments: [
        (1, 1, 1), (1, 10_000, 1), (2, 5_000, 1), (3, 5_000, 2), (10, 1_000, 1), (10, 1_001, 2), (10, 0, 0),
        (0, 5_000, 0), (3, 3_333, 1), (3, 3_334, 2), (9_999, 1, 1), (10_000, 1, 1), (10_001, 1, 2), (7, 9_999, 7),
    ])
    func `A share of some processes is rounded up`(_ size: Int, _ hundredths: Int, _ count: Int) throws {
        #expect(try #require(Share(hundredths: hundredths)).count(of: size) == count)
    }

    @Test(arguments: 1...12) func `Of a stratum of any size, each share has exactly its members`(_ size: Int) throws {
        let positions = (0..<size).map { position(UInt64($0) &* 0x9E37_79B9_7F4A_7C15, "i\($0)") }
        for hundredths in [1, 500, 1_000, 2_500, 3_333, 5_000, 9_999] {
            var rollout = try rollout(hundredths)
            rollout.moveCutoffs(over: positions)
            let expected = (size * hundredths + 9_999) / 10_000
            #expect(members(rollout, positions).count == expected, "\(hundredths)")
        }
    }

    @Test func `A member that left and comes back in another stratum stays one that has left`() throws {
        var rollout = try rollout(5_000)
        rollout.cutoffs = [position(.max, "z")]
        var status = FleetStatus(build: "b")
        status.labels = ["zone": "eu"]
        let left = LiveInstance(id: "i1", start: 1, status: status, createRevision: 2, modRevision: 6)
        var departures = Departures()
        let record = VersionedRecord(rollout, EtcdKeyValue(key: [1], createRevision: 5, modRevision: 5))
        departures.note(record, [], left: [left])
        #expect(departures.count == 1)
        status.labels = ["zone": "us"]
        departures.note(record, [LiveInstance(id: "i1", start: 2, status: status)], left: [left])
        #expect(departures.count == 1)
        status.labels = ["zone": "eu"]
        departures.note(record, [LiveInstance(id: "i1", start: 3, status: status)], left: [left])
        #expect(departures.count == 0)
    }

    @Test(arguments: [
        (#""percent":50,"seed":"s""#, "“percent” is not 0"),
        (#""percent":0,"seed":"s""#, "“share” is not a percentage"),
        (#""percent":10,"share":50,"per":"zone""#, "“percent” is not 0"),
        (#""percent":0,"share":50,"per":"zone","cutoffs":[{"hash":"-000000000000000","id":"i"}]"#, "“hash” is not"),
    ])
    func `A rollout that older processes would read otherwise is unreadable`(_ fields: String, _ text: String) {
        let record = """
            {"id":"r1","changes":[{"path":"A/B/C","kind":"int","value":1}],"state":"open","steps":[100],\(fields),\
            "by":"x","at":"2026-11-27T01:20:00Z"}
            """
        let problem = #expect(throws: FleetProblem.self) { _ = try Rollout(utf8(record)) }
        #expect(problem?.text.contains(text) == true, "\(problem?.text ?? "")")
    }

    @Test func `Equal hashes are in the order of IDs, by their bytes`() throws {
        let ids = ["B", "a", "b", "b0", "-"]
        let positions = ids.map { position(7, $0) }
        for (hundredths, expected) in [(2_000, ["-"]), (4_000, ["B", "-"]), (6_000, ["B", "a", "-"])] {
            var rollout = try rollout(hundredths)
            rollout.moveCutoffs(over: positions)
            #expect(members(rollout, positions) == expected)
        }
    }

    @Test(arguments: [0, UInt64.max]) func `The smallest and the greatest hash are compared as others`(
        _ hash: UInt64
    ) throws {
        let positions = [position(hash, "a"), position(hash, "b")]
        var rollout = try rollout(5_000)
        rollout.moveCutoffs(over: positions)
        #expect(members(rollout, positions) == ["a"] && rollout.cutoffs == [position(hash, "a")])
        #expect(try Rollout(rollout.bytes) == rollout)
    }

    @Test func `A missing label is a stratum of its own, and an unknown stratum has no members`() throws {
        var rollout = try rollout(5_000)
        rollout.moveCutoffs(over: [position(1, "a", nil), position(2, "b", nil), position(3, "c"), position(4, "d")])
        #expect(rollout.cutoffs == [position(1, "a", nil), position(3, "c")])
        let others = [position(0, "e", "us"), position(0, "f", nil), position(0, "g")]
        #expect(members(rollout, others) == ["f", "g"])
    }

    @Test func `A cutoff never moves back when members leave; newcomers below it are members at once`() throws {
        let positions = (1...10).map { position(UInt64($0) * 10, "i\($0)") }
        var rollout = try rollout(5_000)
        rollout.moveCutoffs(over: positions)
        #expect(rollout.cutoffs == [positions[4]])
        // Of the four that are left, two would be half.
        rollout.moveCutoffs(over: Array(positions[..<4]))
        #expect(rollout.cutoffs == [positions[4]])
        rollout.moveCutoffs(over: [])
        #expect(rollout.cutoffs == [positions[4]])
        let newcomers = [position(5, "n1"), position(50, "i4"), position(50, "i6"), position(55, "n2")]
        #expect(members(rollout, newcomers) == ["n1", "i4"])
        // With the newcomers half is seven, and the next step counts them.
        rollout.moveCutoffs(over: positions + newcomers)
        #expect(members(rollout, positions + newcomers).count == 7)
        rollout.share = .all
        rollout.moveCutoffs(over: [])
        #expect(rollout.cutoffs.count == 1)
        #expect(rollout.includes(FleetInstance(id: "any")))
    }

    @Test func `Ten thousand processes in seven strata: each step has exactly its share of each`() throws {
        let instances = Self.instances()
        #expect(instances.count == 10_000)
        for seed in [nil, "s1", "s2"] {
            var rollout = try rollout(0, seed: seed)
            for hundredths in [100, 1_000, 5_000, 10_000] {
                rollout.share = try #require(Share(hundredths: hundredths))
                rollout.moveCutoffs(over: instances.map(rollout.position))
                // As a process reads it.
                let read = try Rollout(rollout.bytes)
                #expect(read == rollout)
                for (zone, size) in Self.sizes {
                    let stratum = instances.filter { $0.labels["zone"] ?? "" == zone }
                    let expected = (size * hundredths + 9_999) / 10_000
                    #expect(stratum.count(where: read.includes) == expected, "\(zone) at \(hundredths)")
                }
            }
        }
    }

    @Test func `A seed has the same members in each rollout, without and with strata`() throws {
        let instances = Self.instances().prefix(500)
        for per in [nil, "zone"] {
            let members = try ["a", "b", "c"].map { id in
                var rollout = try rollout(1_000, per: per, seed: "kept")
                rollout.id = id
                rollout.moveCutoffs(over: instances.map(rollout.position))
                return instances.filter(rollout.includes).map(\.id)
            }
            #expect(members[0] == members[1] && members[1] == members[2] && !members[0].isEmpty)
            var other = try rollout(1_000, per: per)
            other.moveCutoffs(over: instances.map(other.position))
            #expect(instances.filter(other.includes).map(\.id) != members[0])
        }
    }

    @Test(arguments: [
        ([:] as Labels, false), (["zone": "eu"], false), (["zone": "eu", "host": "web1"], true),
        (["zone": "us", "host": "web1"], false), (["zone": "eu", "host": "web1", "tier": "x"], true),
    ])
    func `Canaries have all labels of the canary and of the selector, and are members at 0 %`(
        _ labels: Labels, _ isMember: Bool
    ) throws {
        for per in [nil, "zone"] {
            var rollout = try rollout(0, per: per)
            (rollout.canary, rollout.selector) = (["host": "web1"], ["zone": "eu"])
            #expect(try Rollout(rollout.bytes).includes(FleetInstance(id: "i", labels: labels)) == isMember)
        }
    }

    /// What a process of an older version reads.
    private func asOlder(_ rollout: Rollout) throws -> Rollout {
        var text = String(decoding: rollout.bytes, as: UTF8.self)
        for name in ["share", "seed", "canary", "per", "cutoffs"] {
            text = text.replacing("\"\(name)\":", with: "\"x-\(name)\":")
        }
        return try Rollout(utf8(text))
    }

    @Test func `An older version has no member before all are, and reads a plain rollout as ever`() throws {
        let instances = Self.instances().prefix(200)
        let changes: [(inout Rollout) -> Void] = [
            { $0.seed = "s" }, { $0.canary = ["zone": "eu"] }, { $0.per = "zone" },
        ]
        for change in changes {
            for hundredths in [0, 1, 5_000, 9_999, 10_000] {
                var rollout = try rollout(hundredths, per: nil)
                change(&rollout)
                rollout.moveCutoffs(over: instances.map(rollout.position))
                let older = try asOlder(rollout)
                #expect(older.edition == 1)
                #expect(instances.count(where: older.includes) == (hundredths == 10_000 ? 200 : 0))
                #expect(rollout.edition == (hundredths == 10_000 ? 1 : 2))
            }
        }
        let plain = try rollout(1_250, per: nil)
        let text = String(decoding: plain.bytes, as: UTF8.self)
        #expect(plain.edition == 1 && text.contains(#""percent":12.5,"#) && !text.contains("share"))
        #expect(try asOlder(plain) == plain)
    }

    @Test func `The JSON of a rollout with strata has hashes as text`() throws {
        var rollout = try rollout(1_250, seed: "kept")
        rollout.canary = ["host": "web1"]
        rollout.cutoffs = [position(.max, "i0", nil), position(0xAB, "i1")]
        let text = String(decoding: rollout.bytes, as: UTF8.self)
        #expect(text.contains(#""percent":0,"#) && text.contains(#""share":12.5,"seed":"kept""#))
        #expect(
            text.contains(
                #""canary":{"host":"web1"},"per":"zone","cutoffs":[{"hash":"ffffffffffffffff","id":"i0"},"#
                    + #"{"stratum":"eu","hash":"00000000000000ab","id":"i1"}]"#))
        #expect(try Rollout(rollout.bytes) == rollout)
        for (part, other) in [
            ("\"seed\":\"kept\"", "\"seed\":\"a b\""), ("\"seed\":\"kept\"", "\"seed\":7"), ("\"zone\"", "\"zo/ne\""),
            ("\"share\":12.5", "\"share\":101"), ("\"canary\":{", "\"canary\":[],\"x\":{"), ("\"ffff", "\"fff"),
            ("\"00000000000000ab\"", "171"), ("\"stratum\":\"eu\",", ""), ("\"id\":\"i0\"", "\"id\":\"\""),
            ("\"stratum\":\"eu\"", "\"stratum\":\"\""), ("\"cutoffs\":[", "\"cutoffs\":[7,"),
            ("\"00000000000000ab\"", "\"+0000000000000ab\""),
        ] {
            #expect(text.contains(part))
            #expect(throws: FleetProblem.self, "\(other)") {
                try Rollout(utf8(text.replacing(part, with: other, maxReplacements: 1)))
            }
        }
    }

    @Test func `A rollout has at most 64 strata`() throws {
        var rollout = try rollout(100)
        for count in [64, 65] {
            rollout.cutoffs = (0..<count).map { position(UInt64($0), "i", "z\($0)") }
            #expect((try? Rollout(rollout.bytes)) == (count == 64 ? rollout : nil))
        }
    }

    @Test func `A rollout with strata and random changes survives encoding, or is a problem`() throws {
        var generator = SeededGenerator(seed: 5)
        var rollout = try rollout(1_250, seed: "kept")
        (rollout.canary, rollout.cutoffs) = (["host": "web1"], [position(9, "i0", nil), position(0xAB, "i1")])
        for _ in 0..<20_000 {
            let other = generator.mutated(rollout.bytes, byte: 0...255, insert: "0\":[{e", count: 2)
            guard let read = try? Rollout(other) else { continue }
            #expect(try Rollout(read.bytes) == read)
        }
    }
}
