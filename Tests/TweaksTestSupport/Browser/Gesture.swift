// Performs gestures with mouse, finger and keyboard.

import Foundation

/// One step of a pointer. Distances are CSS pixels.
package enum PointerStep {
    /// Moves at once to an offset from the middle of an element.
    case move(to: Element, x: Double = 0, y: Double = 0)
    /// Moves at once to a point of the view.
    case moveTo(x: Double, y: Double)
    /// Moves gradually by an offset: sixty times a second, or as often as the machine manages.
    case moveBy(x: Double, y: Double, over: Duration = .zero)
    case press, release
}

/// A gesture with one input device.
package enum Gesture {
    /// With a mouse. A button that is down at the end stays down in the next gesture.
    case mouse([PointerStep])
    /// With a finger.
    case touch([PointerStep])
    /// On the keyboard.
    case keyboard([KeyStep])

    package static func mouse(_ steps: PointerStep...) -> Gesture { .mouse(steps) }
    package static func touch(_ steps: PointerStep...) -> Gesture { .touch(steps) }
    package static func keyboard(_ steps: KeyStep...) -> Gesture { .keyboard(steps) }

    /// Presses keys one after the other while others are held down; the focused element receives them.
    package static func keys(_ keys: Key..., holding modifiers: [Key] = []) -> Gesture {
        let steps = modifiers.map(KeyStep.press) + keys.flatMap { [.press($0), .release($0)] }
        return .keyboard(steps + modifiers.reversed().map(KeyStep.release))
    }
}

/// The position of the pointer, and the pressed buttons and keys.
struct InputState {
    var (x, y) = (0.0, 0.0)
    var isPressing = false
    /// Bits of ``Key/modifier``.
    var modifiers = 0
}

extension Browser {
    /// Performs gestures one after the other, and returns when the page has received the last one.
    package func perform(_ gestures: Gesture...) throws {
        for gesture in gestures {
            switch gesture {
            case .mouse(let steps): for step in steps { try point(step, byTouch: false) }
            case .touch(let steps): for step in steps { try point(step, byTouch: true) }
            case .keyboard(let steps): for step in steps { try type(step) }
            }
        }
    }

    // MARK: Pointers

    private func point(_ step: PointerStep, byTouch: Bool) throws {
        switch step {
        case .move(let element, let x, let y):
            // The target of a touch is looked up in the last frame drawn, so that frame has to be current.
            let middle = try run(
                """
                if (arguments[1]) await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
                const box = arguments[0].getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
                """, element.value, .bool(byTouch))
            try move(to: (middle[0].number ?? 0) + x, (middle[1].number ?? 0) + y, byTouch)
        case .moveTo(let x, let y): try move(to: x, y, byTouch)
        case .moveBy(let x, let y, let time): try moveBy(x, y, time, byTouch)
        case .press:
            inputState.isPressing = true
            try dispatch(byTouch ? "touchStart" : "mousePressed", byTouch)
        case .release:
            inputState.isPressing = false
            try dispatch(byTouch ? "touchEnd" : "mouseReleased", byTouch)
        }
    }

    private func move(to x: Double, _ y: Double, _ byTouch: Bool) throws {
        (inputState.x, inputState.y) = (x, y)
        // A finger that does not touch the screen sends no events.
        if !byTouch || inputState.isPressing { try dispatch(byTouch ? "touchMove" : "mouseMoved", byTouch) }
    }

    private func moveBy(_ x: Double, _ y: Double, _ time: Duration, _ byTouch: Bool) throws {
        let (start, frame) = (inputState, Duration.milliseconds(16))
        let (count, began) = (max(1, Int(time / frame)), ContinuousClock.now)
        for step in 1...count {
            let part = Double(step) / Double(count)
            try move(to: start.x + x * part, start.y + y * part, byTouch)
            let rest = began + time * part - .now
            if rest > .zero { Thread.sleep(forTimeInterval: rest / .seconds(1)) }
        }
    }

    private func dispatch(_ type: PageValue, _ byTouch: Bool) throws {
        let (x, y) = (PageValue.number(inputState.x), PageValue.number(inputState.y))
        let modifiers = PageValue(inputState.modifiers)
        if byTouch {
            let points: PageValue = inputState.isPressing ? [["x": x, "y": y]] : []
            try command("Input.dispatchTouchEvent", ["type": type, "touchPoints": points, "modifiers": modifiers])
        } else {
            let button: PageValue = type == "mouseMoved" && !inputState.isPressing ? "none" : "left"
            try command(
                "Input.dispatchMouseEvent",
                [
                    "type": type, "x": x, "y": y, "button": button, "buttons": inputState.isPressing ? 1 : 0,
                    "clickCount": type == "mouseMoved" ? 0 : 1, "modifiers": modifiers,
                ])
        }
    }

    // MARK: Keys

    private func type(_ step: KeyStep) throws {
        switch step {
        case .press(let key):
            inputState.modifiers |= key.modifier ?? 0
            try send(KeyStroke(key), isDown: true)
        case .release(let key):
            inputState.modifiers &= ~(key.modifier ?? 0)
            try send(KeyStroke(key), isDown: false)
        case .character(let character):
            let stroke = KeyStroke(character, isShifted: inputState.modifiers & 8 != 0)
            try send(stroke, isDown: true)
            try send(stroke, isDown: false)
        }
    }

    private func send(_ stroke: KeyStroke, isDown: Bool) throws {
        try command("Input.dispatchKeyEvent", stroke.event(isDown: isDown, modifiers: inputState.modifiers))
    }
}
