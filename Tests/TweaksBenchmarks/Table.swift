// Prints the results of measurements as a table.

import Foundation

/// Writes a line to standard output without buffering, so that a run that is cut short has shown its results.
func writeLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Prints rows under headings.
enum Table {
    static func heading(_ name: String) {
        writeLine("\n\(pad(name, 58))\(right("ours", 13))\(right("theirs", 13))\(right("ratio", 9))   goal")
    }

    /// Prints a comparison. `goal` is the promised ratio.
    static func row(_ name: String, ours: Double, theirs: Double, unit: String, goal: String) {
        let ratio = format(ours / theirs)
        writeLine(
            "\(pad(name, 58))\(right("\(format(ours)) \(unit)", 13))\(right("\(format(theirs)) \(unit)", 13))"
                + "\(right(ratio, 9))   \(goal)")
    }

    /// Prints one value with an absolute goal.
    static func row(_ name: String, value: Double, unit: String, goal: String) {
        writeLine("\(pad(name, 58))\(right("\(format(value)) \(unit)", 13))\(right("", 22))   \(goal)")
    }

    /// Prints a comparison of a percentile of times in nanoseconds, as microseconds.
    static func row(_ name: String, ours: [Double], theirs: [Double], _ fraction: Double, goal: String) {
        row(
            name, ours: Measure.percentile(ours, fraction) / 1_000,
            theirs: Measure.percentile(theirs, fraction) / 1_000, unit: "µs", goal: goal)
    }

    static func skipped(_ name: String, _ reason: String) { writeLine("\(pad(name, 58)) skipped: \(reason)") }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func format(_ value: Double) -> String {
        value >= 1_000 ? String(format: "%.0f", value) : String(format: "%.3g", value)
    }
}
