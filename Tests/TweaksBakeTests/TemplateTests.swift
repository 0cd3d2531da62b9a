// Tests of groups: the arguments of their templates change, and missing ones are added in their places.

import Testing
import Tweaks

@testable import TweaksBake

/// A group and the parts of it that were set.
struct TemplateCase: CustomTestStringConvertible, Sendable {
    let source: String
    /// `NAME KIND OLD NEW` with the values as in JSON.
    let parts: [String]
    let expected: String

    init(_ source: String, _ parts: [String], _ expected: String) {
        self.source = source
        self.parts = parts
        self.expected = expected
    }

    var testDescription: String { "\(source) → \(expected)" }

    func baked() throws -> BakedSource {
        let tweaks = try parts.map { part in
            let fields = part.split(separator: "|")
            return try TunedTweak.made(
                "\"kind\":\"\(fields[1])\",\"default\":\(fields[2]),\"value\":\(fields[3])", path: "A/B/\(fields[0])")
        }
        return try #require(BakedSource(Array(source.utf8), tweaks))
    }
}

struct TemplateTests {
    static let cases = [
        TemplateCase(
            "TweakGroup(\"A\", \"B\", \"Shadow\", TweakShadow(y: 4))", ["Shadow y|number|4|5.5"],
            "TweakGroup(\"A\", \"B\", \"Shadow\", TweakShadow(y: 5.5))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", \"Shadow\", TweakShadow(y: 4))",
            [
                "Shadow opacity|number|0.25|0.5", "Shadow color|color|\"#000000FF\"|\"#010203FF\"",
                "Shadow radius|number|4|8",
            ],
            "TweakGroup(\"A\", \"B\", \"Shadow\", TweakShadow(color: TweakColor(0x010203), y: 4, radius: 8.0, opacity: 0.5))"
        ),
        TemplateCase(
            "@TweakGroup(\"A\", \"B\") var spring = TweakSpring()",
            ["Response|duration|\"500ms\"|\"300ms\"", "Damping fraction|number|0.825|1"],
            "@TweakGroup(\"A\", \"B\") var spring = TweakSpring(response: .milliseconds(300), dampingFraction: 1.0)"),
        TemplateCase(
            "TweakGroup<TweakRetryPolicy>(\"A\", \"B\", .init(attempts: 5, maxDelay: .seconds(20)))",
            ["Attempts|int|5|6"],
            "TweakGroup<TweakRetryPolicy>(\"A\", \"B\", .init(attempts: 6, maxDelay: .seconds(20)))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakRetryPolicy(attempts: 5, maxDelay: .seconds(20)))",
            [
                "Base delay|duration|\"100ms\"|\"50ms\"", "Factor|number|2|3", "Jitter|number|0.5|1",
                "Max delay|duration|\"20s\"|\"1m\"",
            ],
            "TweakGroup(\"A\", \"B\", TweakRetryPolicy(attempts: 5, baseDelay: .milliseconds(50), factor: 3.0, maxDelay: .seconds(60), jitter: 1.0))"
        ),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase(0.25, 0.1, 0.25, 1))",
            ["Ease x1|number|0.25|0.5", "Ease y2|number|1|1.2"],
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase(0.5, 0.1, 0.25, 1.2))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase.inOut)", ["Ease y1|number|0|0.1"],
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase(0.42, 0.1, 0.58, 1))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase.inOut)", ["Ease x1|number|0.42|0"],
            "TweakGroup(\"A\", \"B\", \"Ease\", TweakEase.out)"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakTimeouts(total: .seconds(5)))", ["Connect|duration|\"2s\"|\"1s\""],
            "TweakGroup(\"A\", \"B\", TweakTimeouts(connect: .seconds(1), total: .seconds(5)))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakRateLimit())", ["Burst|int|20|40"],
            "TweakGroup(\"A\", \"B\", TweakRateLimit(burst: 40))"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", Pool(connections: 16, idle: .seconds(9))); let p = TweakPart(\"idle time\", \\Pool.idle)",
            ["Connections|int|16|32", "Idle time|duration|\"9s\"|\"8s\""],
            "TweakGroup(\"A\", \"B\", Pool(connections: 32, idle: .seconds(8))); let p = TweakPart(\"idle time\", \\Pool.idle)"
        ),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", Pool(maxIdle: 16))", ["Max idle|int|16|32"],
            "TweakGroup(\"A\", \"B\", Pool(maxIdle: 32))"),
    ]

    @Test(arguments: cases) func partsAreArguments(_ item: TemplateCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.expected)
        #expect(baked.reasons == [] && baked.tweaks.count == item.parts.count)
    }

    static let refusals = [
        TemplateCase(
            "TweakGroup(\"A\", \"B\", Pool(connections: 16))", ["Idle time|duration|\"9s\"|\"8s\""],
            "has its default in the declaration of Pool, as idleTime"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakSpring(stiffness: 1, damping: 2))", ["Response|duration|\"1s\"|\"2s\""],
            "is not written out"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakShadow(y: 4))", ["X|number|1|2"], "has another default there than 1"),
        TemplateCase(
            "TweakGroup(\"A\", \"B\", TweakEase.inOut)", ["X1|number|1|2"], "has another default there than 1"),
        TemplateCase("TweakGroup(\"A\", \"B\", TweakEase.mine)", ["X1|number|1|2"], "is not written out"),
        TemplateCase("TweakGroup(\"A\", \"B\", standard)", ["X1|number|1|2"], "is not written out"),
        TemplateCase("TweakGroup(\"A\", \"B\", TweakShadow(y: four))", ["Y|number|4|5"], "is not written out"),
    ]

    @Test(arguments: refusals) func otherTemplatesAreRefused(_ item: TemplateCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.source)
        #expect(
            baked.reasons.allSatisfy { !$0.ranges(of: item.expected).isEmpty } && !baked.reasons.isEmpty,
            "\(baked.reasons)")
    }

    /// The labels and defaults here are those that the templates have.
    @Test func builtInTemplatesAreThoseOfTheLibrary() {
        let registry = TweakRegistry()
        func parts(_ group: TweakGroup<some TweakTemplate>) -> [(String, TweakValue?)] {
            group.parts.map {
                (TemplateArguments.camelCase($0.path.name.prefix(1).lowercased() + $0.path.name.dropFirst()), $0.value)
            }
        }
        let groups = [
            parts(TweakGroup("A", "Spring", TweakSpring(), registry: registry)),
            parts(TweakGroup("A", "Ease", TweakEase.inOut, registry: registry)),
            parts(TweakGroup("A", "Shadow", TweakShadow(), registry: registry)),
            parts(TweakGroup("A", "Retry", TweakRetryPolicy(), registry: registry)),
            parts(TweakGroup("A", "Timeouts", TweakTimeouts(), registry: registry)),
            parts(TweakGroup("A", "Rate", TweakRateLimit(), registry: registry)),
        ]
        for (template, parts) in zip(BuiltInTemplate.all, groups) {
            #expect(template.labels == parts.map(\.0))
            #expect((template.members["inOut"] ?? template.defaults) == parts.map(\.1))
        }
    }
}
