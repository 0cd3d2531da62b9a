// Tests that printed lines parse to the same values, with random values of every kind.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite struct RoundTripTests {
    private static let names = [
        "a", "two words", "quo\"te", "it's", "#", "=", "*?", "ok", "get", "é😀", "back\\slash", "a=b", "HTTP",
    ]
    private static let choices = ["left", "two words", "", "#", "quo\"te", "it's", "é", "=", "HTTP/1.1", "toggle"]
    private static let scalars: [Unicode.Scalar] = [
        "\"", "\\", "'", "/", "#", "=", " ", "\t", "\n", "\r", "\0", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}",
        "\u{202E}", "\u{301}", "é", "€", "😀", "\u{10FFFF}", "\u{FEFF}", "a", "Z", "0",
    ]

    private func text(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<20, using: &generator) {
            text.append(Self.scalars[Int.random(in: 0..<Self.scalars.count, using: &generator)])
        }
        return String(text)
    }

    /// A number whose magnitudes are equally likely.
    private func integer(_ generator: inout SeededGenerator) -> Int64 {
        Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator)
    }

    private func curve(_ generator: inout SeededGenerator) -> TweakCurve {
        let position = TweakCurve.StepPosition.allCases.randomElement(using: &generator)
        if Bool.random(using: &generator) { return .steps(Int(integer(&generator)), position ?? .end) }
        let (x1, x2) = (Double.random(in: 0...1, using: &generator), Double.random(in: 0...1, using: &generator))
        return TweakCurve(
            x1, Double(bitPattern: generator.next()), x2, Double.random(in: -1_000...1_000, using: &generator))
    }

    private func value(_ kind: TweakKind, _ generator: inout SeededGenerator) -> TweakValue {
        switch kind {
        case .bool: return .bool(Bool.random(using: &generator))
        case .int: return .int(integer(&generator))
        case .number:
            let number = Double(bitPattern: generator.next())
            return .number(number.isFinite ? number : 0.1)
        case .string: return .string(text(&generator))
        case .color:
            let digits = String(generator.next() | 1 << 32, radix: 16).suffix(8)
            return .color(TweakColor("#\(digits)") ?? .black)
        case .duration: return .duration(.nanoseconds(integer(&generator)))
        case .curve: return .curve(curve(&generator))
        default: return .choice(Self.choices[Int.random(in: 0..<Self.choices.count, using: &generator)])
        }
    }

    /// One tweak of each kind, under a name.
    private func register(_ name: String, in registry: TweakRegistry) -> [AnyTweak] {
        _ = Tweak(name, name, "bool", false, registry: registry)
        _ = Tweak(name, name, "int", 0, registry: registry)
        _ = Tweak(name, name, "number", 0.0, registry: registry)
        _ = Tweak(name, name, "string", "", registry: registry)
        _ = Tweak(name, name, "color", TweakColor.black, registry: registry)
        _ = Tweak(name, name, "choice", "left", choices: Self.choices, registry: registry)
        _ = Tweak(name, name, "duration", Duration.zero, registry: registry)
        _ = Tweak(name, name, "curve", TweakCurve.linear, registry: registry)
        return registry.categories.flatMap(\.collections).flatMap(\.tweaks)
    }

    @Test(arguments: names) func printedLinesParseToTheSameValue(_ name: String) throws {
        let tweaks = register(name, in: TweakRegistry())
        #expect(tweaks.count == 8)
        var generator = SeededGenerator(seed: 7)
        for tweak in tweaks {
            for _ in 0..<60 {
                let value = value(tweak.kind, &generator)
                for note in [TweakLine.Note.none, .explained, .was(value, .none)] {
                    var bytes: [UInt8] = []
                    TweakLine(tweak.node, value, note).append(to: &bytes)
                    try expectParses(bytes, tweak, value)
                }
            }
        }
    }

    private func expectParses(_ bytes: [UInt8], _ tweak: AnyTweak, _ value: TweakValue) throws {
        let line = String(decoding: bytes, as: UTF8.self)
        #expect(line.unicodeScalars.allSatisfy { !Quoting.isUnsafe($0) }, "\(line)")
        guard case .request(let request) = parsed(line), case .assign(let text) = request.change else {
            Issue.record("\(line) means \(parsed(line))")
            return
        }
        #expect(Array(request.word.utf8) == Array(tweak.path.joined.utf8))
        try tweak.set(text: text)
        #expect(tweak.value == value, "\(line)")
    }
}
