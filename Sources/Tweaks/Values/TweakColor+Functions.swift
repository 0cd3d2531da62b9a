// Parses the color functions of CSS: rgb(), hsl(), hwb() and oklch().

extension TweakColor {
    /// A color from a function in lower case, such as `rgb(255, 136, 0)`.
    init?(function text: String) {
        guard let open = text.firstIndex(of: "("),
            let (parts, hasCommas) = Self.arguments(text[text.index(after: open)...].dropLast()),
            let alpha = parts.count == 4 ? Self.fraction(parts[3], of: 1) : 1
        else { return nil }
        switch text[..<open] {
        case "rgb", "rgba":
            let channels = parts.prefix(3).compactMap { Self.fraction($0, of: 255) }
            guard channels.count == 3 else { return nil }
            self.init(red: channels[0], green: channels[1], blue: channels[2], alpha: alpha)
        case "hsl", "hsla":
            guard let hue = Self.degrees(parts[0]), let saturation = Self.fraction(parts[1], of: 100),
                let lightness = Self.fraction(parts[2], of: 100)
            else { return nil }
            self.init(hue: hue, saturation: saturation, lightness: lightness, alpha: alpha)
        case "hwb" where !hasCommas:
            guard let hue = Self.degrees(parts[0]), let white = Self.fraction(parts[1], of: 100),
                let black = Self.fraction(parts[2], of: 100)
            else { return nil }
            self.init(hue: hue, white: white, black: black, alpha: alpha)
        case "oklch" where !hasCommas:
            guard let lightness = Self.fraction(parts[0], of: 1), let chroma = Self.chroma(parts[1]),
                let hue = Self.degrees(parts[2])
            else { return nil }
            self.init(lightness: lightness, chroma: chroma, hue: hue, alpha: alpha)
        default: return nil
        }
    }

    // MARK: Arguments

    /// The three or four arguments: separated by commas, or by blanks with the alpha after a slash. Only the latter,
    /// CSS's newer syntax, has the word `none`, which is 0.
    private static func arguments(_ text: Substring) -> (parts: [Substring], hasCommas: Bool)? {
        if text.contains(",") {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
            return (3...4).contains(parts.count) ? (parts, true) : nil
        }
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        let parts = halves[0].split(separator: " ")
        guard parts.count == 3, halves.count <= 2 else { return nil }
        return ((parts + halves.dropFirst().map(trimmed)).map { $0 == "none" ? "0" : $0 }, false)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// A number in 0…1: a fraction of `whole`, or a percentage.
    private static func fraction(_ text: Substring, of whole: Double) -> Double? {
        let isPercentage = text.hasSuffix("%")
        guard let number = number(isPercentage ? text.dropLast() : text) else { return nil }
        let fraction = number / (isPercentage ? 100 : whole)
        return (0...1).contains(fraction) ? fraction : nil
    }

    /// A chroma, which has no upper bound; 100% is 0.4.
    private static func chroma(_ text: Substring) -> Double? {
        let isPercentage = text.hasSuffix("%")
        guard let number = number(isPercentage ? text.dropLast() : text), number >= 0 else { return nil }
        return isPercentage ? number * 0.004 : number
    }

    /// An angle, in degrees unless it has another unit.
    private static func degrees(_ text: Substring) -> Double? {
        for (unit, degrees) in [("deg", 1), ("grad", 0.9), ("rad", 180 / Double.pi), ("turn", 360)]
        where text.hasSuffix(unit) {
            return number(text.dropLast(unit.count)).map { $0 * degrees }
        }
        return number(text)
    }

    private static func number(_ text: Substring) -> Double? {
        if case .number(let number)? = TweakValue(parsing: String(text), as: .number) { number } else { nil }
    }

    // MARK: Conversion
    // The formulas are those of W3C, “CSS Color Module Level 4”, sections 7.1 and 8.1, and of Björn Ottosson, “A
    // perceptual color space for image processing”.

    private init(hue: Double, saturation: Double, lightness: Double, alpha: Double) {
        let half = saturation * min(lightness, 1 - lightness)
        let slopes = Self.slopes(hue)
        self.init(
            red: lightness - half * slopes.red, green: lightness - half * slopes.green,
            blue: lightness - half * slopes.blue, alpha: alpha)
    }

    /// A pure hue mixed with white and black. Only their ratio counts where they leave nothing of the hue.
    private init(hue: Double, white: Double, black: Double, alpha: Double) {
        let sum = max(white + black, 1)
        let (least, span) = (white / sum, 1 - white / sum - black / sum)
        let slopes = Self.slopes(hue)
        self.init(
            red: least + span * (1 - slopes.red) / 2, green: least + span * (1 - slopes.green) / 2,
            blue: least + span * (1 - slopes.blue) / 2, alpha: alpha)
    }

    /// The channels of a pure hue: 1 where it has none of a channel, and -1 where it has all of it.
    private static func slopes(_ degrees: Double) -> (red: Double, green: Double, blue: Double) {
        let hue = turn(degrees)
        func slope(_ offset: Double) -> Double {
            let place = (offset + hue / 30).truncatingRemainder(dividingBy: 12)
            return max(-1, min(place - 3, 9 - place, 1))
        }
        return (slope(0), slope(8), slope(4))
    }

    /// From OKLCH; channels outside sRGB are clipped.
    private init(lightness: Double, chroma: Double, hue: Double, alpha: Double) {
        // All colors of sRGB have less than 0.4. More is limited, so that the cubes stay finite.
        let chroma = min(chroma, 4)
        let direction = Self.direction(Self.turn(hue))
        let (a, b) = (chroma * direction.x, chroma * direction.y)
        let long = cube(lightness + 0.3963377774 * a + 0.2158037573 * b)
        let middle = cube(lightness - 0.1055613458 * a - 0.0638541728 * b)
        let short = cube(lightness - 0.0894841775 * a - 1.2914855480 * b)
        self.init(
            red: Self.encoded(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
            green: Self.encoded(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
            blue: Self.encoded(-0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short), alpha: alpha)
        func cube(_ value: Double) -> Double { value * value * value }
    }

    /// An angle in 0..<360.
    private static func turn(_ degrees: Double) -> Double {
        let turn = degrees.truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 360 : turn
    }

    // The registry links no library of mathematics: sine, cosine and roots are computed here.

    /// Cosine and sine of an angle in 0..<360 degrees, by their series.
    private static func direction(_ degrees: Double) -> (x: Double, y: Double) {
        let angle = (degrees > 180 ? degrees - 360 : degrees) * .pi / 180
        var (x, y, term) = (0.0, 0.0, 1.0)
        for index in 0..<32 {
            let signed = index & 2 == 0 ? term : -term
            if index & 1 == 0 { x += signed } else { y += signed }
            term *= angle / Double(index + 1)
        }
        return (x, y)
    }

    /// The channel of a linear one, by the curve of sRGB, whose exponent is 5/12.
    private static func encoded(_ linear: Double) -> Double {
        if linear <= 0.0031308 { return 12.92 * max(linear, 0) }
        let fourth = min(linear, 1).squareRoot().squareRoot()
        // Newton's iteration for the cube root of a number in 0.2…1.
        var root = 1.0
        for _ in 0..<8 { root -= (root - fourth / (root * root)) / 3 }
        return 1.055 * (root * root * root * root * root) - 0.055
    }
}
