// The bytes of a config file as assignments, with everything that is wrong in them.

package import Tweaks
import TweaksWire

/// A config file, parsed. What its values are worth is for the registry to say.
package struct ConfigFile: Sendable {
    private let lines: AssignmentLines
    private let name: String
    /// The lines that are no assignments.
    package var problems: [ConfigProblem] { lines.problems }
    /// The same, with how many there are in all.
    package var allProblems: ConfigProblems { lines.allProblems }

    /// More are not taken: a program has some hundred tweaks, and what it does not know is held.
    package static let mostAssignments = 100_000

    /// Parses the bytes of a file.
    /// - Parameters:
    ///   - name: What the file is called, for `explain`.
    ///   - listedProblems: So many are listed, and the others counted.
    ///   - isCancelled: Asked now and then; once it is, the rest is not looked at.
    package init(
        _ bytes: [UInt8], name: String, listedProblems: Int = .max, isCancelled: () -> Bool = { false }
    ) {
        self.name = name
        lines = AssignmentLines(
            bytes, in: "a config file", listedProblems: listedProblems, mostAssignments: Self.mostAssignments,
            isCancelled: isCancelled)
    }

    /// What it assigns. Each is made when it is asked for: of a large file they take more memory than the file.
    package var entries: some RandomAccessCollection<ConfigEntry> {
        lines.assignments.lazy.map { [name] assignment in
            ConfigEntry(
                path: assignment.path, text: assignment.text, line: assignment.line,
                origin: TweakOrigin("\(name):\(assignment.line)"))
        }
    }
}
