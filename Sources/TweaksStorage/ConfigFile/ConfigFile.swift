// The bytes of a config file as assignments, with everything that is wrong in them.

package import Tweaks
import TweaksWire

/// A config file, parsed. What its values are worth is for the registry to say.
package struct ConfigFile: Sendable {
    package let entries: [ConfigEntry]
    /// The lines that are no assignments.
    package let problems: [ConfigProblem]

    /// Parses the bytes of a file.
    /// - Parameter name: What the file is called, for `explain`.
    package init(_ bytes: [UInt8], name: String) {
        let lines = AssignmentLines(bytes, in: "a config file")
        entries = lines.assignments.map { assignment in
            ConfigEntry(
                path: assignment.path, text: assignment.text, line: assignment.line,
                origin: TweakOrigin("\(name):\(assignment.line)"))
        }
        problems = lines.problems
    }
}
