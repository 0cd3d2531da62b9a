// Tests that values of secrets are in no text that the registry makes.

import Testing

@testable import Tweaks

struct SecretsTests {
    private let registry = TweakRegistry()
    private let secret: Tweak<String>

    init() { secret = Tweak("S", "S", "Text", "", maxLength: 15, flags: .secret, registry: registry) }

    private func expectHidden(_ text: String, at location: SourceLocation = #_sourceLocation) {
        for trace in ["hunter2", "987654", "A1B2C3", "a1b2c3"] {
            #expect(!text.contains(trace), "\(text)", sourceLocation: location)
        }
    }

    private func expectHidden(
        _ code: TweakError.Code, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = refusal(body)
        #expect(error?.code == code, sourceLocation: location)
        expectHidden("\(error?.description ?? "") \(String(reflecting: error))", at: location)
    }

    @Test func errorsDoNotQuoteTheValue() {
        let int = Tweak("S", "S", "Int", 5, in: 0...10, step: 5, flags: .secret, registry: registry).erased
        let number = Tweak("S", "S", "Number", 5.0, in: 0...1e5, step: 5, flags: .secret, registry: registry).erased
        let color = Tweak("S", "S", "Color", TweakColor.black, flags: .secret, registry: registry).erased
        let time = Tweak("S", "S", "Time", .zero, in: .zero ... .seconds(1), flags: .secret, registry: registry).erased
        let choice = Tweak("S", "S", "Choice", "a", choices: ["a", "b"], flags: .secret, registry: registry).erased
        let flag = Tweak("S", "S", "Flag", false, flags: .secret, registry: registry).erased
        let byte = Tweak("S", "S", "Byte", UInt8(0), flags: .secret, registry: registry).erased
        for (tweak, text, code) in [
            (secret.erased, "hunter2-too-long", TweakError.Code.outOfRange), (int, "987654", .outOfRange),
            (number, "987654", .outOfRange), (number, "hunter2", .badValue), (int, "987654.5", .badValue),
            (color, "#A1B2C3zz", .badValue), (time, "987654ms", .outOfRange), (time, "987654", .badValue),
            (choice, "hunter2", .notAChoice), (flag, "hunter2", .badValue), (byte, "987654", .outOfRange),
        ] {
            expectHidden(code) { try tweak.set(text: text) }
        }
        expectHidden(.badValue) { try int.set(.number(987654.5)) }
        expectHidden(.badValue) { try flag.set(.string("hunter2")) }
    }

    @Test func aValidatorsReasonThatQuotesTheValueIsNotPassedOn() {
        let tweak = Tweak(
            "S", "S", "Quoting", "", validate: { $0.isEmpty ? nil : "“\($0)” is too easy" }, flags: .secret,
            registry: registry)
        expectHidden(.badValue) { try tweak.set("hunter2") }
        let other = Tweak(
            "S", "S", "Other", "", validate: { $0.isEmpty ? nil : "too easy" }, flags: .secret, registry: registry)
        #expect(refusal { try other.set("hunter2") }?.message == "S/S/Other: too easy")
    }

    @Test func descriptionsAndCommitsShowOnlyWhetherTheValueIsSet() async throws {
        #expect("\(secret.erased)" == "S/S/Text = (unset)")
        var changes = registry.changes.makeAsyncIterator()
        try secret.set("hunter2")
        #expect("\(secret.erased)" == "S/S/Text = (set)")
        let commit = try #require(await changes.next())
        #expect(commit.changes.map(\.description) == ["S/S/Text = (set)"])
        expectHidden("\(commit)")
        #expect(commit.changes[0].isSecret && commit.changes[0].new == .string("hunter2"))
        try secret.set("")
        #expect(await changes.next()?.changes.map(\.description) == ["S/S/Text = (unset)"])
        let number = Tweak("S", "S", "Number", 0, flags: .secret, registry: registry)
        #expect("\(number.erased)" == "S/S/Number = (unset)")
        try number.set(987654)
        #expect("\(number.erased)" == "S/S/Number = (set)")
        expectHidden(registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.description).joined())
    }

    /// The size of all texts is shown; with a secret in it, it would disclose the secret's length.
    @Test func theSizeOfAllTextsLeavesSecretsOut() throws {
        let open = Tweak("S", "S", "Open", "", registry: registry)
        for text in ["hunter2", "", "hunter2-hunter2"] {
            try secret.set(text)
            try open.set("four")
            #expect(registry.memorySize.values == 4)
        }
        registry.remove(secret.path)
        #expect(registry.memorySize.values == 4)
    }

    @Test func conflictsDoNotShowDefaults() throws {
        _ = Tweak("S", "S", "Twice", "hunter2", flags: .secret, registry: registry)
        _ = Tweak("S", "S", "Twice", "hunter2-b", flags: .secret, registry: registry)
        _ = Tweak("S", "S", "Twice", "hunter2-c", registry: registry)
        #expect(registry.conflicts.count == 2)
        for conflict in registry.conflicts { expectHidden("\(conflict)") }
        expectHidden(.conflict) { _ = try registry.register("S", "S", "Twice", 987654, flags: .secret) }
        expectHidden(.outOfRange) { _ = try registry.register("S", "S", "Other", 987654, in: 0...1, flags: .secret) }
    }

    /// The sum at which an addition leaves the range would disclose the value.
    @Test func relativeChangesAreRefused() throws {
        let tweak = Tweak("S", "S", "Int", 987_654, flags: .secret, registry: registry)
        for change in [TweakBatch.Change.add(.int(1)), .add(.int(.max)), .toggle] {
            expectHidden(.badValue) { try registry.commit(origin: .code) { $0.append(tweak.node, change) } }
        }
    }
}
