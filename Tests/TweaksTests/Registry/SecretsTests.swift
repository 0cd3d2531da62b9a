// Secrets: their values are in no text that the registry makes.

import Testing

@testable import Tweaks

struct SecretsTests {
    private let registry = TweakRegistry()

    /// What must never be seen, in all the ways it could be written.
    private static let traces = ["hunter2", "987654", "A1B2C3", "a1b2c3"]

    private func expectSilent(_ text: String, at location: SourceLocation = #_sourceLocation) {
        for trace in Self.traces { #expect(!text.contains(trace), "\(text)", sourceLocation: location) }
    }

    private func expectSilent(
        _ code: TweakError.Code, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = refusal(body)
        #expect(error?.code == code, sourceLocation: location)
        expectSilent("\(error?.description ?? "") \(String(reflecting: error))", at: location)
    }

    @Test func noErrorQuotesThem() {
        let text = Tweak("S", "S", "Text", "", maxLength: 9, flags: .secret, registry: registry).erased
        let int = Tweak("S", "S", "Int", 5, in: 0...10, step: 5, flags: .secret, registry: registry).erased
        let number = Tweak("S", "S", "Number", 5.0, in: 0...1e5, step: 5, flags: .secret, registry: registry).erased
        let color = Tweak("S", "S", "Color", TweakColor.black, flags: .secret, registry: registry).erased
        let time = Tweak("S", "S", "Time", .zero, in: .zero ... .seconds(1), flags: .secret, registry: registry).erased
        let choice = Tweak("S", "S", "Choice", "a", choices: ["a", "b"], flags: .secret, registry: registry).erased
        let flag = Tweak("S", "S", "Flag", false, flags: .secret, registry: registry).erased
        let byte = Tweak("S", "S", "Byte", UInt8(0), flags: .secret, registry: registry).erased
        expectSilent(.outOfRange) { try text.set(text: "hunter2-too-long") }
        expectSilent(.outOfRange) { try int.set(text: "987654") }
        expectSilent(.outOfRange) { try number.set(text: "987654") }
        expectSilent(.badValue) { try number.set(text: "hunter2") }
        expectSilent(.badValue) { try int.set(text: "987654.5") }
        expectSilent(.badValue) { try int.set(.number(987654.5)) }
        expectSilent(.badValue) { try color.set(text: "#A1B2C3zz") }
        expectSilent(.outOfRange) { try time.set(text: "987654ms") }
        expectSilent(.badValue) { try time.set(text: "987654") }
        expectSilent(.notAChoice) { try choice.set(text: "hunter2") }
        expectSilent(.badValue) { try flag.set(text: "hunter2") }
        expectSilent(.outOfRange) { try byte.set(text: "987654") }
        expectSilent(.badValue) { try flag.set(.string("hunter2")) }
    }

    @Test func aReasonThatQuotesTheValueIsNotPassedOn() {
        let tweak = Tweak(
            "S", "S", "Text", "", validate: { $0.isEmpty ? nil : "“\($0)” is too easy" }, flags: .secret,
            registry: registry)
        expectSilent(.badValue) { try tweak.set("hunter2") }
        let other = Tweak(
            "S", "S", "Other", "", validate: { $0.isEmpty ? nil : "too easy" }, flags: .secret, registry: registry)
        #expect(refusal { try other.set("hunter2") }?.message == "S/S/Other: too easy")
    }

    @Test func noDescriptionShowsThem() throws {
        let tweak = Tweak("S", "S", "Text", "", flags: .secret, registry: registry)
        #expect("\(tweak.erased)" == "S/S/Text = (unset)")
        try tweak.set("hunter2")
        #expect("\(tweak.erased)" == "S/S/Text = (set)")
        let number = Tweak("S", "S", "Number", 0, flags: .secret, registry: registry)
        #expect("\(number.erased)" == "S/S/Number = (unset)")
        try number.set(987654)
        #expect("\(number.erased)" == "S/S/Number = (set)")
        expectSilent(registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.description).joined())
    }

    @Test func noCommitShowsThem() async throws {
        let tweak = Tweak("S", "S", "Text", "", flags: .secret, registry: registry)
        var changes = registry.changes.makeAsyncIterator()
        try tweak.set("hunter2")
        let set = try #require(await changes.next())
        #expect(set.changes.map(\.description) == ["S/S/Text = (set)"])
        expectSilent("\(set)")
        #expect(set.changes[0].isSecret && set.changes[0].new == .string("hunter2"))
        try tweak.set("")
        #expect(await changes.next()?.changes.map(\.description) == ["S/S/Text = (unset)"])
    }

    /// What texts take is shown; of a secret it would tell the length.
    @Test func noSumShowsThem() throws {
        let tweak = Tweak("S", "S", "Text", "", flags: .secret, registry: registry)
        let open = Tweak("S", "S", "Open", "", registry: registry)
        for text in ["hunter2", "", "hunter2-hunter2"] {
            try tweak.set(text)
            try open.set("four")
            #expect(registry.heldBytes.values == 4)
        }
        registry.remove(tweak.path)
        #expect(registry.heldBytes.values == 4)
    }

    @Test func noConflictShowsThem() throws {
        _ = Tweak("S", "S", "Text", "hunter2", flags: .secret, registry: registry)
        _ = Tweak("S", "S", "Text", "hunter2-b", flags: .secret, registry: registry)
        _ = Tweak("S", "S", "Text", "hunter2-c", registry: registry)
        #expect(registry.conflicts.count == 2)
        for conflict in registry.conflicts { expectSilent("\(conflict)") }
        expectSilent(.conflict) { _ = try registry.register("S", "S", "Text", 987654, flags: .secret) }
        expectSilent(.outOfRange) { _ = try registry.register("S", "S", "Other", 987654, in: 0...1, flags: .secret) }
    }

    @Test func aRelativeChangeDoesNotShowThem() throws {
        let tweak = Tweak("S", "S", "Int", 987_654, flags: .secret, registry: registry)
        // Where a sum leaves the range would tell what it was added to.
        for amount in [Int64(1), .max] {
            expectSilent(.badValue) {
                try registry.commit(origin: .code) { $0.append(tweak.node, .add(.int(amount))) }
            }
        }
        expectSilent(.badValue) { try registry.commit(origin: .code) { $0.append(tweak.node, .toggle) } }
    }
}
