// Describes keys for Chromium's input events.

/// A key that has no character, by its name in `KeyboardEvent.key` (https://www.w3.org/TR/uievents-key/).
package enum Key: String, CaseIterable, Sendable {
    case backspace = "Backspace"
    case tab = "Tab"
    case enter = "Enter"
    case shift = "Shift"
    case control = "Control"
    case alt = "Alt"
    case escape = "Escape"
    case space = " "
    case pageUp = "PageUp"
    case pageDown = "PageDown"
    case end = "End"
    case home = "Home"
    case left = "ArrowLeft"
    case up = "ArrowUp"
    case right = "ArrowRight"
    case down = "ArrowDown"
    case delete = "Delete"
    case command = "Meta"

    /// Its bit among the modifiers of an event; nil for other keys.
    var modifier: Int? {
        switch self {
        case .alt: 1
        case .control: 2
        case .command: 4
        case .shift: 8
        default: nil
        }
    }

    /// Its description in the protocol.
    fileprivate var stroke: KeyStroke {
        let code = modifier == nil ? rawValue : rawValue + "Left"
        let text = self == .enter ? "\r" : self == .space ? " " : nil
        return KeyStroke(key: rawValue, code: self == .space ? "Space" : code, number: number, text: text)
    }

    /// Its Windows virtual key code.
    private var number: Int {
        switch self {
        case .backspace: 8
        case .tab: 9
        case .enter: 13
        case .shift: 16
        case .control: 17
        case .alt: 18
        case .escape: 27
        case .space: 32
        case .pageUp: 33
        case .pageDown: 34
        case .end: 35
        case .home: 36
        case .left: 37
        case .up: 38
        case .right: 39
        case .down: 40
        case .delete: 46
        case .command: 91
        }
    }
}

/// One step of a keyboard.
package enum KeyStep {
    case press(Key), release(Key)
    /// A key with a character, pressed and released.
    case character(Character)
}

/// A key that is pressed or released.
struct KeyStroke {
    var key: String
    /// Its position on a keyboard, `KeyboardEvent.code`.
    var code: String
    var number: Int
    /// The text that it enters when no modifier but Shift is down.
    var text: String?

    init(key: String, code: String, number: Int, text: String?) {
        (self.key, self.code, self.number, self.text) = (key, code, number, text)
    }

    init(_ key: Key) { self = key.stroke }

    /// The key of a character.
    init(_ character: Character, isShifted: Bool) {
        let (key, upper) = (isShifted ? character.uppercased() : String(character), character.uppercased())
        let isPlain = character.isASCII && (character.isLetter || character.isNumber)
        self.init(
            key: key, code: isPlain ? (character.isLetter ? "Key" : "Digit") + upper : "",
            number: isPlain ? Int(upper.utf8.first ?? 0) : 0, text: key)
    }

    /// The parameters of `Input.dispatchKeyEvent`.
    func event(isDown: Bool, modifiers: Int) -> PageValue {
        var event: [String: PageValue] = [
            "type": isDown ? "rawKeyDown" : "keyUp", "key": .string(key), "code": .string(code),
            "windowsVirtualKeyCode": PageValue(number), "modifiers": PageValue(modifiers),
        ]
        if isDown, let text, modifiers & ~8 == 0 { (event["type"], event["text"]) = ("keyDown", .string(text)) }
        return .object(event)
    }
}
