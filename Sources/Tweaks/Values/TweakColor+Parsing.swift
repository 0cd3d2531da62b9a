// Parses colors: hexadecimal codes, CSS functions and CSS names.

extension TweakColor {
    /// A color from CSS notation.
    ///
    /// Hexadecimal in 3, 4, 6 or 8 digits with or without `#`; `rgb()` and `hsl()`, also as `rgba()` and `hsla()`, with
    /// commas or blanks and an alpha of 0…1 or in percent; the 148 names and `transparent`. Nil for other text, and
    /// for channels out of range.
    ///
    /// ```swift
    /// TweakColor("#FF880080"); TweakColor("F80"); TweakColor("rgb(255 136 0 / 50%)")
    /// TweakColor("hsl(32deg, 100%, 50%)")
    /// ```
    /// - Parameter text: The text, in upper or lower case.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        if lowered.hasPrefix("#") {
            self.init(hexadecimal: lowered.utf8.dropFirst())
        } else if lowered.hasSuffix(")") {
            self.init(function: lowered)
        } else if let code = Self.cssNames[lowered] {
            self.init(known: code)
        } else if lowered == "transparent" {
            self = .clear
        } else {
            self.init(hexadecimal: lowered.utf8[...])
        }
    }

    private init?(hexadecimal digits: Substring.UTF8View) {
        var values: [UInt8] = []
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue, values.count < 8 else { return nil }
            values.append(UInt8(value))
        }
        switch values.count {
        case 3, 4: values = values.map { $0 * 17 }
        case 6, 8: values = stride(from: 0, to: values.count, by: 2).map { values[$0] * 16 + values[$0 + 1] }
        default: return nil
        }
        self.init(red8: values[0], green8: values[1], blue8: values[2], alpha8: values.count == 4 ? values[3] : 255)
    }

    // MARK: Functions

    private init?(function text: String) {
        guard let open = text.firstIndex(of: "("),
            let parts = Self.arguments(text[text.index(after: open)...].dropLast()),
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
        default: return nil
        }
    }

    /// The three or four arguments: separated by commas, or by blanks with the alpha after a slash.
    private static func arguments(_ text: Substring) -> [Substring]? {
        var parts: [Substring]
        if text.contains(",") {
            parts = text.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        } else {
            let halves = text.split(separator: "/", omittingEmptySubsequences: false)
            parts = halves[0].split(separator: " ")
            guard parts.count == 3, halves.count <= 2 else { return nil }
            parts += halves.dropFirst().map(trimmed)
        }
        return (3...4).contains(parts.count) ? parts : nil
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

    /// The formula is that of W3C, “CSS Color Module Level 4”, section 7.1, “Converting HSL Colors to sRGB”.
    private init(hue: Double, saturation: Double, lightness: Double, alpha: Double) {
        let turn = hue.truncatingRemainder(dividingBy: 360)
        let hue = turn < 0 ? turn + 360 : turn
        func channel(_ offset: Double) -> Double {
            let place = (offset + hue / 30).truncatingRemainder(dividingBy: 12)
            return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(place - 3, 9 - place, 1))
        }
        self.init(red: channel(0), green: channel(8), blue: channel(4), alpha: alpha)
    }
}
