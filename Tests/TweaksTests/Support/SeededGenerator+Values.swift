// Makes random values and texts for table tests.

import TweaksTestSupport

extension SeededGenerator {
    /// Any finite double: all exponents are equally likely, also those of denormal numbers.
    mutating func finiteDouble() -> Double {
        while true {
            let number = Double(bitPattern: next())
            if number.isFinite { return number }
        }
    }

    /// A 64-bit integer: all numbers of digits are equally likely.
    mutating func int64() -> Int64 { Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self) }

    /// Text of all kinds of scalars: controls, quotes, bidirectional controls, combining marks, emoji.
    mutating func text() -> String {
        let special: [Unicode.Scalar] = [
            "\"", "\\", "/", "\n", "\r", "\t", "\0", "\u{7F}", "\u{85}", "\u{2028}", "\u{202E}", "\u{2066}", "\u{301}",
            "é", "#", "=", " ", "'", "😀", "\u{FEFF}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<12, using: &self) {
            let ascii = Unicode.Scalar(UInt8.random(in: 0x20..<0x7F, using: &self))
            text.append(Bool.random(using: &self) ? ascii : special.randomElement(using: &self) ?? ascii)
        }
        return String(text)
    }
}
