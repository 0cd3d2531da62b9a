// Random numbers that are the same on every run.

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and good enough to make test cases from a seed.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Any double but NaN and the infinities: all exponents are equally likely, denormals among them.
    mutating func finiteDouble() -> Double {
        while true {
            let number = Double(bitPattern: next())
            if number.isFinite { return number }
        }
    }

    /// A 64-bit integer of any size: short ones are as likely as long ones.
    mutating func int64() -> Int64 {
        Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self)
    }

    /// Text of every sort of scalar: controls, quotes, bidirectional controls, combining marks, emoji.
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
