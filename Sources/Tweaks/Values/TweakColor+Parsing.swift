// Colours from text: hexadecimal, rgb(), rgba() and the names of CSS.

extension TweakColor {
    /// A colour from `#RGB`, `#RGBA`, `#RRGGBB`, `#RRGGBBAA`, `rgb(r,g,b)`, `rgba(r,g,b,a)` or a CSS colour name.
    ///
    /// The channels of `rgb` are whole numbers 0…255, alpha is 0…1 or a percentage. Nil for anything else.
    /// - Parameter text: The text; names and functions in any case.
    public init?(_ text: String) {
        if text.utf8.first == UInt8(ascii: "#") {
            self.init(hexadecimal: text.utf8.dropFirst())
        } else if text.hasSuffix(")") {
            self.init(function: text.lowercased())
        } else if let value = Self.cssNames[text.lowercased()] {
            self.init(
                red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                blue: UInt8(truncatingIfNeeded: value))
        } else if text.lowercased() == "transparent" {
            self = .clear
        } else {
            return nil
        }
    }

    private init?(hexadecimal digits: Substring.UTF8View) {
        var values: [UInt8] = []
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            values.append(UInt8(value))
        }
        switch values.count {
        case 3, 4: values = values.map { $0 * 17 }
        case 6, 8: values = stride(from: 0, to: values.count, by: 2).map { values[$0] * 16 + values[$0 + 1] }
        default: return nil
        }
        self.init(red: values[0], green: values[1], blue: values[2], alpha: values.count == 4 ? values[3] : 255)
    }

    private init?(function text: String) {
        guard let open = text.firstIndex(of: "(") else { return nil }
        let parts = text[text.index(after: open)...].dropLast()
            .split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed() }.map { String($0) }
        let name = text[..<open]
        guard name == "rgb" && parts.count == 3 || name == "rgba" && parts.count == 4 else { return nil }
        let channels = parts.prefix(3).compactMap { UInt8($0) }
        guard channels.count == 3 else { return nil }
        guard let alpha = parts.count == 4 ? Self.alpha(parts[3]) : 255 else { return nil }
        self.init(red: channels[0], green: channels[1], blue: channels[2], alpha: alpha)
    }

    private static func alpha(_ text: String) -> UInt8? {
        let percent = text.hasSuffix("%")
        guard case .number(let number)? = TweakValue(parsing: percent ? String(text.dropLast()) : text, as: .number)
        else { return nil }
        let fraction = percent ? number / 100 : number
        return (0...1).contains(fraction) ? UInt8((fraction * 255).rounded()) : nil
    }
}
