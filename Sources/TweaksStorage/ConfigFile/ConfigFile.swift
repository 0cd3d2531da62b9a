// Parses a config file into assignments and errors.

package import Tweaks
import TweaksWire

/// A parsed config file. The registry validates its values.
package struct ConfigFile: Sendable {
    private let lines: AssignmentLines
    private let name: String
    /// The lines that are not assignments.
    package var problems: [ConfigProblem] { lines.problems }
    /// The same, with their total number.
    package var allProblems: ConfigProblems { lines.allProblems }

    /// Further assignments are rejected: a program has some hundred tweaks, and assignments to unknown ones stay in
    /// memory.
    package static let maxAssignments = 100_000

    /// Parses the bytes of a file.
    /// - Parameters:
    ///   - name: The file's name for `explain`.
    ///   - listedProblems: The maximum number of listed problems; others are only counted.
    ///   - isCancelled: Polled during parsing; if true, the rest is skipped.
    package init(
        _ bytes: [UInt8], name: String, listedProblems: Int = .max, isCancelled: () -> Bool = { false }
    ) {
        self.name = name
        lines = AssignmentLines(
            bytes, in: "a config file", listedProblems: listedProblems, maxAssignments: Self.maxAssignments,
            isCancelled: isCancelled)
    }

    /// The assignments, created on access: for a large file they take more memory than the file.
    package var entries: some RandomAccessCollection<ConfigEntry> {
        lines.assignments.lazy.map { [name] assignment in
            ConfigEntry(path: assignment.path, text: assignment.text, line: assignment.line, file: name)
        }
    }
}
