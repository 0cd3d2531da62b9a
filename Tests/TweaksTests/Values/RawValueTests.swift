// Tests enumerations and wrappers that one line makes convertible: own ones and those of another module.

import Testing

@testable public import Tweaks
public import TweaksTestSupport

private enum Level: Int, CaseIterable, TweakConvertible { case low = 10, high = 20 }

private enum Described: Int8, CaseIterable, TweakConvertible, CustomStringConvertible {
    case first = -1, second
    var description: String { self == .first ? "the first" : "the second" }
}

/// Printed like an enumeration that was compiled with `-disable-reflection-metadata`.
private enum Nameless: UInt64, CaseIterable, TweakConvertible, CustomStringConvertible {
    case one = 1, last = 18_446_744_073_709_551_615
    var description: String { "Nameless(rawValue: \(rawValue))" }
}

private struct Meters: RawRepresentable, TweakBounded {
    var rawValue: UInt8
    static func < (left: Meters, right: Meters) -> Bool { left.rawValue < right.rawValue }
}

/// Public, since the compiler warns about one that is not.
public enum Fruit: String { case apple, pear }
extension Fruit: TweakConvertible {}
private enum Size: Int, TweakConvertible { case small, large }
private enum Factor: Double, CaseIterable, TweakConvertible { case half = 0.5, twice = 2 }
private struct Name: RawRepresentable, TweakConvertible { var rawValue: String }
// A program in another package writes @retroactive before the protocol.
extension ForeignCase: TweakConvertible {}

struct RawValueTests {
    private let registry = TweakRegistry()

    @Test func casesWithIntegersAreChoicesByName() throws {
        let tweak = Tweak("Kind", "Of", "Level", Level.low, registry: registry)
        #expect(tweak.erased.kind == .choice && tweak.erased.value == .choice("low"))
        #expect(tweak.choices.map(\.name) == ["low", "high"])
        try tweak.erased.set(text: "high")
        #expect(tweak.value == .high)
        expectRefused("20", by: tweak.erased, .notAChoice)
        tweak.value = .low
        #expect(tweak.value == .low && Level(.choice("high")) == .high && Level(.int(20)) == nil)
    }

    @Test func casesOfAnyModuleAreNamedByDescriptionOrRawValue() throws {
        let described = Tweak("Kind", "Of", "Described", Described.second, registry: registry)
        #expect(described.choices.map(\.name) == ["the first", "the second"])
        let nameless = Tweak("Kind", "Of", "Nameless", Nameless.one, registry: registry)
        #expect(nameless.choices.map(\.name) == ["1", "18446744073709551615"])
        try nameless.erased.set(text: "18446744073709551615")
        #expect(nameless.value == .last)
        let theirs = Tweak("Kind", "Of", "Theirs", ForeignCase.odd, registry: registry)
        #expect(theirs.choices.map(\.name) == ["odd", "even"])
        try theirs.erased.set(text: "even")
        #expect(theirs.value == .even)
    }

    @Test func anEnumerationThatDoesNotListItsCasesIsRefusedWithTheRemedy() throws {
        let declarations: [() throws -> Void] = [
            { _ = try registry.register("Kind", "Of", "Fruit", Fruit.apple) },
            { _ = try registry.register("Kind", "Of", "Fruit", [Fruit.apple]) },
            { _ = try registry.register("Kind", "Of", "Fruit", Fruit?.some(.apple)) },
        ]
        for declare in declarations {
            #expect(
                refusal(declare)?.message == "Kind/Of/Fruit: the enumeration Fruit does not list its cases; "
                    + "add CaseIterable to Fruit, or give choices")
        }
        let size = refusal { _ = try registry.register("Kind", "Of", "Size", Size.small) }
        #expect(size?.message.contains("add CaseIterable to Size, or give choices") == true)
        #expect(registry.count == 0)
    }

    @Test func anEnumerationWithChoicesAndATypeWithARawValueAreNotRefused() throws {
        #expect(try registry.register("Kind", "Of", "Basket", [Fruit.apple], choices: [.apple]).erased.kind == .list)
        #expect(try registry.register("Kind", "Of", "Factor", Factor.half).erased.kind == .number)
        #expect(try registry.register("Kind", "Of", "Name", Name(rawValue: "n")).erased.kind == .string)
        let listed = Tweak("Kind", "Of", "Listed", Fruit.apple, choices: [.apple, .pear], registry: registry)
        #expect(listed.erased.kind == .choice)
        expectRefused("plum", by: listed.erased, .notAChoice)
    }

    @Test func anEnumerationWithAConversionOfItsOwnIsNotRefused() throws {
        let power = Tweak("Kind", "Of", "Power", Power.off, registry: registry)
        #expect(power.erased.kind == .bool)
        try power.erased.set(text: "true")
        #expect(power.value == .on)
        #expect(try registry.register("Kind", "Of", "Powers", [Power.off]).erased.kind == .list)
        let gear = Tweak("Kind", "Of", "Gear", Gear.park, registry: registry)
        #expect(gear.choices.map(\.name) == ["P", "D"])
        try gear.erased.set(text: "D")
        #expect(gear.value == .drive)
    }

    @Test func aWrapperIsOfTheKindOfItsRawValue() throws {
        let tweak = Tweak("Kind", "Of", "Meters", Meters(rawValue: 5), in: Meters(rawValue: 1)..., registry: registry)
        #expect(tweak.erased.kind == .int && tweak.erased.upperBound == .int(255))
        try tweak.erased.set(text: "7")
        #expect(tweak.value == Meters(rawValue: 7))
        expectRefused("0", by: tweak.erased, .outOfRange)
    }
}

/// Is stored as a Boolean.
private enum Power: Int, TweakConvertible {
    case off, on

    init?(_ value: TweakValue) {
        guard case .bool(let isOn) = value else { return nil }
        self = isOn ? .on : .off
    }
    var erased: TweakValue { .bool(self == .on) }
    static var tweakKind: TweakKind? { .bool }
}

/// Is stored as a choice with names of its own.
private enum Gear: Int, TweakConvertible {
    case park, drive

    init?(_ value: TweakValue) {
        switch value {
        case .choice("P"), .string("P"): self = .park
        case .choice("D"), .string("D"): self = .drive
        default: return nil
        }
    }
    var erased: TweakValue { .choice(self == .park ? "P" : "D") }
    static var tweakKind: TweakKind? { .choice }
    static var tweakChoices: [TweakChoice<Gear>] {
        [TweakChoice(.park, name: "P"), TweakChoice(.drive, name: "D")]
    }
}
