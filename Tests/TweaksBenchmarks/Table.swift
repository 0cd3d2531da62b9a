// How results are printed.

import Foundation

/// Prints rows under headings.
enum Table {
    static func heading(_ name: String) {
        write("\n\(pad(name, 58))\(right("ours", 13))\(right("theirs", 13))\(right("ratio", 9))   goal")
    }

    /// One comparison. `goal` says which ratio is promised.
    static func row(_ name: String, ours: Double, theirs: Double, unit: String, goal: String) {
        let ratio = format(ours / theirs)
        write(
            "\(pad(name, 58))\(right("\(format(ours)) \(unit)", 13))\(right("\(format(theirs)) \(unit)", 13))"
                + "\(right(ratio, 9))   \(goal)")
    }

    /// One figure with an absolute goal.
    static func row(_ name: String, value: Double, unit: String, goal: String) {
        write("\(pad(name, 58))\(right("\(format(value)) \(unit)", 13))\(right("", 22))   \(goal)")
    }

    static func skipped(_ name: String, _ reason: String) { write("\(pad(name, 58)) skipped: \(reason)") }

    // Unbuffered: a run that is cut short has shown what it measured.
    private static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

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
