// Tests the JSON of records: round trips, and errors for malformed records.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct RecordTests {
    static let at: Int64 = 1_795_253_400_123

    static let values: [TweakValue] = [
        .bool(true), .int(0), .int(.min), .int(.max), .unsigned(1 << 63), .unsigned(.max), .number(0.1), .number(3),
        .number(-0.0), .number(.leastNonzeroMagnitude), .number(.greatestFiniteMagnitude), .string(""), .string("none"),
        .string("a \"b\" \\ \n\t\u{0} \u{2028} ü 👩‍👩‍👧 e\u{301}"), .color(TweakColor(red: 1, green: 0.53, blue: 0)),
        .color(TweakColor(red: 0.1, green: 0.2, blue: 0.3, alpha: 0.4)), .choice("a b"), .duration(.zero),
        .duration(.milliseconds(250)), .duration(.nanoseconds(Int64.max)), .duration(.nanoseconds(Int64.min)),
        .point(TweakPoint(x: -1.5, y: 1e300)), .curve(TweakCurve(0.1, -1e-7, 1, 1_000)), .curve(.steps(3, .jumpBoth)),
        .list([.curve(.ease), .curve(.stepEnd)]), .list([]), .list([.int(.min), .unsigned(.max)]),
        .list([.string("a, b"), .string("]")]), .list([.duration(.seconds(1))]), .list([.color(.black)]), .notSet,
    ]

    @Test(arguments: values)
    func `A value of each kind survives encoding in each record`(_ value: TweakValue) throws {
        let record = DesiredValue(value: value, by: "ana@host", at: Self.at)
        #expect(try DesiredValue(record.bytes) == record)
        // In rollouts and in the log the other value may be of another kind.
        for other in Self.values {
            let path = try TweakPath("A/B/C d")
            var rollout = Rollout(id: "r", changes: [], share: .all, by: "ana", at: Self.at)
            rollout.changes = [.init(path: path, value: value, found: other)]
            #expect(try Rollout(rollout.bytes) == rollout)
            let entry = FleetLogEntry(
                sequence: .max, verb: "set", changes: [.init(path: path, old: value, new: other)], by: "ana", at: 0)
            #expect(try FleetLogEntry(entry.bytes) == entry)
        }
    }

    @Test func `Records are readable JSON lines`() throws {
        let value = DesiredValue(value: .list([.int(1)]), by: "ana", at: Self.at)
        let json = #"{"kind":"list","of":"int","value":[1],"by":"ana","at":"2026-11-21T09:30:00.123Z"}"#
        #expect(text(value.bytes) == json)
        #expect(text(DesiredValue(value: .number(-0.0), by: "a", at: 0).bytes).contains(#""value":-0.0,"#))
        let head = FleetHead(counter: .max, by: "ana", what: "set A/B/C", at: Self.at)
        #expect(
            text(head.bytes)
                == #"{"counter":18446744073709551615,"by":"ana","what":"set A/B/C","at":"2026-11-21T09:30:00.123Z"}"#)
        let driver = FleetDriver(host: "mac", pid: 7, by: "bob", at: 0)
        #expect(text(driver.bytes) == #"{"host":"mac","pid":7,"by":"bob","at":"1970-01-01T00:00:00.000Z"}"#)
    }

    @Test func `Heads, log entries and drivers survive encoding`() throws {
        let head = FleetHead(counter: FleetHead.maxCounter, by: "ana", what: "set \"A b\"/C/D", at: Self.at)
        #expect(try FleetHead(head.bytes) == head)
        let driver = FleetDriver(host: "mac", pid: .max, by: "bob", at: Self.at)
        #expect(try FleetDriver(driver.bytes) == driver)
        let change = FleetLogEntry.Change(path: try TweakPath("A/B/C"), old: nil, new: .int(1))
        let entry = FleetLogEntry(sequence: 0, verb: "rollout", rollout: "r", changes: [change], by: "ana", at: Self.at)
        #expect(try FleetLogEntry(entry.bytes) == entry)
    }

    @Test func `A head with a counter that no log key can have is a problem`() throws {
        var head = FleetHead(counter: FleetHead.maxCounter + 1, by: "ana", what: "set", at: 0)
        #expect(throws: FleetProblem.self) { try FleetHead(head.bytes) }
        (head.counter, head.adopted) = (5, 6)
        #expect(throws: FleetProblem.self) { try FleetHead(head.bytes) }
    }

    @Test func `A long name is truncated, so that the record can be decoded`() throws {
        let long = String(repeating: "ü\u{1}", count: 2_000)
        #expect(try DesiredValue(DesiredValue(value: .int(1), by: long, at: 0).bytes).by.utf8.count <= 200)
        #expect(try FleetHead(FleetHead(counter: 1, by: long, what: long, at: 0).bytes).what.hasSuffix("…"))
        #expect(try FleetDriver(FleetDriver(host: long, pid: 1, by: long, at: 0).bytes).host.hasPrefix("ü"))
        #expect(try FleetLogEntry(FleetLogEntry(sequence: 1, verb: "set", by: long, at: 0).bytes).by.hasPrefix("ü"))
    }

    @Test func `Unknown fields are ignored`() throws {
        let text = #"{"new":[{}],"at":"2026-11-21T09:30:00Z","by":"a","value":7,"kind":"int"}"#
        #expect(try DesiredValue(utf8(text)).value == .int(7))
    }

    @Test(arguments: [
        "", "{", "null", "[]", "7", "\"a\"", "garbage", "{}", #"{"kind":"int"}"#, "{\"a\":1}\n{\"b\":2}",
        #"{"kind":"int","value":1,"by":"a"}"#, #"{"kind":"int","value":1,"at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":1,"by":7,"at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":1,"by":"a","at":"yesterday"}"#, #"{"kind":"int","value":1,"by":"a","at":7}"#,
        #"{"kind":"int","value":1,"by":"a","at":"2026-02-30T09:30:00Z"}"#,
        #"{"kind":"int","value":1,"value":2,"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":"1","by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":1.5,"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":null,"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"int","value":18446744073709551616,"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"number","value":1e999,"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"number","value":[],"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"action","value":"a","by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"matrix","value":"a","by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"list","of":"matrix","value":[],"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"list","of":"int","value":[1,"a"],"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        #"{"kind":"list","value":[1],"by":"a","at":"2026-11-21T09:30:00Z"}"#,
        ##"{"kind":"color","value":"#GG0000","by":"a","at":"2026-11-21T09:30:00Z"}"##,
        #"{"kind":"duration","value":"soon","by":"a","at":"2026-11-21T09:30:00Z"}"#,
    ])
    func `A malformed record of each type is a problem with a reason`(_ text: String) {
        let bytes = utf8(text)
        let problem = #expect(throws: FleetProblem.self) { try DesiredValue(bytes) }
        #expect(problem?.text.isEmpty == false)
        #expect(throws: FleetProblem.self) { try FleetHead(bytes) }
        #expect(throws: FleetProblem.self) { try FleetLogEntry(bytes) }
        #expect(throws: FleetProblem.self) { try FleetDriver(bytes) }
        #expect(throws: FleetProblem.self) { try FleetStatus(bytes) }
        #expect(throws: FleetProblem.self) { try Rollout(bytes) }
    }

    @Test func `A record that is too large, nested too deeply, truncated or not UTF-8 is a problem`() {
        let large = DesiredValue(value: .string(String(repeating: "a", count: 64 << 10)), by: "a", at: 0)
        let problem = #expect(throws: FleetProblem.self) { try DesiredValue(large.bytes) }
        #expect(problem?.text == "it has more than 65536 bytes")
        let value = DesiredValue(value: .string("ü"), by: "ana", at: Self.at).bytes
        let malformed = [[UInt8](repeating: 0x5B, count: 60_000), [0x7B, 0xFF, 0x7D], [0]]
        for bytes in malformed + value.indices.map({ Array(value[..<$0]) }) {
            #expect(throws: FleetProblem.self) { try DesiredValue(bytes) }
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
