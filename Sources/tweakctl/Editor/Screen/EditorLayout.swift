// Divides the screen according to its size.

/// The layout of a screen.
struct EditorLayout: Equatable {
    let columns: Int
    let rows: Int

    init(_ size: ScreenSize) { (columns, rows) = (size.columns, size.rows) }

    static let minimum = ScreenSize(columns: 40, rows: 8)

    var isTooSmall: Bool { columns < Self.minimum.columns || rows < Self.minimum.rows }

    /// Whether the details are on the right of the list; otherwise they are below.
    var isWide: Bool { columns >= 100 && rows >= 16 }

    /// The width of the details on the right, without the divider.
    var sideColumns: Int { isWide ? min(columns * 2 / 5, 64) : 0 }

    /// The rows of the details below, with the rule above them.
    var lowerRows: Int {
        if isWide { return 0 }
        return switch rows {
        case 34...: 10
        case 22...: 7
        case 15...: 4
        case 11...: 2
        default: 0
        }
    }

    var listColumns: Int { isWide ? columns - sideColumns - 1 : columns }

    /// The rows of the list: all but the header, the notice, and the footer.
    var listRows: Int { rows - 3 - lowerRows }

    /// The rows of a page, which covers list and details.
    var pageRows: Int { rows - 4 }
}
