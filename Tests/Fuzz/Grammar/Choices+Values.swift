// Produces typed values of every kind, made of pieces that are extreme in exponent, mantissa and length.

import Tweaks

extension Choices {
    // MARK: Numbers

    private static let whole = [
        "0", "1", "5", "9", "10", "007", "16", "100", "", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "2147483648", "4294967296",
        "170141183460469231731687303715884105727", "170141183460469231731687303715884105728",
    ]

    private static let exponents = [
        "0", "1", "5", "8", "15", "16", "17", "22", "23", "38", "39", "300", "308", "309", "323", "324", "400",
        "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
        "9223372036854775808", "9223372036854775808", "18446744073709551615", "18446744073709551616", "",
    ]

    /// Digits, with the limits of all widths among them.
    package mutating func digits() -> String {
        switch below(6) {
        case 0: String(below(256))
        case 1, 2: pick(Self.whole)
        case 3: String(repeating: pick(["9", "0", "1"]), count: below(256)) + pick(["", "1", "5"])
        case 4: several(20) { String($0.below(10)) }
        default: "\(below(256) << 8 | below(256))"
        }
    }

    private mutating func exponent() -> String {
        if below(2) == 0 { return "" }
        return pick(["e", "E"]) + pick(["", "-", "+"]) + (below(4) == 3 ? digits() : pick(Self.exponents))
    }

    /// A decimal number, or something like one.
    package mutating func number() -> String {
        if below(16) == 15 {
            return pick(["0x2a", "0x7FFFFFFFFFFFFFFF", "-0x8000000000000000", "1_000", "nan", "inf", "-0", "0x1p-9"])
        }
        let fraction = below(3) == 0 ? "" : "." + digits()
        return pick(["", "", "-", "+", "\u{2212}"]) + digits() + fraction + exponent()
    }

    /// A number as JSON writes it.
    package mutating func numberOfJSON() -> String {
        let whole = digits().drop { $0 == "0" }
        let fraction = below(3) == 0 ? "" : ".0" + digits()
        let exponent = below(2) == 0 ? "" : pick(["e", "E"]) + pick(["", "-", "+"]) + "0" + pick(Self.exponents)
        return pick(["", "-"]) + (whole.isEmpty ? "0" : String(whole)) + fraction + exponent
    }

    private mutating func calculation(_ depth: Int = 0) -> String {
        let first = operand(depth)
        return first + several(3) { $0.pick(["+", "-", "*", "/", " × ", "÷", " \u{2212} "]) + $0.operand(depth) }
    }

    private mutating func operand(_ depth: Int) -> String {
        depth < 3 && below(4) == 3 ? "(" + calculation(depth + 1) + ")" : number()
    }

    // MARK: Other kinds

    package mutating func duration() -> String {
        if below(4) == 3 { return durationCalculation() }
        let terms = 1 + below(3)
        return pick(["", "", "-"])
            + (0..<terms).map { _ in number() + pick(["s", "ns", "us", "ms", "m", "h", "d", "", " ms"]) }.joined()
    }

    /// Products and sums of durations and numbers, some of which have no meaning.
    private mutating func durationCalculation() -> String {
        let term = { (self: inout Choices) in self.number() + self.pick(["s", "ns", "h30m", "ms", "", " m", ""]) }
        let first = term(&self)
        let rest = several(3) { $0.pick(["*", "/", "+", " - ", "÷", "*("]) + term(&$0) }
        return pick(["", "("]) + first + rest + pick(["", ")"])
    }

    package mutating func color() -> String {
        let separator = pick([",", " ", ", "])
        let units = ["", "%", "deg", "grad", "rad", "turn"]
        switch below(4) {
        case 0: return "#" + several(9) { $0.pick(["0", "8", "F", "a", "g"]) }
        case 1: return pick(["black", "rebeccapurple", "transparent", "CornflowerBlue", "blac"])
        default:
            let parts = (0..<(2 + below(3))).map { _ in below(6) == 5 ? "none" : number() + pick(units) }.joined(
                separator: separator)
            let alpha = below(3) == 0 ? "" : pick(["/", " / ", ","]) + number() + pick(units)
            let names = ["hsl", "rgb", "hsla", "rgba", "HSL", "hwb", "oklch", "oklch", "OKLCH"]
            return pick(names) + "(" + parts + alpha + ")"
        }
    }

    package mutating func point() -> String {
        let pair = calculation() + pick([",", ", ", " ,"]) + calculation()
        return below(3) == 0 ? "[" + pair + "]" : pair
    }

    package mutating func curve() -> String {
        let separator = pick([",", ", ", " "])
        switch below(4) {
        case 0: return pick(["ease", "ease-in", "STEP-END", "linear", "eas", "linear(0, 1)"])
        case 1:
            let count = below(2) == 0 ? number() : pick(["1", "2", "1000", "1001", "0", "-1"])
            let positions = ["start", "end", "jump-start", "jump-end", "jump-none", "jump-both", "JUMP-NONE", "mid"]
            return "steps(" + count + (below(3) == 0 ? "" : separator + pick(positions)) + ")"
        default:
            let numbers = (0..<(3 + below(3))).map { _ in
                below(3) == 0 ? number() : pick(["0", ".2", "1", "0.58", "-1"])
            }
            return pick(["cubic-bezier(", "Cubic-Bezier("]) + numbers.joined(separator: separator) + ")"
        }
    }

    package mutating func list() -> String {
        let items = several(6, separator: pick([", ", ","])) { $0.item() }
        return below(4) == 3 ? items : "[" + items + "]"
    }

    private mutating func item() -> String {
        switch below(6) {
        case 0: number()
        case 1: calculation()
        case 2: below(3) == 0 ? curve() : color()
        case 3: duration()
        case 4: Quoting.json(pick(Samples.choices))
        default: "'" + number() + "'"
        }
    }

    package mutating func date() -> String {
        let year = pick(["2026", "0000", "9999", "1969", "10000", "-001"])
        let rest = (0..<5).map { _ in
            pick(["01", "02", "12", "28", "29", "30", "31", "00", "23", "24", "59", "60", "99"])
        }
        let fraction = below(3) == 0 ? "" : "." + digits()
        return year + "-\(rest[0])-\(rest[1])T\(rest[2]):\(rest[3]):\(rest[4])" + fraction + pick(["Z", "z", ""])
    }

    /// A value of any kind, as typed and without quotes.
    package mutating func value() -> String {
        switch below(10) {
        case 0: number()
        case 1, 2: calculation()
        case 3: duration()
        case 4: below(3) == 0 ? curve() : color()
        case 5: point()
        case 6: list()
        case 7: date()
        case 8: pick(["true", "off", "none", "toggle", "left", "two words", "é", "", "(set)"])
        default: number() + pick([" px", "px", "%", " ms", "px/s²"])
        }
    }

    /// A value of JSON, nested at most a few levels.
    package mutating func json(_ depth: Int = 0) -> String {
        switch below(depth < 3 ? 8 : 5) {
        case 0, 1: numberOfJSON()
        case 2, 3: Quoting.json(value())
        case 4: pick(["true", "false", "null", "\"\\ud800\"", "\"\\u0000\""])
        case 5, 6: "[" + several(4, separator: ",") { $0.json(depth + 1) } + "]"
        default: "{" + several(3, separator: ",") { "\"k\":" + $0.json(depth + 1) } + "}"
        }
    }
}
