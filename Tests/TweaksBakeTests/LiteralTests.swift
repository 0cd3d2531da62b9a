// Tests of literals: each form of each kind gets another value in its own style.

import Testing
import Tweaks

@testable import TweaksBake

struct LiteralTests {
    private static let bool = "\"bool\""
    private static let int = "\"int\""
    private static let number = "\"number\""
    private static let string = "\"string\""
    private static let color = "\"color\""
    private static let duration = "\"duration\""
    private static let point = "\"point\""
    private static let curve = "\"curve\""
    private static func choice(_ names: String...) -> String {
        "\"choice\",\"choices\":[\(names.map { "{\"name\":\"\($0)\"}" }.joined(separator: ","))]"
    }
    private static func list(of kind: String) -> String { "\"list\",\"of\":\"\(kind)\"" }
    private static func optional(_ kind: String) -> String { "\"optional\",\"of\":\"\(kind)\"" }

    /// A literal whose type the declaration says.
    private static func typed(
        _ type: String, _ literal: String, _ kind: String, _ old: String, _ new: String, _ expected: String
    ) -> BakeCase {
        BakeCase(
            "let t = Tweak<\(type)>(\"A\", \"B\", \"C\", \(literal))",
            "\"kind\":\(kind),\"default\":\(old),\"value\":\(new)",
            "let t = Tweak<\(type)>(\"A\", \"B\", \"C\", \(expected))")
    }

    static let cases: [BakeCase] = numbers + texts + colors + choices + durations + points + curves + lists + optionals

    private static let numbers = [
        BakeCase("true", bool, "true", "false", "false"), BakeCase("5", int, "5", "-6", "-6"),
        BakeCase("-5", int, "-5", "6", "6"), BakeCase("+5", int, "5", "6", "6"), BakeCase("(5)", int, "5", "6", "(6)"),
        BakeCase("1_000", int, "1000", "1234567", "1_234_567"), BakeCase("1_000", int, "1000", "99", "99"),
        BakeCase("0xFF", int, "255", "171", "0xAB"), BakeCase("0xff", int, "255", "171", "0xab"),
        BakeCase("0x00FF", int, "255", "171", "0x00AB"),
        BakeCase("0xFFFF_0000", int, "4294901760", "65537", "0x1_0001"),
        BakeCase("0b101", int, "5", "6", "0b110"), BakeCase("0o17", int, "15", "8", "0o10"),
        BakeCase("UInt8(3)", int, "3", "4", "UInt8(4)"),
        BakeCase("UInt64(18446744073709551615)", int, "18446744073709551615", "5", "UInt64(5)"),
        BakeCase("5", int, "5", "18446744073709551615", "18446744073709551615"),
        BakeCase("5", int, "5", "-9223372036854775808", "-9223372036854775808"),
        BakeCase("Port(rawValue: 80)!", int, "80", "8080", "Port(rawValue: 8080)!"),
        BakeCase("60.0", number, "60", "72", "72.0"), BakeCase("60.0", number, "60", "72.5", "72.5"),
        BakeCase("60", number, "60", "72", "72"), BakeCase("60", number, "60", "72.5", "72.5"),
        BakeCase("Double(60)", number, "60", "72", "Double(72)"), BakeCase("0.1", number, "0.1", "-0.25", "-0.25"),
        BakeCase("1e3", number, "1000", "2000", "2000.0"), BakeCase("1.5e-3", number, "0.0015", "1e-9", "1e-09"),
        BakeCase("10_000.5", number, "10000.5", "1234567.25", "1_234_567.25"),
        BakeCase("0x1p4", number, "16", "2.5", "2.5"),
        BakeCase("Float(0.123456789)", number, "0.12345679", "0.5", "Float(0.5)"),
        BakeCase("1.0", number, "1", "1e300", "1e+300"),
    ]

    private static let texts = [
        BakeCase("\"a\"", string, "\"a\"", "\"b\"", "\"b\""),
        BakeCase("\"a\\n\\u{e9}\"", string, "\"a\\né\"", "\"q\\\"\\\\\\t\\u0007é\"", "\"q\\\"\\\\\\té\\u{7}\"".swapped),
        BakeCase("#\"a\\b\"#", string, "\"a\\\\b\"", "\"c\\\\d\"", "#\"c\\d\"#"),
        BakeCase("#\"a\"#", string, "\"a\"", "\"c\\\"#d\"", "##\"c\"#d\"##"),
        BakeCase("#\"a\"#", string, "\"a\"", "\"c\\nd\"", "\"c\\nd\""),
        BakeCase("#\"a\\#n\"#", string, "\"a\\n\"", "\"b\"", "#\"b\"#"),
        BakeCase("#\"\"\"#", string, "\"\\\"\"", "\"b\"", "#\"b\"#"),
        BakeCase("\"a\"", string, "\"a\"", "\"\\u202E\"", "\"\\u{202E}\""),
        BakeCase("\"a\"", string, "\"a\"", "\"👨‍👩‍👧\"", "\"👨‍👩‍👧\""),
        BakeCase(
            "\"\"\"\n    a\n\n      b \\\n    c\n    \"\"\"", string, "\"a\\n\\n  b c\"", "\"x\\n\\\\y\"",
            "\"\"\"\n    x\n    \\\\y\n    \"\"\""),
        BakeCase("URL(string: \"a://b\")!", string, "\"a://b\"", "\"c://d\"", "URL(string: \"c://d\")!"),
    ]

    private static let colors = [
        BakeCase("TweakColor(0xFF8800)", color, "\"#FF8800FF\"", "\"#000AFFFF\"", "TweakColor(0x000AFF)"),
        BakeCase("TweakColor(0xff_88_00)", color, "\"#FF8800FF\"", "\"#AABBCCFF\"", "TweakColor(0xaa_bb_cc)"),
        BakeCase(".init(0xFF8800)", color, "\"#FF8800FF\"", "\"#000AFFFF\"", ".init(0x000AFF)"),
        BakeCase(
            "TweakColor(0xFF8800)", color, "\"#FF8800FF\"", "\"#FF880080\"",
            "TweakColor(red8: 255, green8: 136, blue8: 0, alpha8: 128)"),
        BakeCase("TweakColor.black", color, "\"#000000FF\"", "\"#FF0000FF\"", "TweakColor.red"),
        BakeCase(".black", color, "\"#000000FF\"", "\"#FFA500FF\"", ".orange"),
        BakeCase(".black", color, "\"#000000FF\"", "\"#010203FF\"", "TweakColor(0x010203)"),
        BakeCase(
            "TweakColor(red8: 1, green8: 2, blue8: 3)", color, "\"#010203FF\"", "\"#010A0304\"",
            "TweakColor(red8: 1, green8: 10, blue8: 3, alpha8: 4)"),
        BakeCase(
            "TweakColor(red: 1, green: 0.53, blue: 0)", color, "\"#FF8700FF\"", "\"#800000FF\"",
            "TweakColor(red: 0.5, green: 0, blue: 0)"),
        BakeCase("TweakColor(\"#ff8800\")!", color, "\"#FF8800FF\"", "\"#aabbccff\"", "TweakColor(\"#aabbcc\")!"),
        BakeCase("TweakColor(\"#F80\")!", color, "\"#FF8800FF\"", "\"#AABBCC80\"", "TweakColor(\"#AABBCC80\")!"),
    ]

    private static let choices = [
        BakeCase("Alignment.left", choice("left", "right"), "\"left\"", "\"right\"", "Alignment.right"),
        BakeCase(".left", choice("left", "in"), "\"left\"", "\"in\"", ".in"),
        BakeCase("\"a\"", choice("a", "b c"), "\"a\"", "\"b c\"", "\"b c\""),
        BakeCase("1", choice("1", "2"), "\"1\"", "\"2\"", "2"),
        BakeCase("1.0", choice("1", "2.5"), "\"1\"", "\"2.5\"", "2.5"),
        BakeCase(".seconds(1)", choice("1s", "2s"), "\"1s\"", "\"2s\"", ".seconds(2)"),
        BakeCase(
            "TweakColor.red", choice("#FF0000FF", "#010203FF"), "\"#FF0000FF\"", "\"#010203FF\"", "TweakColor(0x010203)"
        ),
    ]

    private static let durations = [
        BakeCase(".milliseconds(250)", duration, "\"250ms\"", "\"1.5s\"", ".milliseconds(1500)"),
        BakeCase(".milliseconds(1_000)", duration, "\"1s\"", "\"90s\"", ".milliseconds(90_000)"),
        BakeCase("Duration.seconds(2)", duration, "\"2s\"", "\"3m\"", "Duration.seconds(180)"),
        BakeCase(".seconds(2)", duration, "\"2s\"", "\"1.5s\"", ".milliseconds(1500)"),
        BakeCase(".seconds(2)", duration, "\"2s\"", "\"7ns\"", ".nanoseconds(7)"),
        BakeCase(".seconds(0.3)", duration, "\"300ms\"", "\"250ms\"", ".seconds(0.25)"),
        BakeCase(".seconds(0.5)", duration, "\"500ms\"", "\"2s\"", ".seconds(2.0)"),
        BakeCase(".zero", duration, "\"0s\"", "\"20us\"", ".microseconds(20)"),
        BakeCase("Duration.zero", duration, "\"0s\"", "\"1h\"", "Duration.seconds(3600)"),
        BakeCase(".seconds(2)", duration, "\"2s\"", "\"0s\"", ".seconds(0)"),
        BakeCase(".seconds(-2)", duration, "\"-2s\"", "\"-1ms\"", ".milliseconds(-1)"),
    ]

    private static let points = [
        BakeCase("TweakPoint(x: 12, y: 40)", point, "[12,40]", "[13,40.5]", "TweakPoint(x: 13, y: 40.5)"),
        BakeCase(".init(x: 12.0, y: 40)", point, "[12,40]", "[13,40]", ".init(x: 13.0, y: 40)"),
        BakeCase("CGSize(width: 1, height: 2)", point, "[1,2]", "[1,-3]", "CGSize(width: 1, height: -3)"),
        BakeCase("SIMD2<Double>(1, 2)", point, "[1,2]", "[3,4]", "SIMD2<Double>(3, 4)"),
        typed("CGSize", ".zero", point, "[0,0]", "[1,2.5]", ".init(width: 1, height: 2.5)"),
        typed("CGPoint", ".zero", point, "[0,0]", "[1,2.5]", ".init(x: 1, y: 2.5)"),
        typed("TweakPoint?", ".zero", optional("point"), "[0,0]", "[1,2.5]", ".init(x: 1, y: 2.5)"),
        typed(
            "[CGSize]", "[.zero]", list(of: "point"), "[[0,0]]", "[[1,2]]", "[.init(width: 1, height: 2)]"),
        BakeCase(
            "@Tweak(\"A\", \"B\", \"C\") var t: CGSize = .zero", "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]",
            "@Tweak(\"A\", \"B\", \"C\") var t: CGSize = .init(width: 1, height: 2)"),
        BakeCase(
            "let t: Tweak<CGSize> = .init(\"A\", \"B\", \"C\", .zero)",
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]",
            "let t: Tweak<CGSize> = .init(\"A\", \"B\", \"C\", .init(width: 1, height: 2))"),
        BakeCase("CGSize.zero", point, "[0,0]", "[1,2]", "CGSize(width: 1, height: 2)"),
    ]

    private static let overshoot = "\"cubic-bezier(0.3,1.5,0.6,1)\""
    private static let easeOut = "\"cubic-bezier(0,0,0.58,1)\""

    private static let curves = [
        BakeCase(
            "TweakCurve(0.2, 0, 0.0, 1)", curve, "\"cubic-bezier(0.2,0,0,1)\"", overshoot,
            "TweakCurve(0.3, 1.5, 0.6, 1)"),
        BakeCase("TweakCurve(0, 0, 1, 1)", curve, "\"cubic-bezier(0,0,1,1)\"", easeOut, "TweakCurve(0, 0, 0.58, 1)"),
        BakeCase(
            "TweakCurve(0, 0, 1, 1)", curve, "\"cubic-bezier(0,0,1,1)\"", "\"steps(1,end)\"", "TweakCurve.stepEnd"),
        BakeCase("TweakCurve.easeOut", curve, easeOut, overshoot, "TweakCurve(0.3, 1.5, 0.6, 1)"),
        BakeCase("TweakCurve.easeOut", curve, easeOut, "\"cubic-bezier(0.42,0,1,1)\"", "TweakCurve.easeIn"),
        BakeCase("TweakCurve.easeOut", curve, easeOut, "\"steps(4,jump-none)\"", "TweakCurve.steps(4, .jumpNone)"),
        typed("TweakCurve", ".easeOut", curve, easeOut, overshoot, "TweakCurve(0.3, 1.5, 0.6, 1)"),
        typed("TweakCurve", ".easeOut", curve, easeOut, "\"steps(4,end)\"", ".steps(4, .end)"),
        typed("TweakCurve", ".steps(4)", curve, "\"steps(4,end)\"", "\"steps(5,jump-both)\"", ".steps(5, .jumpBoth)"),
        BakeCase(
            "TweakCurve.steps(4, .start)", curve, "\"steps(4,start)\"", overshoot, "TweakCurve(0.3, 1.5, 0.6, 1)"),
        typed("TweakCurve", ".init(0, 0, 1, 1)", curve, "\"cubic-bezier(0,0,1,1)\"", easeOut, ".init(0, 0, 0.58, 1)"),
        BakeCase("TweakCurve(\"ease-out\")!", curve, easeOut, overshoot, "TweakCurve(0.3, 1.5, 0.6, 1)"),
        typed("TweakCurve?", "nil", optional("curve"), "null", easeOut, "TweakCurve.easeOut"),
        BakeCase("[TweakCurve.easeOut]", list(of: "curve"), "[\(easeOut)]", "[]", "[TweakCurve]()"),
        BakeCase("[TweakCurve.steps(4)]", list(of: "curve"), "[\"steps(4,end)\"]", "[]", "[TweakCurve]()"),
    ]

    private static let lists = [
        BakeCase("[1, 2, /* third */ 5]", list(of: "int"), "[1,2,5]", "[1,3,6]", "[1, 3, /* third */ 6]"),
        BakeCase("[1, 2]", list(of: "int"), "[1,2]", "[1,2,3]", "[1, 2, 3]"),
        BakeCase("[1_000, 2]", list(of: "int"), "[1000,2]", "[5000]", "[5_000]"),
        typed("[UInt8]", "[]", list(of: "int"), "[]", "[7]", "[7]"),
        typed("[Float]", "[Float]()", list(of: "number"), "[]", "[7]", "[7.0]"),
        BakeCase("[1]", list(of: "int"), "[1]", "[]", "[Int]()"),
        BakeCase("[Int]()", list(of: "int"), "[]", "[7]", "[7]"),
        BakeCase("[1, 2.5]", list(of: "number"), "[1,2.5]", "[]", "[Double]()"),
        BakeCase("[1, 2.5]", list(of: "number"), "[1,2.5]", "[3]", "[3.0]"),
        BakeCase("[UInt8(1)]", list(of: "int"), "[1]", "[]", "[UInt8]()"),
        BakeCase("[\"a\"]", list(of: "string"), "[\"a\"]", "[]", "[String]()"),
        BakeCase("[Duration.seconds(1)]", list(of: "duration"), "[\"1s\"]", "[]", "[Duration]()"),
        typed("[Duration]", "[.seconds(1)]", list(of: "duration"), "[\"1s\"]", "[]", "[]"),
        BakeCase("[TweakColor.red]", list(of: "color"), "[\"#FF0000FF\"]", "[]", "[TweakColor]()"),
        BakeCase(
            "let t = Tweak<[Double]>(\"A\", \"B\", \"C\", [1])",
            "\"kind\":\"list\",\"of\":\"number\",\"default\":[1],\"value\":[]",
            "let t = Tweak<[Double]>(\"A\", \"B\", \"C\", [])"),
        BakeCase(
            "@Tweak(\"A\", \"B\", \"C\") var t: [Double] = [1]",
            "\"kind\":\"list\",\"of\":\"number\",\"default\":[1],\"value\":[]",
            "@Tweak(\"A\", \"B\", \"C\") var t: [Double] = []"),
        BakeCase(
            "@Tweak(\"A\", \"B\", \"C\") var t = [1]",
            "\"kind\":\"list\",\"of\":\"int\",\"default\":[1],\"value\":[]",
            "@Tweak(\"A\", \"B\", \"C\") var t = [Int]()"),
        BakeCase(
            "[\"a\", #\"b\"#]", list(of: "string"), "[\"a\",\"b\"]", "[\"a\",\"c\",\"d\"]", "[\"a\", #\"c\"#, #\"d\"#]"),
        BakeCase(
            "[.left]", list(of: "choice") + ",\"choices\":[{\"name\":\"left\"},{\"name\":\"up\"}]", "[\"left\"]",
            "[\"up\",\"left\"]", "[.up, .left]"),
        BakeCase("[\n  1,\n  2,\n]", list(of: "int"), "[1,2]", "[1,2,3]", "[\n  1,\n  2,\n  3,\n]"),
        BakeCase(
            "[.seconds(1), .zero]", list(of: "duration"), "[\"1s\",\"0s\"]", "[\"1s\",\"5ms\"]",
            "[.seconds(1), .milliseconds(5)]"),
        BakeCase("[true]", list(of: "bool"), "[true]", "[true,false]", "[true, false]"),
        BakeCase("[0.5]", list(of: "number"), "[0.5]", "[1,2]", "[1.0, 2.0]"),
        BakeCase(
            "[TweakColor.red]", list(of: "color"), "[\"#FF0000FF\"]", "[\"#0000FFFF\",\"#010203FF\"]",
            "[TweakColor.blue, TweakColor(0x010203)]"),
    ]

    private static let optionals = [
        typed("Int?", "nil", optional("int"), "null", "5", "5"),
        typed("Int?", "5", optional("int"), "5", "null", "nil"),
        BakeCase("5", optional("int"), "5", "6", "6"),
        typed("Optional<Float>", ".none", optional("number"), "null", "2", "2.0"),
        typed("String?", "nil", optional("string"), "null", "\"x\"", "\"x\""),
        typed("Duration?", "nil", optional("duration"), "null", "\"1500ms\"", ".milliseconds(1500)"),
        typed("TweakColor?", "nil", optional("color"), "null", "\"#010203FF\"", "TweakColor(0x010203)"),
        typed("Bool?", "nil", optional("bool"), "null", "true", "true"),
        BakeCase(".some(5)", optional("int"), "5", "6", ".some(6)"),
        typed("TweakPoint?", "nil", optional("point"), "null", "[1,2]", "TweakPoint(x: 1.0, y: 2.0)"),
        BakeCase(
            "@Tweak(\"A\", \"B\", \"C\") var t: Int?=nil",
            "\"kind\":\"optional\",\"of\":\"int\",\"default\":null,\"value\":-5",
            "@Tweak(\"A\", \"B\", \"C\") var t: Int?=(-5)"),
        BakeCase(
            "@Tweak(\"A\", \"B\", \"C\") var t=5.0", "\"kind\":\"number\",\"default\":5,\"value\":-1",
            "@Tweak(\"A\", \"B\", \"C\") var t=(-1.0)"),
    ]

    @Test(arguments: cases) func aLiteralGetsTheValueInItsStyle(_ item: BakeCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.expected)
        #expect(baked.reasons == [])
    }

    /// What is written is the literal of the new value, and bakes back.
    @Test(arguments: cases) func whatIsWrittenIsReadAgain(_ item: BakeCase) throws {
        let there = try item.baked()
        let tweak = try TunedTweak.made(item.fields)
        let back = item.fields.replacing("\"default\"", with: "\"old\"").replacing("\"value\"", with: "\"default\"")
            .replacing("\"old\"", with: "\"value\"")
        let again = try #require(BakedSource(there.bytes, [try .made(back)]))
        // `[UInt8]()` is read, but its elements need an initializer.
        let isRead = again.tweaks.count == 1 || again.reasons == [SwiftSpelling.unknownForm.description]
        #expect(isRead || tweak.value == tweak.standard, "\(again.reasons)")
    }
}

extension String {
    /// The escapes are in the order of the text.
    fileprivate var swapped: String { "\"q\\\"\\\\\\t\\u{7}é\"" }
}
