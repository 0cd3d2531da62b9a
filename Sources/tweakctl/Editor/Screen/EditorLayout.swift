// How a screen is divided, by its size.

/// What goes where.
struct EditorLayout: Equatable {
    let columns: Int
    let rows: Int

    init(_ size: ScreenSize) { (columns, rows) = (size.columns, size.rows) }

    static let least = ScreenSize(columns: 40, rows: 8)

    var isTooSmall: Bool { columns < Self.least.columns || rows < Self.least.rows }

    /// With room for two columns the details stand at the right, else below.
    var isWide: Bool { columns >= 100 && rows >= 16 }

    /// The details at the right, without the wall.
    var sideColumns: Int { isWide ? min(columns * 2 / 5, 64) : 0 }

    /// The details below, with the line above them.
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

    /// Without the header, the line for remarks, and the footer.
    var listRows: Int { rows - 3 - lowerRows }

    /// Of a page that covers list and details.
    var pageRows: Int { rows - 4 }
}
