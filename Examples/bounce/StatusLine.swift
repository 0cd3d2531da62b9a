// Composes the status line: the address, an example to type, and the keys, as far as they fit.

import Tweaks

/// The line below the picture.
struct StatusLine {
    /// The command that connects to the program, such as `nc 127.0.0.1 7777`.
    let address: String?

    /// The text, most important parts first; parts that do not fit are omitted.
    /// - Parameters:
    ///   - screen: Its size in columns and rows.
    ///   - rate: Frames per second.
    ///   - label: The text of the label.
    func text(on screen: (columns: Int, rows: Int), rate: Int, label: String = Look.text.value) -> String {
        let size = Self.size(for: Lettering(label), on: screen)
        let suggestion = address.map { [$0, "try: Label/Text/Size = \(size)"] } ?? ["not listening"]
        let parts = suggestion + ["q quits", "p panel", "\(rate) fps", "space pauses", "r recenters", "s surprises"]
        var line = ""
        for part in parts {
            let longer = line.isEmpty ? " \(part)" : "\(line)   \(part)"
            if longer.count <= screen.columns { line = longer }
        }
        return line
    }

    /// The largest size that fits the screen and differs from the default, so that typing it has a visible effect.
    static func size(for lettering: Lettering, on screen: (columns: Int, rows: Int)) -> Int {
        let sizes = stride(from: 120, through: 4, by: -4).filter { $0 != Int(Look.size.defaultValue) }
        return sizes.first { size in
            // A pixel is as wide as a cell and half as high; the last row is the status line.
            size <= 2 * (screen.rows - 1) && lettering.width * size / Font.height <= screen.columns
        } ?? 4
    }
}
