// Tests the texts that a color tweak accepts and refuses, and colors as values.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ColorTests {
    private let tweak = Tweak(
        "Kind", "Of", "Color", TweakColor(red8: 9, green8: 9, blue8: 9), registry: TweakRegistry())

    /// The text, and the color as it is printed.
    @Test(arguments: [
        ("#F80", "#FF8800FF"), ("#f80", "#FF8800FF"), ("#F808", "#FF880088"), ("#FF8800", "#FF8800FF"),
        ("#ff8800", "#FF8800FF"), ("#FF880080", "#FF880080"), ("#00000000", "#00000000"), ("#000", "#000000FF"),
        ("rgb(255,136,0)", "#FF8800FF"), ("rgb(255, 136, 0)", "#FF8800FF"), ("rgb( 255 ,136 , 0 )", "#FF8800FF"),
        ("RGB(0,0,0)", "#000000FF"), ("rgba(255,136,0,1)", "#FF8800FF"), ("rgba(255,136,0,0)", "#FF880000"),
        ("rgba(255,136,0,0.5)", "#FF880080"), ("rgba(255,136,0,50%)", "#FF880080"), ("rgba(1,2,3,.25)", "#01020340"),
        ("rgba(1,2,3,100%)", "#010203FF"), ("black", "#000000FF"), ("White", "#FFFFFFFF"),
        ("REBECCAPURPLE", "#663399FF"), ("transparent", "#00000000"), ("orange", "#FFA500FF"),
        ("F80", "#FF8800FF"), ("f808", "#FF880088"), ("FF8800", "#FF8800FF"), ("ff880080", "#FF880080"),
        ("000", "#000000FF"), ("rgb(255 136 0)", "#FF8800FF"), ("rgb(255 136 0 / 50%)", "#FF880080"),
        ("rgb(255 136 0/.5)", "#FF880080"), ("rgb(100%,50%,0%)", "#FF8000FF"), ("rgb(1,2,3,0.5)", "#01020380"),
        ("rgba(1,2,3)", "#010203FF"), ("rgb(1.5,0,0)", "#020000FF"), ("hsl(0,100%,50%)", "#FF0000FF"),
        ("hsl(120,100%,25%)", "#008000FF"), ("hsl(38.8deg, 100%, 50%)", "#FFA500FF"), ("hsl(270 50% 40%)", "#663399FF"),
        ("hsla(240,100%,50%,0.5)", "#0000FF80"), ("HSL(-120 100% 50% / 25%)", "#0000FF40"),
        ("hsl(0.5turn 100% 50%)", "#00FFFFFF"), ("hsl(200grad,100%,50%)", "#00FFFFFF"),
        ("hsl(3.14159265358979rad 100% 50%)", "#00FFFFFF"), ("hsl(720 0 75)", "#BFBFBFFF"),
        ("hsl(1e308,0%,0%)", "#000000FF"), ("darkslategrey", "#2F4F4FFF"), ("darkslategray", "#2F4F4FFF"),
        ("lightgoldenrodyellow", "#FAFAD2FF"),
        // Of CSS Color 4 and its tests.
        ("hwb(90 10% 10%)", "#80E61AFF"), ("hwb(90deg 50% 50%)", "#808080FF"), ("hwb(90 100% 100%)", "#808080FF"),
        ("hwb(0 80% 40%)", "#AAAAAAFF"), ("HWB(0.5turn 0 0 / 50%)", "#00FFFF80"), ("hwb(-240 0% 0%)", "#00FF00FF"),
        ("hwb(none 10 none)", "#FF1A1AFF"), ("rgb(none 255 0 / none)", "#00FF0000"),
        ("oklch(40.101% 0.12332 21.555)", "#7D2329FF"), ("oklch(59.686% 0.15619 49.7694)", "#C65D06FF"),
        ("oklch(0.65125 0.13138 104.097)", "#9D9318FF"), ("oklch(0.66016 0.15546 134.231deg)", "#68A639FF"),
        ("oklch(72.322% 0.12403 247.996)", "#62ACEFFF"), ("oklch(42.1% 48.25% 328.4)", "#800180FF"),
        ("oklch(0 0 0)", "#000000FF"), ("oklch(100% 0 none / 0.5)", "#FFFFFF80"), ("oklch(0.5 none 0)", "#636363FF"),
        ("oklch(62.796% 0.25768 29.234)", "#FF0000FF"), ("oklch(86.644% 0.29483 142.495)", "#00FF00FF"),
        ("oklch(45.201% 0.31321 -95.948)", "#0000FFFF"), ("oklch(45.201% 0.31321 0.733477778turn)", "#0000FFFF"),
        // Beyond sRGB each channel is clipped.
        ("oklch(70% 0.4 150)", "#00D600FF"), ("oklch(70% 1e300 150)", "#00FF00FF"),
    ])
    func acceptsTexts(_ text: String, _ printed: String) throws {
        #expect(try tweak.erased.set(text: text).new.text == printed)
        #expect(tweak.value == TweakColor(text) && "\(tweak.value)" == printed)
    }

    @Test(arguments: [
        "", " ", "#", "#F", "#F8", "#FF880", "#FF88000", "#FF8800000", "F8", "F8800", "FF8800000", "G80", "\u{FF26}80",
        "#GG0000", "#ff 880", "# FF8800", "##F80", "#１２３", "#+12", "0xFF8800", "rgb()", "rgb(1,2)", "rgb(1,2,3,4)",
        "rgb(256,0,0)", "rgb(-1,0,0)",
        "rgb(255.1,0,0)", "rgb(1,,3)", "rgb(1 2, 3)", "rgb(1 2)", "rgb(1 2 3 4)", "rgb(1 2 3 /)", "rgb(1 2 3 / 1 / 1)",
        "rgb(1,2,3/1)", "rgb(101%,0%,0%)", "hsl(1,2,101)", "hsl(x,1%,1%)", "hsl(1deg,1%)", "hsl(deg,1%,1%)",
        "hwb(1,2%,3%)", "hwb(1 2% 101%)", "hwb(1 -2% 3%)", "hwb(1% 2% 3%)", "hwba(1 2% 3%)", "rgb(none,0,0)",
        "oklch(0.5,0.1,20)", "oklch(1.1 0.1 20)", "oklch(101% 0.1 20)", "oklch(0.5 -0.1 20)", "oklch(0.5 0.1)",
        "oklch(0.5 0.1 20 / 2)", "oklch(0.5 0.1 20%)", "oklch(nan 0.1 20)", "lch(50% 20 20)", "rgb(1,2,3",
        "rgb(1,2,3))", "rgb 1,2,3)", "rgba(1,2,3,1.1)",
        "rgba(1,2,3,-0.1)", "rgba(1,2,3,101%)", "rgba(1,2,3,nan)", "rgba(1,2,3,)", "rgba(1,2,3,%)",
        "notacolour", "blac", "blackk", " black", "black ", "currentcolor", "none", ")", "()",
    ])
    func refusesOtherTexts(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    /// A misspelled code is not mistaken for a name.
    @Test(
        arguments: [
            ("ornge", "orange"), ("Blakc", "black"), ("light blue", "lightblue"), ("dark-slate-gray", "darkslategray"),
            ("transparant", "transparent"), ("#FF880", nil), ("FF880", nil), ("beded", nil), ("rgb(1,2", nil),
            ("G80", nil), ("12", nil), ("", nil), ("notacolour", nil),
        ] as [(String, String?)])
    func theErrorSuggestsTheNearestNameUnlessTheTweakIsASecret(_ text: String, _ name: String?) throws {
        let guess = name.map { "; did you mean \($0)?" } ?? ""
        let error = refusal { try tweak.erased.set(text: text) }
        #expect(error?.message.hasSuffix("or a CSS color name" + guess) == true)
        let secret = Tweak("Kind", "Of", "Secret", TweakColor.black, flags: .secret, registry: TweakRegistry())
        #expect(refusal { try secret.erased.set(text: text) }?.message.contains("did you mean") == false)
    }

    @Test func everyCSSNameIsParsed() throws {
        #expect(TweakColor.cssNames.count == 148)
        for (name, value) in TweakColor.cssNames {
            let digits = String(value, radix: 16)
            #expect(TweakColor(name) == TweakColor(String(repeating: "0", count: 6 - digits.count) + digits), "\(name)")
        }
    }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let color = TweakColor(tweakWord: random.next() & 0xFFFF_FFFF)
            #expect(TweakColor("\(color)") == color)
            try expectRoundTrip(.color(color), by: tweak.erased)
        }
    }

    @Test func everyAlphaIsPreservedInTheWord() {
        for alpha in UInt8.min...UInt8.max {
            let color = TweakColor(red8: 1, green8: 128, blue8: 255, alpha8: alpha)
            #expect(TweakColor(tweakWord: color.tweakWord) == color)
        }
    }

    @Test func namedConstantsAreTheColorsOfCSS() {
        let known: [(TweakColor, String)] = [
            (.black, "black"), (.silver, "silver"), (.gray, "gray"), (.white, "white"), (.maroon, "maroon"),
            (.red, "red"), (.purple, "purple"), (.magenta, "magenta"), (.green, "green"), (.lime, "lime"),
            (.olive, "olive"), (.yellow, "yellow"), (.navy, "navy"), (.blue, "blue"), (.teal, "teal"), (.cyan, "cyan"),
            (.orange, "orange"), (.brown, "brown"), (.pink, "pink"), (.indigo, "indigo"), (.clear, "transparent"),
        ]
        for (color, name) in known { #expect(color == TweakColor(name), "\(name)") }
    }

    @Test func channelsAreFractionsAndClamp() {
        #expect(TweakColor(red: 1, green: 0, blue: 0) == .red)
        #expect(TweakColor(red: 1, green: 0.5, blue: 0, alpha: 0.25).description == "#FF800040")
        #expect(TweakColor(red: -1, green: 7, blue: .nan, alpha: .infinity).description == "#00FF00FF")
        var color = TweakColor(0x336699)
        #expect([color.red, color.green, color.blue, color.alpha] == [0.2, 0.4, 0.6, 1])
        (color.red, color.green, color.blue, color.alpha) = (1, 2, -1, 0.5)
        #expect(color == TweakColor(red8: 255, green8: 255, blue8: 0, alpha8: 128))
    }

    @Test(.prompt) func aCodeOfEightDigitsTraps() async {
        await #expect(processExitsWith: .failure) { _ = TweakColor(0xFF88_0080) }
    }

    @Test(arguments: [TweakValue.string("#F80"), .int(0), .number(0), .bool(true), .choice("black"), .duration(.zero)])
    func refusesValuesOfOtherKinds(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }
}
