// Bytes of a keyboard to keys.

/// What somebody pressed.
enum Key: Equatable {
    case character(Character)
    case enter, tab, backspace, delete
    case left, right, up, down, home, end, wordLeft, wordRight
    /// Ctrl with a letter, in lower case.
    case control(Character)
}

/// Decodes what a terminal sends, in whatever pieces it arrives.
struct KeyDecoder {
    private enum State: Equatable {
        case plain
        case escape
        /// Behind `ESC [` or `ESC O`, with the parameters so far.
        case sequence(String)
    }

    private var state = State.plain
    /// The bytes of a character that is not complete.
    private var pending: [UInt8] = []

    /// The keys that are complete with these bytes.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.compactMap { decode($0) } }

    private mutating func decode(_ byte: UInt8) -> Key? {
        switch state {
        case .plain: return plain(byte)
        case .escape:
            let isIntroducer = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O")
            state = isIntroducer ? .sequence("") : .plain
            // Alt with a letter.
            if byte == UInt8(ascii: "b") { return .wordLeft }
            if byte == UInt8(ascii: "f") { return .wordRight }
            return isIntroducer || byte < 0x20 && byte != 0x1B ? nil : escaped(byte)
        case .sequence(let parameters):
            // A stranger's sequence could be endless.
            if (0x30...0x3F).contains(byte), parameters.utf8.count < 16 {
                state = .sequence(parameters + String(UnicodeScalar(byte)))
                return nil
            }
            state = .plain
            return Self.special(byte, parameters)
        }
    }

    /// Escape twice is escape once; what Alt does to other keys is nothing.
    private mutating func escaped(_ byte: UInt8) -> Key? {
        if byte == 0x1B { state = .escape }
        return nil
    }

    private mutating func plain(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B:
            (state, pending) = (.escape, [])
            return nil
        case 0x0D, 0x0A: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x00: return nil
        case 0x01..<0x20: return .control(Character(UnicodeScalar(byte + 0x60)))
        default: return character(byte)
        }
    }

    private mutating func character(_ byte: UInt8) -> Key? {
        // A byte that begins a character ends whatever was unfinished.
        if byte & 0xC0 != 0x80 { pending = [] }
        pending.append(byte)
        let wanted = Self.length(startingWith: pending[0])
        if pending.count < wanted { return nil }
        defer { pending = [] }
        guard let text = String(validating: pending, as: UTF8.self), let character = text.first else { return nil }
        // U+0080…U+009F are controls, too.
        if character.unicodeScalars.contains(where: { (0x80..<0xA0).contains($0.value) }) { return nil }
        return .character(character)
    }

    private static func length(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xC0..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF8: 4
        default: 1
        }
    }

    private static func special(_ final: UInt8, _ parameters: String) -> Key? {
        let isByWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isByWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
            switch parameters {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            default: return nil
            }
        default: return nil
        }
    }
}
