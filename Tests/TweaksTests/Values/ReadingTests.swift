// Tests the texts that users may type for a value and files may not contain: sums, units, labels.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ReadingTests {
    private let registry = TweakRegistry()
    private var speed: TweakNode { Tweak("A", "B", "Speed", 10.0, unit: "px/s²", registry: registry).node }
    private var count: TweakNode { Tweak("A", "B", "Count", 1, unit: "%", registry: registry).node }
    private var big: TweakNode { Tweak("A", "B", "Big", UInt64(1), registry: registry).node }
    private var delay: TweakNode { Tweak("A", "B", "Delay", Duration.milliseconds(250), registry: registry).node }
    private var long: TweakNode { Tweak("A", "B", "Long", Duration.seconds(90), registry: registry).node }
    private var mode: TweakNode {
        Tweak(
            "A", "B", "Mode", "a", choices: ["a": "Fast", "b": "Slow", "c": "Same", "d": "Same", "Slow": "x"],
            registry: registry
        ).node
    }

    private func expectTypedOnly(_ text: String, _ node: TweakNode, _ value: TweakValue) throws {
        #expect(try node.read(text, from: .typed) == value, "\(text)")
        #expect(refusal { _ = try node.read(text, from: .file) }?.code == .badValue, "\(text)")
    }

    private func expectRefused(_ text: String, _ node: TweakNode, _ words: String) {
        let error = refusal { _ = try node.read(text, from: .typed) }
        #expect(error?.code == .badValue && error?.message.contains(words) == true, "\(text): \(error?.message ?? "")")
    }

    @Test(
        arguments: [
            ("50 px/s²", 50), ("50px/s²", 50), ("-1.5e1  px/s²", -15), ("40*2", 80), ("40 * 2", 80), ("1 + 2*3", 7),
            ("(1+2)*3", 9), ("10/4", 2.5), ("0.1+0.2", 0.3), ("2 - -3", 5), ("-(2)", -2), ("1e3*2", 2_000),
            ("5e-1+1", 1.5), ("40\u{2212}2", 38), ("4×5÷2", 10), ("40*2 px/s²", 80), ("3/4*100", 75), ("((1))", 1),
            ("0x10*2", 32), ("0x20", 32), ("1_000", 1_000), (".5*2", 1), ("- 5", -5), ("0x20 px/s²", 32),
        ] as [(String, Double)])
    func numbersMayBeSumsAndHaveTheUnit(_ text: String, _ value: Double) throws {
        try expectTypedOnly(text, speed, .number(value))
    }

    @Test(
        arguments: [
            ("50%", 50), ("50 %", 50), ("40*2", 80), ("3/4*100", 75), ("1.5*40", 60), ("0x2a - 2", 40),
            ("1_000*2", 2_000), ("9223372036854775807 - 9223372036854775806", 1), ("-4*-2", 8), ("1e3+0", 1_000),
        ] as [(String, Int64)])
    func intsMayBeSumsAndHaveTheUnit(_ text: String, _ value: Int64) throws {
        try expectTypedOnly(text, count, .int(value))
    }

    @Test(
        arguments: [
            ("9223372036854775807+1", 1 << 63), ("2*9223372036854775807+1", .max), ("18446744073709551615/5*5", .max),
        ] as [(String, UInt64)])
    func unsignedIntegersMayBeSums(_ text: String, _ value: UInt64) throws {
        try expectTypedOnly(text, big, .unsigned(value))
    }

    @Test(
        arguments: [
            ("2", .milliseconds(2)), ("1.5", .microseconds(1_500)), ("-2", .milliseconds(-2)), ("0", .zero),
            ("250 ms", .milliseconds(250)), ("1h 30 m", .seconds(5_400)), (".5s", .milliseconds(500)),
            ("-.5 s", .milliseconds(-500)), (".5", .microseconds(500)), ("0x20", .milliseconds(32)),
            ("1e3", .seconds(1)), ("+1s", .seconds(1)), ("2*3", .milliseconds(6)), ("2*3s", .seconds(6)),
            ("250ms*2", .milliseconds(500)), ("250 ms * 2", .milliseconds(500)), ("1s + 500ms", .milliseconds(1_500)),
            ("1h30m/2", .seconds(2_700)), ("(1s - .25s)*4/3", .seconds(1)), ("1s-2s", .seconds(-1)),
            ("1s/3", .nanoseconds(333_333_333)), ("2s/3", .nanoseconds(666_666_667)),
            ("-2s/3", .nanoseconds(-666_666_667)), ("1ns/2", .nanoseconds(1)), ("0*5", .zero),
        ] as [(String, Duration)])
    func durationsMayBeSumsAndLackTheUnitOfTheDefault(_ text: String, _ value: Duration) throws {
        try expectTypedOnly(text, delay, .duration(value))
    }

    @Test(arguments: [
        ("2s*3s", "“2s*3s” is not a duration; a duration can be multiplied and divided by a number only"),
        ("1s/2s", "divided by a number only"), ("2/1s", "divided by a number only"),
        ("1s+2", "a number and a duration cannot be added; write the unit of each"), ("2-1s", "cannot be added"),
        ("1s/0", "write a time such as"), ("2562047h*2", "write a time such as"), ("0.5ns*2", "write a time such as"),
        ("1s*", "write a time such as"), ("1h 30", "write a time such as"), ("0x1s", "write a time such as"),
        ("1.5ms.5", "write a time such as"), ("1e-7", "write a time such as"),
        ("9223372036854775807", "write a time such as"),
    ])
    func otherCalculationsWithDurationsAreExplained(_ text: String, _ words: String) {
        expectRefused(text, delay, words)
    }

    @Test(
        arguments: [
            ("1,5", "; a comma separates values; write 1.5"), ("-1,5 px/s²", "; write -1.5"),
            ("1,000", "; a comma separates values; write 1000 or 1.000"), ("1,234,567", "; write 1234567"),
            ("0,25", "; write 0.25"), ("1,", nil), (",5", nil), ("1,x", nil), ("1,2,3", "; a comma separates values"),
        ] as [(String, String?)])
    func aCommaInANumberIsExplained(_ text: String, _ hint: String?) {
        let message = refusal { _ = try speed.read(text, from: .typed) }?.message ?? ""
        #expect(message.hasSuffix(hint ?? "write a finite number such as 72 or 1.5e3"), "\(message)")
    }

    @Test func aCommaInOtherNumbersIsExplained() throws {
        expectRefused("1,5", count, "; a comma separates values")
        expectRefused("1,000", count, "; a comma separates values; write 1000")
        expectRefused("1,5s", delay, "; a comma separates values; write 1.5s")
        let limit = Tweak<Double?>("A", "B", "Limit", nil, registry: registry).node
        expectRefused("1,5", limit, "or none; a comma separates values; write 1.5")
        #expect(refusal { _ = try speed.read("1,5", from: .file) }?.message.hasSuffix("write 1.5") == true)
        let pin = Tweak("A", "B", "Pin", 1.0, flags: .secret, registry: registry).node
        #expect(refusal { _ = try pin.read("1,5", from: .typed) }?.message.hasSuffix("write 1.5") == false)
    }

    @Test(
        arguments: [
            (.int(60), "*=2", "60*2"), (.number(0.1), " /= 3 ", "0.1/3"), (.int(-7), "*=(1+2)", "-7*((1+2))"),
            (.duration(.milliseconds(250)), "*=1.5", "250ms*1.5"), (.duration(.seconds(1)), "+=.5s", "1s+(.5s)"),
            (.int(5), "-= -2", "5-(-2)"), (.int(5), "*2", nil), (.int(5), "*=", nil), (.int(5), "2*=2", nil),
            (.string("a"), "*=2", nil), (.color(.black), "*=2", nil), (.notSet, "*=2", nil),
        ] as [(TweakValue, String, String?)])
    func aRelativeChangeIsACalculation(_ value: TweakValue, _ text: String, _ calculation: String?) throws {
        #expect(value.calculation(changing: text) == calculation)
    }

    @Test func relativeChangesAreExact() throws {
        #expect(
            try speed.read(try #require(TweakValue.number(0.1).calculation(changing: "*=3")), from: .typed)
                == .number(0.3))
        let text = try #require(TweakValue.duration(.milliseconds(250)).calculation(changing: "/=4"))
        #expect(try delay.read(text, from: .typed) == .duration(.microseconds(62_500)))
        expectRefused(try #require(TweakValue.int(5).calculation(changing: "/=2")), count, "“5/2” (2.5) is not an int")
    }

    @Test func aDurationShownInSeveralUnitsNeedsAUnit() throws {
        expectRefused("2", long, "is not a duration; write a time such as 250ms")
        try expectTypedOnly("0", long, .duration(.zero))
    }

    @Test(arguments: [("Fast", "a"), ("Slow", "Slow"), ("Same", "Same"), ("a", "a"), ("fast", "fast")])
    func choicesMayBeNamedByLabelIfItIsUnique(_ text: String, _ name: String) throws {
        #expect(try mode.read(text, from: .typed) == .choice(name) && mode.read(text, from: .file) == .choice(text))
    }

    @Test func eachKindKeepsItsSyntaxForASingleNumber() throws {
        for text in ["-5", "1e3", "72", "0.1"] {
            #expect(try speed.read(text, from: .typed) == (try speed.read(text, from: .file)))
        }
        for text in ["--5", "nan", "", "+", "1__0", "0x"] {
            expectRefused(text, speed, "is not a number; write a finite")
        }
        for text in ["1e3", "4.0", "4.2", "--5", "- 5"] {
            expectRefused(text, count, "is not an int; write a whole number")
        }
        #expect(try count.read("0x2a", from: .typed) == .int(42))
    }

    @Test(arguments: [
        "50 pt", "px/s²", "50 px", "px/s² 50", "40*", "*2", "(1", "1)", "()", "1 2", "40**2", "1/0", "1/(2-2)", "2^3",
        "1e39*1", "99999999999999999999999999999999999999*99", "1+x", "1e*2", ".*2", "1..2*3", "0x*2",
    ])
    func otherUnitsAndInvalidSumsAreRefused(_ text: String) {
        expectRefused(text, speed, "is not a number; write a finite number")
    }

    @Test func theErrorNamesTheResultThatIsNotWhole() {
        expectRefused("5/2", count, "“5/2” (2.5) is not an int; write a whole number")
        expectRefused("18446744073709551615+1", big, "is not an int")
        expectRefused("1 2ms", delay, "is not a duration")
        expectRefused("1h30", delay, "is not a duration")
    }

    @Test func longAndDeeplyNestedSumsAreRefused() {
        for text in [
            String(repeating: "(", count: 100_000), String(repeating: "(", count: 250),
            String(repeating: "-", count: 250), "1" + String(repeating: "+1", count: 40_000),
            String(repeating: "9", count: 250) + "*1",
        ] { expectRefused(text, speed, "is not a number") }
        let sum = "1" + String(repeating: "+1", count: 100)
        #expect((try? speed.read(sum, from: .typed)) == .number(101))
    }

    @Test func theErrorForASecretDoesNotShowTheSum() {
        let pin = Tweak("A", "B", "Pin", 1, flags: .secret, registry: registry).node
        let message = refusal { _ = try pin.read("5/2", from: .typed) }?.message
        #expect(message?.contains("the value is not an int") == true && message?.contains("2.5") == false)
    }
}
