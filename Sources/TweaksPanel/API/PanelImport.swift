// Parses the text of an HTTP import: assignments in the format of `export` and config files.

import Tweaks
import TweaksWire

extension Request {
    /// The limit of lines, with comments and blank lines: parsing them blocks all sessions.
    private static let lineLimit = 4 * PanelChange.limit

    /// The request that imports a text.
    /// - Parameter dry: Only report what would change.
    /// - Throws: Errors that are found before tweaks validate the values.
    static func assignments(of text: String, dry: Bool) throws(HTTPFailure) -> Request {
        let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
        if count > lineLimit {
            throw HTTPFailure(.tooMany, "the text has \(count) lines; at most \(lineLimit), so send it in parts")
        }
        let lines = AssignmentLines(
            Array(text.utf8), in: "an import", mostProblems: AssignmentRules.maxListedProblems + 1)
        if lines.assignments.isEmpty, lines.problems.isEmpty {
            throw HTTPFailure(.usage, "the text has no assignments; write lines such as Content/Text/Size = 72")
        }
        try PanelChange.checkCount(lines.assignments.count)
        return Request(
            .import, [], dry ? [.dry] : [], payload: .assignments(lines.assignments, problems: lines.problems))
    }
}
