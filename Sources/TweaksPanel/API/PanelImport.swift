// A text of assignments, as `export` prints it and a config file holds it, taken in over HTTP.

import Tweaks
import TweaksWire

extension Request {
    /// Comments and blank lines count, too: everybody waits while they are read.
    private static let mostLines = 4 * PanelChange.most

    /// The assignments of a text.
    /// - Parameter dry: Nothing is changed.
    /// - Throws: Errors that are found without the tweaks' own judgement.
    static func assignments(of text: String, dry: Bool) throws(HTTPFailure) -> Request {
        let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
        if count > mostLines {
            throw HTTPFailure(.tooMany, "the text has \(count) lines; at most \(mostLines), so send it in parts")
        }
        let lines = AssignmentLines(
            Array(text.utf8), in: "an import", mostProblems: AssignmentRules.mostNamed + 1)
        if lines.assignments.isEmpty, lines.problems.isEmpty {
            throw HTTPFailure(.usage, "the text assigns nothing; write lines such as Content/Text/Size = 72")
        }
        try PanelChange.checkCount(lines.assignments.count)
        return Request(
            .import, [], dry ? [.dry] : [], payload: .assignments(lines.assignments, problems: lines.problems))
    }
}
