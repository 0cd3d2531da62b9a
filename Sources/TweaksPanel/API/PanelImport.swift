// A text of assignments, as `export` prints it and a config file holds it, taken in over HTTP.

import Tweaks
import TweaksWire

/// The assignments of a text.
struct PanelImport {
    /// So many of the lines that are wrong are named; who mends them sees the next ones.
    private static let mostNamed = 100
    /// Comments and blank lines count, too: everybody waits while they are read.
    private static let mostLines = 4 * PanelChange.most

    private let assignments: [AssignmentLines.Assignment]

    /// - Throws: Every line that is wrong, in one error.
    init(_ text: String) throws(HTTPFailure) {
        let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
        if count > Self.mostLines {
            throw HTTPFailure(.tooMany, "the text has \(count) lines; at most \(Self.mostLines), so send it in parts")
        }
        let lines = AssignmentLines(Array(text.utf8), in: "an import", mostProblems: Self.mostNamed + 1)
        assignments = lines.assignments
        let problems = lines.problems + Self.problems(lines.assignments)
        if let failure = Self.failure(problems.sorted { $0.line < $1.line }) { throw failure }
        if assignments.isEmpty {
            throw HTTPFailure(.usage, "the text assigns nothing; write lines such as Content/Text/Size = 72")
        }
        try PanelChange.checkCount(assignments.count)
    }

    /// Paths that there cannot be, and those that come twice.
    private static func problems(_ assignments: [AssignmentLines.Assignment]) -> [ConfigProblem] {
        var lines: [TweakPath: Int] = [:]
        var problems: [ConfigProblem] = []
        for assignment in assignments {
            do throws(TweakError) {
                let path = try TweakPath(assignment.path)
                if let first = lines.updateValue(assignment.line, forKey: path) {
                    lines[path] = first
                    throw TweakError(.conflict, "\(path.token) is assigned in line \(first) already; keep one of them")
                }
            } catch {
                problems.append(ConfigProblem(line: assignment.line, error: error))
            }
        }
        return problems
    }

    private static func failure(_ problems: [ConfigProblem]) -> HTTPFailure? {
        guard let first = problems.first else { return nil }
        let isMore = problems.count > mostNamed
        let count = problems.count == 1 ? "1 line is" : isMore ? "many lines are" : "\(problems.count) lines are"
        let named = problems.prefix(mostNamed).map { "line \($0.line): \($0.error)" }
        let rest = isMore ? ["… and more; mend these first"] : []
        let lines = (["\(count) wrong; nothing has changed"] + named + rest).joined(separator: "\n")
        // A line may be an unknown command; this path is known.
        return HTTPFailure(first.error.code == .unknownCommand ? .usage : first.error.code, lines)
    }

    /// The requests that carry it out.
    /// - Parameter dry: Nothing is changed.
    func script(dry: Bool) -> PanelScript {
        let changes = assignments.map { ($0.path, Request.Change.assignExactly($0.text)) }
        let isBatch = !dry && changes.count > 1
        let requests: [Request] = changes.map { dry ? .check(path: $0, $1) : .set(path: $0, $1) }
        var script = PanelScript(isBatch ? [.begin(revision: nil)] + requests + [.commit] : requests)
        script.shows = dry ? .all : .last
        script.isBatch = isBatch
        for (position, assignment) in assignments.enumerated() {
            script.lines[position + (isBatch ? 1 : 0)] = assignment.line
        }
        return script
    }
}
