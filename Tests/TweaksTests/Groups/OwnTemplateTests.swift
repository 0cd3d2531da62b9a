// Tests a template that a program defines.

import Testing

@testable import Tweaks

private struct Pool: TweakTemplate {
    var connections = 8
    var idle = Duration.seconds(30)
    var mode = Mode.eager
    enum Mode: String, CaseIterable, TweakConvertible { case eager, lazy }
    static let parts: [TweakPart<Pool>] = [
        TweakPart("connections", \.connections, in: 1...256, help: "How many are kept open at most"),
        TweakPart("idle time", \.idle, in: .zero ... .seconds(600)),
        TweakPart("mode", \.mode),
    ]
}

private struct HTTPProxyLimits2<Value: TweakConvertible>: TweakTemplate {
    var limit: Value
    static var parts: [TweakPart<Self>] { [TweakPart("limit", \.limit)] }
}

private struct TweakOrder: TweakTemplate {
    var limit = 1
    static let parts: [TweakPart<Self>] = [TweakPart("limit", \.limit)]
}

private struct Tweak2: TweakTemplate {
    static let templateName = "ease"
    var limit = 1
    static let parts: [TweakPart<Self>] = [TweakPart("limit", \.limit)]
}

struct OwnTemplateTests {
    private let registry = TweakRegistry()

    @Test func itsPartsAreTweaks() throws {
        let pool = TweakGroup("Database", "Pool", Pool(connections: 16), registry: registry)
        #expect(pool.parts.map(\.path.joined) == ["Connections", "Idle time", "Mode"].map { "Database/Pool/\($0)" })
        #expect(pool.parts.map(\.defaultValue) == [.int(16), .duration(.seconds(30)), .choice("eager")])
        #expect(pool.path.joined == "Database/Pool/Connections" && registry.count == 3)
        let part = try #require(registry["Database/Pool/Connections"])
        #expect(part.help == "How many are kept open at most" && part.upperBound == .int(256))
        #expect(part.source.description.hasSuffix("OwnTemplateTests.swift:39"))
        try part.set(text: "20")
        try registry["Database/Pool/Mode"]?.set(text: "lazy")
        #expect(pool.value == Pool(connections: 20, mode: .lazy))
    }

    @Test func aNamePrecedesTheNamesOfTheParts() {
        let pool = TweakGroup("Database", "Main", "Pool", Pool(), registry: registry)
        #expect(pool.parts.map(\.path.name) == ["Pool connections", "Pool idle time", "Pool mode"])
    }

    @Test func aPartKnowsItsTemplateAndItsGroup() throws {
        func roles(_ group: some TweakHandle) -> [String] {
            group.tweaks.compactMap { $0.node.role.map { "\($0.template): \($0.part) of \($0.path)" } }
        }
        let named = TweakGroup("Database", "Main", "Pool", Pool(), registry: registry)
        #expect(
            roles(named) == ["connections", "idle time", "mode"].map { "pool: \($0) of Database/Main/Pool" })
        let spring = TweakGroup("Card", "Drop", TweakSpring(), registry: registry)
        #expect(roles(spring) == ["response", "damping fraction"].map { "spring: \($0) of Card/Drop" })
        // The first declaration counts, for this as for its range.
        let alone = try registry.register("Card", "Fall", "Limit", 1)
        #expect(roles(TweakGroup("Card", "Fall", TweakOrder(), registry: registry)) == [] && roles(alone) == [])
    }

    @Test func aTemplateHasTheNameOfItsType() {
        let names = [
            TweakSpring.templateName, TweakEase.templateName, TweakShadow.templateName, TweakRetryPolicy.templateName,
            TweakTimeouts.templateName, TweakRateLimit.templateName, Pool.templateName, TweakOrder.templateName,
            HTTPProxyLimits2<Int>.templateName, Tweak2.templateName,
        ]
        #expect(
            names == [
                "spring", "ease", "shadow", "retry policy", "timeouts", "rate limit", "pool", "order",
                "httpproxy limits2", "ease",
            ])
    }

    @Test func aPropertyReadsAndSetsTheGroup() throws {
        struct Settings {
            @TweakGroup var pool: Pool
            init(_ registry: TweakRegistry) {
                _pool = TweakGroup(wrappedValue: Pool(), "Database", "Pool", registry: registry)
            }
        }
        let settings = Settings(registry)
        settings.pool = Pool(connections: 4)
        #expect(settings.$pool.value.connections == 4 && settings.pool == Pool(connections: 4))
    }
}
