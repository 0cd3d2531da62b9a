// What hands do: pointers that are moved, pressed and let go of, and keys.

/// A key that has no character, by WebDriver's code for it.
package enum Key: String, Sendable {
    case backspace = "\u{E003}"
    case tab = "\u{E004}"
    case enter = "\u{E007}"
    case shift = "\u{E008}"
    case control = "\u{E009}"
    case alt = "\u{E00A}"
    case escape = "\u{E00C}"
    case space = "\u{E00D}"
    case pageUp = "\u{E00E}"
    case pageDown = "\u{E00F}"
    case end = "\u{E010}"
    case home = "\u{E011}"
    case left = "\u{E012}"
    case up = "\u{E013}"
    case right = "\u{E014}"
    case down = "\u{E015}"
    case delete = "\u{E017}"
    case command = "\u{E03D}"

    /// Its code as text, to be typed. Typed into an element, a modifier stays down to the end of that text.
    package var text: String { rawValue }
}

/// One step of a pointer.
package enum PointerStep {
    /// Moves at once to a distance from the middle of an element.
    case move(to: Element, x: Int = 0, y: Int = 0)
    /// Moves at once to a point of the view.
    case moveTo(x: Int, y: Int)
    /// Moves from where it is, as a hand does: sixty times a second, or as often as the machine manages.
    case moveBy(x: Int, y: Int, over: Duration = .zero)
    case press, release
    case pause(Duration)

    fileprivate var values: [PageValue] {
        switch self {
        case .move(let element, let x, let y): [Self.move(element.value, x, y)]
        case .moveTo(let x, let y): [Self.move("viewport", x, y)]
        case .moveBy(let x, let y, let time): Self.moves(x, y, time)
        case .press: [["type": "pointerDown", "button": 0]]
        case .release: [["type": "pointerUp", "button": 0]]
        case .pause(let time): [["type": "pause", "duration": .milliseconds(time)]]
        }
    }

    /// The driver itself makes one jump of a move, however long it takes. It wants whole pixels.
    private static func moves(_ x: Int, _ y: Int, _ time: Duration) -> [PageValue] {
        let frame = Duration.milliseconds(16)
        let count = max(1, Int(time / frame))
        return (1...count).map { step in
            let (dx, dy) = (x * step / count - x * (step - 1) / count, y * step / count - y * (step - 1) / count)
            return move("pointer", dx, dy, min(time, frame))
        }
    }

    private static func move(_ origin: PageValue, _ x: Int, _ y: Int, _ time: Duration = .zero) -> PageValue {
        ["type": "pointerMove", "origin": origin, "x": .init(x), "y": .init(y), "duration": .milliseconds(time)]
    }
}

/// One step of a keyboard.
package enum KeyStep {
    case press(Key), release(Key)
    /// A key with a character, pressed and let go of.
    case character(Character)
    case pause(Duration)

    fileprivate var values: [PageValue] {
        switch self {
        case .press(let key): [["type": "keyDown", "value": .string(key.text)]]
        case .release(let key): [["type": "keyUp", "value": .string(key.text)]]
        case .character(let character):
            ["keyDown", "keyUp"].map { ["type": $0, "value": .string(String(character))] }
        case .pause(let time): [["type": "pause", "duration": .milliseconds(time)]]
        }
    }
}

/// What one hand does. Hands that are told of in one call work at the same time, step by step.
package struct Gesture {
    fileprivate let value: PageValue

    /// With a mouse. What it holds down at the end it still holds in the next gesture.
    package static func mouse(_ steps: PointerStep...) -> Gesture { pointer("mouse", "mouse", steps) }

    /// With a finger; two fingers need two names.
    package static func touch(_ finger: String = "finger", _ steps: PointerStep...) -> Gesture {
        pointer("touch", finger, steps)
    }

    /// On the keyboard.
    package static func keyboard(_ steps: KeyStep...) -> Gesture { keyboard(steps) }

    /// The same for any number of steps.
    package static func keyboard(_ steps: [KeyStep]) -> Gesture {
        Gesture(value: ["type": "key", "id": "keyboard", "actions": .array(steps.flatMap(\.values))])
    }

    /// Keys pressed one after the other while others are held down, on whatever has the focus.
    package static func keys(_ keys: Key..., holding modifiers: [Key] = []) -> Gesture {
        let steps = modifiers.map(KeyStep.press) + keys.flatMap { [.press($0), .release($0)] }
        let values = (steps + modifiers.reversed().map(KeyStep.release)).flatMap(\.values)
        return Gesture(value: ["type": "key", "id": "keyboard", "actions": .array(values)])
    }

    private static func pointer(_ kind: PageValue, _ name: String, _ steps: [PointerStep]) -> Gesture {
        Gesture(value: [
            "type": "pointer", "id": .string(name), "parameters": ["pointerType": kind],
            "actions": .array(steps.flatMap(\.values)),
        ])
    }
}

extension Browser {
    /// Does gestures, and returns when the last one is done.
    package func perform(_ gestures: Gesture...) throws {
        _ = try ask("POST", "actions", ["actions": .array(gestures.map(\.value))], about: "gestures")
    }
}
