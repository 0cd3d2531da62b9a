// Tests of declarations: each form is found by its texts and its line, and everything else stays as it is.

import Testing
import Tweaks

@testable import TweaksBake

struct DeclarationTests {
    private static let size = "\"kind\":\"number\",\"default\":60,\"value\":72.5,\"min\":10,\"max\":100"

    /// Replaces `60.0` by `72.5` where a `^` marks it.
    private static func found(_ source: String, line: Int = 1) -> BakeCase {
        BakeCase(
            source.replacing("^", with: ""), size, source.replacing("^60.0", with: "72.5"), line: line)
    }

    static let forms = [
        found(#"Tweak("A", "B", "C", ^60.0)"#), found(#"let t = Tweak<Double>("A", "B", "C", ^60.0, in: 10...100)"#),
        found(#"Tweaks.Tweak("A","B","C",^60.0,step:0.5,registry:.shared)"#),
        found(#"let t: Tweak<Double> = .init("A", "B", "C", ^60.0)"#),
        found(#"let x = tweakValue("A", "B", "C", ^60.0) + 60.0"#), found(#"tweakInline("A", "B", "C", ^60.0).value"#),
        found(#"tweakBind(label, \.size, "A", "B", "C", ^60.0)"#),
        found(#"tweakBind(self, \.a[60.0], "A", "B", "C", ^60.0)"#),
        found(#"try registry.register("A", "B", "C", ^60.0)"#), found(##"Tweak(#"A"#, "\u{42}", "C", ^60.0)"##),
        found(#"@Tweak("A", "B", "C") var size = ^60.0"#),
        found(#"struct S { @Tweak("A", "B", "C") var size: Double = ^60.0 }"#),
        found(#"@MainActor @Tweak("A", "B", "C", in: 10...100) private(set) static var size = ^60.0 // 60.0"#),
        found(
            "@Tweak(\"A\", \"B\", \"C\")\n@Published(x)\nvar size: [Int: (Double) -> Int]\n    = ^60.0\nvar x = 60.0"),
        found(#"@Tweak(wrappedValue: ^60.0, "A", "B", "C") var size"#),
        found(#"@Tweak("A", "B", "C") var size = ^60.0 { didSet { update() } }"#),
        found("let t = Tweak(\n    \"A\", // the category\n    \"B\", /* \"C\", 1.0 */ \"C\",\n    ^60.0\n)", line: 3),
        found("let t = Tweak(\n    \"A\",\n    \"B\", \"C\",\n    ^60.0\n)", line: 1),
        found(#"print("size \(tweakValue("A", "B", "C", ^60.0)) and \("60.0")")"#),
        found(#"let s = "\(f("\(tweakValue("A", "B", "C", ^60.0))"))""#),
        found(#"f(Tweak("A", "B", "D", 60.0), Tweak("A", "B", "C", ^60.0))"#),
        found(#"Tweak("A", "B", "C", ^60.0, validate: { $0 == ")" ? "}" : nil })"#),
    ]

    static let surroundings = [
        found("/* Tweak(\"A\", \"B\", \"C\", 60.0)\n/* nested */ */\nTweak(\"A\", \"B\", \"C\", ^60.0)", line: 3),
        found("// Tweak(\"A\", \"B\", \"C\", 60.0)\nTweak(\"A\", \"B\", \"C\", ^60.0)", line: 2),
        found(
            "let s = \"\"\"\n    Tweak(\"A\", \"B\", \"C\", 60.0) \"\n    \"\"\"\nTweak(\"A\", \"B\", \"C\", ^60.0)",
            line: 4),
        found("let s = #\"Tweak(\"A\", \"B\", \"C\", 60.0)\"#; Tweak(\"A\", \"B\", \"C\", ^60.0)"),
        found(##"let r = #/"(/#, q = /["(]+\//; Tweak("A", "B", "C", ^60.0)"##),
        found("let x = a / b; let y = \"/\"; Tweak(\"A\", \"B\", \"C\", ^60.0) / 2"),
        found(
            "#if A\n#if B\nlet t = Tweak(\"A\", \"B\", \"C\", 1.0)\n#else\nlet t = Tweak(\"A\", \"B\", \"C\", ^60.0)\n#endif\n#endif",
            line: 5),
        found(
            "@Tweak(\"A\", \"B\", \"C\") var x = 1.0\n#if os(Linux)\n@Tweak(\"A\", \"B\", \"C\") var size = ^60.0\n#endif",
            line: 3),
        found("\u{FEFF}Tweak(\"A\", \"B\", \"C\", ^60.0)"),
        found("#!/usr/bin/swift '\"'\nTweak(\"A\", \"B\", \"C\", ^60.0)", line: 2),
        found("let é = 1\r\n\r\n  Tweak(\"A\", \"B\", \"C\", ^60.0)\r\n\t\r\nlast", line: 3),
        found("func tweakValue(_ a: Int) { [[(] }\nTweak(\"A\", \"B\", \"C\", ^60.0)", line: 2),
        found("let `in` = [\"a\": 1,]; Tweak(\"A\", \"B\", \"C\", ^60.0,)"),
    ]

    @Test(arguments: forms + surroundings) func aDeclarationIsFound(_ item: BakeCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.expected)
        #expect(baked.reasons == [])
    }

    private static func refused(_ source: String, _ reason: String, _ fields: String = size, line: Int = 1) -> BakeCase
    {
        BakeCase(source, fields, reason, line: line)
    }

    private static let notWrittenOut = "has a default that is not written out as a value; write the new one by hand"

    static let refusals = [
        refused(#"Tweak("A", "B", "D", 60.0)"#, "is not declared there by these three texts"),
        refused(#"Tweak("A", "B", "\(name)", 60.0)"#, "is not declared there"),
        refused(#"Tweak(a, "B", "C", 60.0)"#, "is not declared"),
        refused(#"Tweak("A", "B", "C", 60.0"#, "is not declared"), refused("", "is not declared"),
        refused(
            "\nTweak(\"A\", \"B\", \"C\", 60.0)",
            "is declared in line 2, not where the build recorded it; the source differs"),
        refused(#"[Tweak("A", "B", "C", 60.0), Tweak("A", "B", "C", 60.0)]"#, "is declared twice in line 1"),
        refused(#"Tweak("A", "B", "C", 61.0)"#, "has another default there than 60 in the process; the source differs"),
        refused(#"Tweak("A", "B", "C", 60.0, in: 10...90)"#, "has another range there than in the process"),
        refused(#"Tweak("A", "B", "C", width)"#, notWrittenOut),
        refused(#"Tweak("A", "B", "C", 30.0 * 2)"#, notWrittenOut),
        refused(#"Tweak("A", "B", "C", Double("\(60)")!)"#, notWrittenOut),
        refused(#"Tweak("A", "B", "C", 60.0 as Double)"#, notWrittenOut),
        refused(#"Tweak("A", "B", "C", Style.size)"#, notWrittenOut),
        refused(#"Tweak("A", "B", "C", { 60.0 }())"#, notWrittenOut),
        refused("@Tweak(\"A\", \"B\", \"C\") var x = 60.0\n    * 2", notWrittenOut),
        refused(#"@Tweak("A", "B", "C") var x = 60.0.rounded()"#, notWrittenOut),
        refused("@Tweak(\"A\", \"B\", \"C\") var x: Double\nvar y = 60.0", "is not declared"),
        refused(
            #"Tweak("A", "B", "C", "a\(b)")"#, notWrittenOut, "\"kind\":\"string\",\"default\":\"a\",\"value\":\"b\""),
        refused(
            #"Tweak("A", "B", "C", "a" + "b")"#, notWrittenOut, "\"kind\":\"string\",\"default\":\"ab\",\"value\":\"b\""
        ),
        refused(
            "Tweak(\"A\", \"B\", \"C\", [1, // one\n2])", "has comments in its list",
            "\"kind\":\"list\",\"of\":\"int\",\"default\":[1,2],\"value\":[1]"),
        refused(
            #"Tweak("A", "B", "C", .left)"#, "and the case of this raw value is not declared in the file",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"to the right\",\"choices\":[{\"name\":\"to the right\"}]"
        ),
        refused(
            #"Tweak("A", "B", "C", .left)"#, "and the case of this raw value is not declared in the file",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"a\u{2003}b\",\"choices\":[{\"name\":\"a\u{2003}b\"}]"),
        refused(
            #"Tweak("A", "B", "C", .left)"#, "and the case of this raw value is not declared in the file",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"é\u{202E}\",\"choices\":[{\"name\":\"é\u{202E}\"}]"),
        refused(
            #"Tweak("A", "B", "C", Optional(5))"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"int\",\"default\":5,\"value\":null"),
        refused(
            #"Tweak<X?>("A", "B", "C", nil)"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"choice\",\"default\":null,\"value\":\"a\",\"choices\":[{\"name\":\"a\"}]"),
        refused(
            #"Tweak("A", "B", "C", SIMD2.zero)"#, "in a form that cannot take this value",
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]"),
        refused(
            #"Tweak("A", "B", "C", .zero)"#, "in a form that cannot take this value",
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]"),
        refused(
            #"Tweak<SIMD2<Double>>("A", "B", "C", .zero)"#, "in a form that cannot take this value",
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]"),
        refused(
            #"@Tweak("A", "B", "C") var t: Offset = .zero"#, "in a form that cannot take this value",
            "\"kind\":\"point\",\"default\":[0,0],\"value\":[1,2]"),
        refused(
            #"Tweak<URL?>("A", "B", "C", nil)"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"string\",\"default\":null,\"value\":\"a\""),
        refused(
            #"Tweak<CGPoint?>("A", "B", "C", nil)"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"point\",\"default\":null,\"value\":[1,2]"),
        refused(
            #"@Tweak("A", "B", "C") var t: Port? = nil"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"int\",\"default\":null,\"value\":5"),
        refused(
            #"Tweak("A", "B", "C", nil)"#, "in a form that cannot take this value",
            "\"kind\":\"optional\",\"of\":\"int\",\"default\":null,\"value\":5"),
        refused(
            #"Tweak<[URL]>("A", "B", "C", [])"#, "in a form that cannot take this value",
            "\"kind\":\"list\",\"of\":\"string\",\"default\":[],\"value\":[\"a\"]"),
        refused(
            #"Tweak("A", "B", "C", [UInt8]())"#, "in a form that cannot take this value",
            "\"kind\":\"list\",\"of\":\"int\",\"default\":[],\"value\":[7]"),
        refused(
            #"Tweak("A", "B", "C", [Duration]())"#, "in a form that cannot take this value",
            "\"kind\":\"list\",\"of\":\"duration\",\"default\":[],\"value\":[\"1s\"]"),
        refused(
            #"enum Side: String { case left, `init` = "R" }; let t = Tweak("A", "B", "C", Side.left)"#,
            "or not by a plain name",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"R\",\"choices\":[{\"name\":\"left\"},{\"name\":\"R\"}]"
        ),
        refused(
            #"enum Side: String { case left, `self` = "R" }; let t = Tweak("A", "B", "C", Side.left)"#,
            "or not by a plain name",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"R\",\"choices\":[{\"name\":\"left\"},{\"name\":\"R\"}]"
        ),
        refused(
            #"enum Side: String { case left, `Type` = "R" }; let t = Tweak("A", "B", "C", Side.left)"#,
            "or not by a plain name",
            "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"R\",\"choices\":[{\"name\":\"left\"},{\"name\":\"R\"}]"
        ),
    ]

    @Test(arguments: refusals) func anythingElseIsRefused(_ item: BakeCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.source && baked.tweaks.isEmpty)
        #expect(baked.reasons.count == 1 && !baked.reasons[0].ranges(of: item.expected).isEmpty, "\(baked.reasons)")
    }

    /// Each of these bytes begins a search that fails at the end of the file.
    @Test(arguments: [
        (#"\/"#, ""), ("(", "]"), ("#/\n", ""), ("#/\n/a\n", ""), ("##/\n#/\n", ""), ("/ /", "\n"),
    ])
    func aSourceThatIsHardToReadIsReadOnce(_ first: String, _ then: String) throws {
        let bytes = Array((String(repeating: first, count: 50_000) + String(repeating: then, count: 50_000)).utf8)
        #expect(BakedSource(bytes, [try .made(Self.size)])?.tweaks.isEmpty == true)
    }

    /// A search that has failed says nothing about one beyond its end.
    @Test(arguments: [
        "let a = \\/ + 1\nlet r = /\"(/, t = Tweak(\"A\", \"B\", \"C\", 60.0)",
        "let a = #/x\nlet r = #/\n\"(\n/#, t = Tweak(\n\"A\", \"B\", \"C\", 60.0)",
        "let a = ##/x/#\nlet r = #/\"(/#, t = Tweak(\"A\", \"B\", \"C\", 60.0)",
    ])
    func aLaterExpressionIsFound(_ source: String) throws {
        let line = source.utf8.count { $0 == UInt8(ascii: "\n") } + 1
        let baked = try #require(BakedSource(Array(source.utf8), [.made(Self.size, line: line)]))
        #expect(baked.reasons == [] && baked.text == source.replacing("60.0", with: "72.5"))
    }

    @Test func bytesThatAreNoTextAreNoSource() throws {
        #expect(BakedSource([0x22, 0xFF], [try .made(Self.size)]) == nil)
    }

    static let cases = [
        BakeCase(
            "enum Side: String { case left = \"L\", right = \"to the right\" }\nlet t = Tweak(\"A\", \"B\", \"C\", Side.left)",
            "\"kind\":\"choice\",\"default\":\"L\",\"value\":\"to the right\",\"choices\":[{\"name\":\"to the right\"}]",
            "enum Side: String { case left = \"L\", right = \"to the right\" }\nlet t = Tweak(\"A\", \"B\", \"C\", Side.right)",
            line: 2),
        BakeCase(
            "enum Level: Int {\n    case low = 10\n    case high = -20\n    var x: Int { switch self { case .low: 1 default: 2 } }\n}\n@Tweak(\"A\", \"B\", \"C\") var x = Level.low",
            "\"kind\":\"choice\",\"default\":\"low\",\"value\":\"high\",\"choices\":[{\"name\":\"high\"}]",
            "enum Level: Int {\n    case low = 10\n    case high = -20\n    var x: Int { switch self { case .low: 1 default: 2 } }\n}\n@Tweak(\"A\", \"B\", \"C\") var x = Level.high",
            line: 6),
    ]

    @Test(arguments: cases) func rawValuesAreThoseOfTheEnumeration(_ item: BakeCase) throws {
        let baked = try item.baked()
        #expect(baked.text == item.expected && baked.reasons == [])
    }

    @Test func severalTweaksOfAFileAreRewrittenTogether() throws {
        let source = """
            let a = Tweak("A", "B", "list", [
                1,
            ]), b = Tweak("A", "B", "next", 5)
            let c = Tweak("A", "B", "bad", five)
            """
        let list = "\"kind\":\"list\",\"of\":\"int\",\"default\":[1],\"value\":[1,2,3]"
        let number = "\"kind\":\"int\",\"default\":5,\"value\":6"
        let baked = try #require(
            BakedSource(
                Array(source.utf8),
                [
                    .made(number, path: "A/B/next", line: 3), .made(list, path: "A/B/list"),
                    .made(number, path: "A/B/bad", line: 4),
                ]))
        #expect(
            baked.text == """
                let a = Tweak("A", "B", "list", [
                    1,
                    2,
                    3,
                ]), b = Tweak("A", "B", "next", 6)
                let c = Tweak("A", "B", "bad", five)
                """)
        #expect(baked.tweaks.count == 2 && baked.reasons == [Self.notWrittenOut])
    }
}
