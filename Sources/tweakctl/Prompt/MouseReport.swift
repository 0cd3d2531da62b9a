// Parses what a terminal reports about the mouse.

/// A button or the wheel, at a cell of the screen.
struct MouseReport: Hashable {
    enum Action: Hashable {
        case press, drag, release, wheelUp, wheelDown
    }

    let action: Action
    /// Both from 0.
    let row: Int
    let column: Int

    /// Parses the parameters of a report in the encoding SGR (1006), `<BUTTON;COLUMN;ROW`; nil for a malformed one, and
    /// for other buttons than the left one.
    init?(_ parameters: String, isRelease: Bool) {
        let numbers = parameters.dropFirst().split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        guard parameters.hasPrefix("<"), numbers.count == 3, let button = numbers[0], let column = numbers[1],
            let row = numbers[2], row > 0, column > 0
        else { return nil }
        // Without the bits of Shift, Alt and Ctrl.
        switch button & ~0b1_1100 {
        case 0: action = isRelease ? .release : .press
        case 32: action = .drag
        case 64: action = .wheelUp
        case 65: action = .wheelDown
        default: return nil
        }
        self.row = row - 1
        self.column = column - 1
    }
}
