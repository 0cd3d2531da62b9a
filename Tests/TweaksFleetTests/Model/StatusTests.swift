// Tests statuses: encoding, the size limit, and the order in which fields are omitted.

import Testing

@testable import TweaksFleet

@Suite struct StatusTests {
    /// Returns a status with all fields.
    private func status() -> FleetStatus {
        var status = FleetStatus(build: "0123456789abcdef")
        status.labels = ["zone": "eu", "version": "1.4"]
        (status.revision, status.head) = (.max, .max)
        status.refused = [
            .init(rollout: nil, path: "A/B/C", reason: "out of range"),
            .init(rollout: "r1", path: "A/B/D", reason: "is no int"),
        ]
        (status.covered, status.moreRefused, status.moreCovered) = (["A/B/E f"], 1, 2)
        (status.host, status.moreOverrides) = ("web-1", 3)
        status.overrides = [.init(path: "A/B/E f", value: "5"), .init(path: "A/B/Key", value: nil)]
        (status.trouble, status.isUnstable, status.edition) = ("etcd was restored", true, 3)
        (status.started, status.at) = (RecordTests.at, RecordTests.at + 1)
        status.metrics = ["S/E/Rate": 0.1, "S/E/Count": .leastNonzeroMagnitude]
        (status.sampledAt, status.left) = (RecordTests.at + 2, RecordTests.at + 3)
        return status
    }

    @Test func `A status with all fields survives encoding, with the refusals of rollouts first`() throws {
        var status = status()
        let read = try FleetStatus(status.bytes)
        status.refused.reverse()
        #expect(read == status)
        #expect(try FleetStatus(FleetStatus(build: "b").bytes) == FleetStatus(build: "b"))
    }

    @Test func `The status of an older process has no edition, which is the first`() throws {
        let text = String(decoding: FleetStatus(build: "b").bytes, as: UTF8.self)
        let older = text.replacing(#""edition":2,"#, with: "")
        #expect(older != text)
        #expect(try FleetStatus(utf8(older)).edition == 1 && FleetStatus(utf8(text)).edition == 2)
    }

    @Test func `A status is at most 1 KiB, and omitted entries are counted`() throws {
        var status = status()
        status.refused = (0..<5_000).map {
            .init(rollout: $0 % 2 == 0 ? nil : "r\($0)", path: "Some/Long/Path \($0)", reason: "it is too large")
        }
        status.covered = (0..<5_000).map { "Some/Other/Path \($0)" }
        let bytes = status.bytes
        let read = try FleetStatus(bytes)
        #expect(bytes.count <= FleetStatus.maxBytes && bytes.count > 900)
        #expect(read.refused.count + read.moreRefused == 5_001 && read.covered.count + read.moreCovered == 5_002)
        #expect(read.refused.first == .init(rollout: "r1", path: "Some/Long/Path 1", reason: "it is too large"))
        #expect(read.labels == status.labels)
    }

    @Test func `Paths, values and reasons are omitted before metrics`() throws {
        var status = status()
        status.covered = (0..<100).map { "Some/Other/Path \($0)" }
        status.refused = (0..<100).map { .init(rollout: nil, path: "Some/Long/Path \($0)", reason: "no") }
        status.refused.append(.init(rollout: "r", path: "A/B/C", reason: String(repeating: "long ", count: 50)))
        let read = try FleetStatus(status.bytes)
        #expect(read.metrics == status.metrics && read.refused.first?.rollout == "r" && read.covered.isEmpty)
    }

    @Test func `The refusal of a rollout is never omitted`() throws {
        for character in ["a", "\u{1}", "\"", "👩‍👩‍👧"] {
            var status = status()
            let long = String(repeating: character, count: 400)
            status.build = long
            status.labels = [:]
            for number in 0..<8 { status.labels["label\(number)"] = String(repeating: "v", count: 24) }
            (status.host, status.isApart, status.held) = (long, true, String(repeating: "f", count: 16))
            status.overrides = [.init(path: "A/B/C", value: long)]
            _ = try status.labels.validated()
            status.refused = [.init(rollout: String(repeating: "r", count: 40), path: long, reason: long)]
            status.trouble = long
            (status.moreCovered, status.moreRefused) = (1_000_000, 1_000_000)
            let bytes = status.bytes
            #expect(bytes.count <= FleetStatus.maxBytes)
            let read = try FleetStatus(bytes)
            #expect(read.refused.count == 1 && read.labels == status.labels)
        }
    }

    @Test func `Labels above their limit and metrics that are not finite are omitted`() throws {
        var status = status()
        status.labels = ["a": String(repeating: "b", count: 2_000)]
        status.metrics["S/E/None"] = .nan
        status.metrics["S/E/All"] = .infinity
        let read = try FleetStatus(status.bytes)
        #expect(status.bytes.count <= FleetStatus.maxBytes && read.labels.isEmpty)
        status.labels = [:]
        #expect(try FleetStatus(status.bytes).metrics.keys.sorted() == ["S/E/Count", "S/E/Rate"])
    }

    @Test(arguments: [
        ("\"labels\":{", "\"labels\":\"zone=eu\",\"old\":{"), ("\"zone\":\"eu\"", "\"zone\":\"\""),
        ("\"revision\":9223372036854775807", "\"revision\":9223372036854775808"),
        ("\"unstable\":true", "\"unstable\":1"), ("\"left\":\"", "\"left\":\"x"),
        ("\"sampledAt\":\"", "\"sampledAt\":\"x"),
        ("\"figures\":{", "\"figures\":{\"a\":\"1\","), ("\"figures\":{", "\"figures\":{\"a\":1e999,"),
        ("\"covered\":[", "\"covered\":[1,"), ("\"refused\":[", "\"refused\":[{},"),
        ("\"refused\":[", "\"refused\":{},\"old\":["), ("\"build\":\"", "\"build\":1,\"old\":\""),
    ])
    func `A status with an invalid field is a problem`(_ part: String, _ other: String) throws {
        let text = String(decoding: status().bytes, as: UTF8.self)
        #expect(text.contains(part))
        #expect(throws: FleetProblem.self) { try FleetStatus(utf8(text.replacing(part, with: other))) }
    }
}
