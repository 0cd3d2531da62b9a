// Tests rollouts and their parts: limits, selectors, conditions, shares.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct RolloutTests {
    /// Returns a rollout with all fields.
    static func full() throws -> Rollout {
        var rollout = Rollout(id: "k7wq2m", changes: [], share: .none, by: "ana", at: RecordTests.at)
        rollout.changes = [
            .init(path: try TweakPath("Service/Pool/Size"), value: .int(80), found: .int(64)),
            .init(path: try TweakPath("Service/Pool/Wait time"), value: .duration(.seconds(1)), found: nil),
        ]
        rollout.selector = ["zone": "eu", "version": "1.4"]
        rollout.share = try #require(Share(percent: "12.5"))
        rollout.steps = try ["0.01", "12.5", "50", "100"].map { try #require(Share(percent: $0)) }
        rollout.state = .paused
        (rollout.every, rollout.next) = (60, RecordTests.at + 60_000)
        rollout.abortIf = try ["Service/Errors/Rate > 5", "\"A b/C/D\" <= -0.5"].map {
            try #require(MetricCondition(parsing: $0))
        }
        (rollout.lifetime, rollout.confirmWithin, rollout.confirmBy) = (600, 900, RecordTests.at + 1)
        (rollout.isTimed, rollout.reached, rollout.reachedAt) = (true, 5, 40)
        return rollout
    }

    @Test func `A rollout with all fields survives encoding as readable JSON; a truncated one is a problem`() throws {
        let rollout = try Self.full()
        #expect(try Rollout(rollout.bytes) == rollout)
        let text = String(decoding: rollout.bytes, as: UTF8.self)
        #expect(text.contains(#""percent":12.5,"state":"paused","steps":[0.01,12.5,50,100],"everySeconds":60"#))
        #expect(text.contains(#""where":{"version":"1.4","zone":"eu"}"#))
        #expect(text.contains(#""abortIf":["Service/Errors/Rate > 5","\"A b/C/D\" <= -0.5"]"#))
        for length in rollout.bytes.indices {
            #expect(throws: FleetProblem.self) { try Rollout(Array(rollout.bytes[..<length])) }
        }
    }

    @Test(arguments: [
        ("\"id\":\"k7wq2m\"", "\"id\":\"a/b\""), ("\"id\":\"k7wq2m\"", "\"id\":\"\""),
        ("\"state\":\"paused\"", "\"state\":\"over\""), ("\"state\":\"paused\"", "\"state\":true"),
        ("12.5,50", "50,12.5"), ("12.5,50", "50,50"), ("[0.01,", "[0.001,"), ("[0.01,", "[-1,"), ("[0.01,", "{\"a\":1"),
        ("\"steps\":[", "\"steps\":7,\"old\":["), ("\"percent\":12.5", "\"percent\":100.01"),
        ("\"percent\":12.5", "\"percent\":null"), ("\"percent\":12.5", "\"percent\":[1]"),
        ("\"percent\":12.5", "\"percent\":1e1"),
        ("\"everySeconds\":60", "\"everySeconds\":9223372036854775807"), ("\"everySeconds\":60", "\"everySeconds\":-1"),
        ("\"lifetimeSeconds\":600", "\"lifetimeSeconds\":0"), ("\"confirmSeconds\":900", "\"confirmSeconds\":\"9m\""),
        ("\"timer\":true", "\"timer\":1"), ("\"membersAt\":40", "\"membersAt\":-40"),
        ("\"where\":{", "\"where\":\"zone=eu\",\"old\":{"), ("\"where\":{", "\"where\":[],\"old\":{"),
        ("\"zone\":\"eu\"", "\"zone\":7"), ("\"zone\":\"eu\"", "\"zone\":\"e u\""),
        ("\"zone\":\"eu\"", "\"zo/ne\":\"eu\""),
        ("\"abortIf\":[", "\"abortIf\":\"A/B/C > 5\",\"old\":["), ("Rate > 5", "Rate > five"), ("Rate > 5", "Rate = 5"),
        ("\"abortIf\":[", "\"abortIf\":[7,"), ("\"changes\":[", "\"changes\":[],\"old\":["),
        ("\"changes\":[", "\"old\":["), ("\"changes\":[", "\"changes\":[7,"),
        ("Service/Pool/Wait time", "Service/Pool/Size"), ("Service/Pool/Size", "Service/Pool"),
        ("\"found\":64", "\"found\":\"64\""), ("\"found\":64", "\"found\":{}"), ("\"value\":80", "\"value\":{}"),
    ])
    func `A rollout with an invalid field is a problem`(_ part: String, _ other: String) throws {
        let text = String(decoding: try Self.full().bytes, as: UTF8.self)
        #expect(text.contains(part))
        #expect(throws: FleetProblem.self) { try Rollout(utf8(text.replacing(part, with: other, maxReplacements: 1))) }
    }

    @Test func `A rollout has at most 100 changes, 20 steps and 256 KiB`() throws {
        func rollout(changes: Int, of value: TweakValue = .int(1), steps: Int = 1) throws -> [UInt8] {
            var rollout = Rollout(id: "r", changes: [], share: .all, by: "a", at: 0)
            let paths = try (0..<changes).map { try TweakPath("A/B/\($0)") }
            rollout.changes = paths.map { .init(path: $0, value: value, found: nil) }
            rollout.steps = try (1...steps).map { try #require(Share(hundredths: $0)) }
            return rollout.bytes
        }
        #expect(try Rollout(rollout(changes: 100, steps: 20)).changes.count == 100)
        for bytes in try [
            rollout(changes: 0), rollout(changes: 101), rollout(changes: 1, steps: 21),
            rollout(changes: 100, of: .string(String(repeating: "a", count: 3_000))),
        ] { #expect(throws: FleetProblem.self) { try Rollout(bytes) } }
    }

    @Test(arguments: [
        ("0", 0, "0"), ("0.01", 1, "0.01"), ("0.1", 10, "0.1"), ("0.10", 10, "0.1"), ("1", 100, "1"),
        ("12.5", 1_250, "12.5"), ("12.05%", 1_205, "12.05"), ("100", 10_000, "100"), ("100.00%", 10_000, "100"),
        ("007", 700, "7"),
    ])
    func `A share is a percentage with at most two decimal places`(
        _ text: String, _ hundredths: Int, _ number: String
    ) throws {
        let share = try #require(Share(percent: text))
        #expect(share.hundredths == hundredths && share.number == number)
    }

    @Test(arguments: [
        "", "%", ".", "1.", ".5", "-1", "+1", "1.234", "100.01", "101", "1e1", "1,5", " 1", "1 %", "١", "0001",
    ])
    func `Anything else is not a share`(_ text: String) { #expect(Share(percent: text) == nil) }

    @Test func `The text of each share is parsed as the share`() throws {
        for hundredths in 0...10_000 {
            let share = try #require(Share(hundredths: hundredths))
            #expect(Share(percent: share.number) == share)
        }
    }

    @Test(arguments: [
        ("Service/Errors/Rate > 5", "Service/Errors/Rate > 5"), ("A/B/C>=5.50", "A/B/C >= 5.5"),
        ("  A/B/C   <  -1e-3 ", "A/B/C < -0.001"), ("A b/C d/E f <= 0", "\"A b/C d/E f\" <= 0"),
        ("\"A b/C/D\" > 1", "\"A b/C/D\" > 1"), ("\"A/B/p > q\">1", "\"A/B/p > q\" > 1"),
        ("\"A/B/<C>\" < 1", "\"A/B/<C>\" < 1"), ("A/B/C > 2 × others", "A/B/C > 2 × others"),
        ("A/B/C>1.5x others", "A/B/C > 1.5 × others"),
        ("A/B/C < 0.5 * others  for 3 samples", "A/B/C < 0.5 × others for 3 samples"),
        ("A/B/C > 5 for 1 sample", "A/B/C > 5 for 1 sample"), ("A/B/C > 5 for 2 samples", "A/B/C > 5"),
        ("\"A/B/\\\"C\\\"\" > 1", "\"A/B/\\\"C\\\"\" > 1"), ("\u{301}A/B C/D > 1", "\"\u{301}A/B C/D\" > 1"),
    ])
    func `A condition is parsed, and its text is parsed as itself`(_ text: String, _ printed: String) throws {
        let condition = try #require(MetricCondition(parsing: text))
        #expect(condition.text == printed)
        #expect(MetricCondition(parsing: condition.text) == condition)
    }

    @Test(arguments: [
        "", ">", "> 5", "A/B/C", "A/B/C >", "A/B/C > five", "A/B/C > nan", "A/B > 5", "A/B/C > > 5", "A/B/C =< 5",
        "A/B/C => 5", "A/B/C = > 5", "A/B/C > others", "A/B/C > × others", "A/B/C > 2 others", "A/B/C > 2 × other",
        "A/B/C > 5 for 0 samples", "A/B/C > 5 for 21 samples", "A/B/C > 5 for samples", "A/B/C > for 3 samples",
        "A/B/C > 5 for -1 samples", "A/B/C > 2 × 3 × others",
    ])
    func `Anything else is not a condition`(_ text: String) { #expect(MetricCondition(parsing: text) == nil) }

    @Test(arguments: [
        ("A/B/C > 5", 5, false), ("A/B/C > 5", 5.1, true), ("A/B/C >= 5", 5, true), ("A/B/C < 5", 5, false),
        ("A/B/C <= 5", 5, true), ("A/B/C < 5", 4.9, true), ("A/B/C > 5", Double.nan, false),
    ])
    func `A metric meets a condition or not`(_ text: String, _ metric: Double, _ isMet: Bool) throws {
        #expect(try #require(MetricCondition(parsing: text)).isMet(by: metric) == isMet)
    }

    @Test func `A relative condition is met by comparison with the others, and not without them`() throws {
        let condition = try #require(MetricCondition(parsing: "A/B/C > 2 × others"))
        #expect(condition.isMet(by: 5, others: 2) && !condition.isMet(by: 4, others: 2) && !condition.isMet(by: 5))
        #expect(condition.isMet(by: 1e308, others: 1e307) && !condition.isMet(by: 1e308, others: 1e308))
    }

    @Test func `Conditions that older processes do not know are in a field of their own`() throws {
        var rollout = try Rollout("r", ["A/B/C": .int(1)])
        rollout.abortIf = try ["A/B/C > 5", "A/B/C > 2 × others", "A/B/D > 1 for 3 samples"].map {
            try #require(MetricCondition(parsing: $0))
        }
        let text = String(decoding: rollout.bytes, as: UTF8.self)
        #expect(
            text.contains(
                #""abortIf":["A/B/C > 5"],"abortIfCompared":["A/B/C > 2 × others","A/B/D > 1 for 3 samples"]"#))
        #expect(try Rollout(rollout.bytes) == rollout)
    }

    @Test func `Labels are parsed, and printed in the order of names`() throws {
        #expect(try Labels(parsing: "zone=eu,version=1.4") == ["zone": "eu", "version": "1.4"])
        #expect(try Labels(parsing: "zone=eu,version=1.4").text == "version=1.4,zone=eu")
        #expect(try Labels(parsing: "").isEmpty)
    }

    @Test(arguments: [
        "zone", "zone=", "=eu", ",", "a=b,", "a=b,a=c", "a=b=c", "a b=c", "a=b:c", "ä=b",
        "a=" + String(repeating: "b", count: 64), "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9",
        (0..<5).map { "n\($0)=" + String(repeating: "b", count: 60) }.joined(separator: ","),
    ])
    func `Anything else is not labels`(_ text: String) {
        #expect(throws: FleetProblem.self) { try Labels(parsing: text) }
    }

    @Test func `A rollout with random changes survives encoding, or is a problem`() throws {
        var generator = SeededGenerator(seed: 1)
        let bytes = try Self.full().bytes
        for _ in 0..<20_000 {
            let other = generator.mutated(bytes, byte: 0...255, insert: "0\":[{e", count: 2)
            guard let rollout = try? Rollout(other) else { continue }
            #expect(try Rollout(rollout.bytes) == rollout)
        }
    }
}

extension SeededGenerator {
    /// Returns bytes with one to three random changes: replaced, removed or inserted bytes.
    mutating func mutated(_ bytes: [UInt8], byte: ClosedRange<UInt8>, insert: String, count: Int) -> [UInt8] {
        var other = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            let index = Int.random(in: other.indices, using: &self)
            switch Int.random(in: 0..<3, using: &self) {
            case 0: other[index] = .random(in: byte, using: &self)
            case 1: other.remove(at: index)
            default: other.insert(contentsOf: insert.utf8.shuffled(using: &self).prefix(count), at: index)
            }
        }
        return other
    }
}
