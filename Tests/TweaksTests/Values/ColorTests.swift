// Every text that a colour takes or refuses.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ColorTests {
    private let tweak = Tweak("Kind", "Of", "Color", TweakColor(red: 9, green: 9, blue: 9), registry: TweakRegistry())

    /// The text, and the colour as it is printed.
    @Test(arguments: [
        ("#F80", "#FF8800FF"), ("#f80", "#FF8800FF"), ("#F808", "#FF880088"), ("#FF8800", "#FF8800FF"),
        ("#ff8800", "#FF8800FF"), ("#FF880080", "#FF880080"), ("#00000000", "#00000000"), ("#000", "#000000FF"),
        ("rgb(255,136,0)", "#FF8800FF"), ("rgb(255, 136, 0)", "#FF8800FF"), ("rgb( 255 ,136 , 0 )", "#FF8800FF"),
        ("RGB(0,0,0)", "#000000FF"), ("rgba(255,136,0,1)", "#FF8800FF"), ("rgba(255,136,0,0)", "#FF880000"),
        ("rgba(255,136,0,0.5)", "#FF880080"), ("rgba(255,136,0,50%)", "#FF880080"), ("rgba(1,2,3,.25)", "#01020340"),
        ("rgba(1,2,3,100%)", "#010203FF"), ("black", "#000000FF"), ("White", "#FFFFFFFF"),
        ("REBECCAPURPLE", "#663399FF"), ("transparent", "#00000000"), ("orange", "#FFA500FF"),
        ("darkslategrey", "#2F4F4FFF"), ("darkslategray", "#2F4F4FFF"), ("lightgoldenrodyellow", "#FAFAD2FF"),
    ])
    func accepts(_ text: String, _ printed: String) throws {
        let outcome = try tweak.erased.set(text: text)
        #expect(outcome.new.text == printed)
        #expect(tweak.value == TweakColor(text))
        #expect("\(tweak.value)" == printed)
    }

    @Test(arguments: [
        "", " ", "#", "#F", "#F8", "#FF880", "#FF88000", "#FF8800000", "F80", "#GG0000", "#ff 880", "# FF8800", "##F80",
        "#１２３", "#+12", "0xFF8800", "rgb()", "rgb(1,2)", "rgb(1,2,3,4)", "rgba(1,2,3)", "rgb(256,0,0)", "rgb(-1,0,0)",
        "rgb(1.5,0,0)", "rgb(1,,3)", "rgb(1 2 3)", "rgb(1,2,3", "rgb(1,2,3))", "rgb 1,2,3)", "rgba(1,2,3,1.1)",
        "rgba(1,2,3,-0.1)", "rgba(1,2,3,101%)", "rgba(1,2,3,nan)", "rgba(1,2,3,)", "rgba(1,2,3,%)", "hsl(1,2,3)",
        "rgb(10%,10%,10%)", "notacolour", "blac", "blackk", " black", "black ", "currentcolor", "none", ")", "()",
    ])
    func refuses(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test func everyNameOfCSSIsRead() throws {
        #expect(TweakColor.cssNames.count == 148)
        for (name, value) in TweakColor.cssNames {
            let digits = String(value, radix: 16)
            let hexadecimal = "#" + String(repeating: "0", count: 6 - digits.count) + digits
            #expect(TweakColor(name) == TweakColor(hexadecimal), "\(name)")
        }
    }

    @Test func printsWhatItReads() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let color = TweakColor(tweakWord: random.next() & 0xFFFF_FFFF)
            #expect(TweakColor("\(color)") == color)
            try expectRoundTrip(.color(color), by: tweak.erased)
        }
    }

    @Test func everyAlphaSurvivesItsWord() {
        for alpha in UInt8.min...UInt8.max {
            let color = TweakColor(red: 1, green: 128, blue: 255, alpha: alpha)
            #expect(TweakColor(tweakWord: color.tweakWord) == color)
        }
    }

    @Test(arguments: [TweakValue.string("#F80"), .int(0), .number(0), .bool(true), .choice("black"), .duration(.zero)])
    func refusesOtherKinds(_ value: TweakValue) {
        let tweak = tweak.erased
        #expect(refusal { try tweak.set(value) }?.code == .badValue)
    }
}
