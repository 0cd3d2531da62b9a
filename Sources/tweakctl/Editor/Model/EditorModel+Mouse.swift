// Handles the mouse: a click selects, the wheel scrolls, and a button held on a bar drags its value.

import Tweaks

/// What a click points at.
enum MouseTarget: Equatable {
    /// A row of the list.
    case row(Int)
    /// The bar of the selected tweak in the details.
    case scale
    /// A channel of the color that is adjusted.
    case channel(Int)
    /// A preset of the list.
    case preset(Int)
}

/// A bar on which the mouse button is held. It stays where it was pressed, although the columns may move meanwhile.
struct BarDrag: Equatable {
    let path: String
    /// The channel of a color; nil for a number.
    let channel: Int?
    let columns: Range<Int>

    /// The position of a column on the bar, 0…1; beyond its ends 0 or 1.
    fileprivate func place(at column: Int) -> Double {
        let last = columns.count - 1
        return last < 1 ? 0 : Double(min(max(column - columns.lowerBound, 0), last)) / Double(last)
    }
}

extension EditorModel {
    private static let wheelRows = 3

    /// Handles a key press, or a report of the mouse on the screen as this palette draws it.
    mutating func press(_ key: Key, on palette: Palette) {
        guard case .mouse(let mouse) = key else {
            // The release may be lost, as when the terminal is left.
            drag = nil
            endDrag()
            return press(key)
        }
        switch mouse.action {
        case .press: click(mouse, EditorScreen(self, palette))
        case .drag: moveDrag(to: mouse.column)
        case .release:
            drag = nil
            endDrag()
        case .wheelUp: turnWheel(by: -Self.wheelRows)
        case .wheelDown: turnWheel(by: Self.wheelRows)
        }
    }

    private mutating func click(_ mouse: MouseReport, _ screen: EditorScreen) {
        drag = nil
        endDrag()
        guard let (target, bar) = screen.target(row: mouse.row, column: mouse.column) else { return }
        notice = nil
        var channel: Int?
        switch target {
        case .row(let row):
            mode = .browsing
            go(to: row)
            if rows[row].isHeading { return fold() }
        case .scale: break
        case .channel(let index):
            guard case .coloring(let path, _) = mode else { return }
            mode = .coloring(path, channel: index)
            channel = index
        case .preset(let index):
            presets.cursor = index
            mode = .presets(presets)
            return
        }
        guard let bar, let tweak = selectedTweak, canChange(tweak) else { return }
        drag = BarDrag(path: tweak.path, channel: channel, columns: bar)
        if link == .live {
            isDragOn = true
            emit(.send(["drag on"], .nothing, answer: 0))
        }
        moveDrag(to: mouse.column)
    }

    /// Ends the step of undo, once the last value is on its way.
    mutating func endDrag() {
        guard isDragOn, drag == nil, inFlight.isEmpty, link == .live else { return }
        isDragOn = false
        emit(.send(["drag off"], .nothing, answer: 0))
    }

    /// Leaves the terminal. A step of undo must not stay open meanwhile, even if its last value does not get into it.
    mutating func suspend() {
        drag = nil
        if isDragOn, link == .live { emit(.send(["drag off"], .nothing, answer: 0)) }
        isDragOn = false
        emit(.suspend)
    }

    /// Sets the value at a column of the bar.
    private mutating func moveDrag(to column: Int) {
        guard let drag, let position = positions[drag.path] else { return }
        let tweak = tweaks[position]
        let place = drag.place(at: column)
        if let channel = drag.channel, let color = tweak.color {
            ask(for: .color(color.with(channel, Int((place * 255).rounded()))), of: position)
        } else if let value = ValueStepper.value(of: tweak, at: place, cells: drag.columns.count) {
            ask(for: value, of: position)
        }
    }

    private mutating func turnWheel(by count: Int) {
        switch mode {
        case .browsing, .searching: scrollList(by: count)
        case .reading(let page): turn(page, to: page.top + count)
        case .presets(var list):
            list.cursor = min(max(list.cursor + count.signum(), 0), max(list.presets.count - 1, 0))
            mode = .presets(list)
        case .typing, .coloring, .asking: break
        }
    }

    /// Scrolls the list; the selection stays on the screen.
    private mutating func scrollList(by count: Int) {
        let height = max(EditorLayout(size).listRows, 1)
        top = min(max(top + count, 0), max(rows.count - height, 0))
        let wanted = min(max(cursor, top), min(top + height, rows.count) - 1)
        guard wanted != cursor, rows.indices.contains(wanted) else { return }
        cursor = wanted
        selectionChanged()
    }
}
