// Applies the assignments of a file to a process: all of them, or none.

import Tweaks
import TweaksSystem
import TweaksWire

/// `import FILE`. Prints what would change and asks, unless `--yes` is given; `--dry-run` only prints.
struct ImportCommand {
    private let target: Target
    private let console: Console
    private let file: InputFile
    private let isDry: Bool
    private let isConfirmed: Bool

    /// The usage line.
    static let usage = "[NAME] import FILE|- [--dry-run] [--yes]"

    /// The number of refused lines that are listed.
    private static let listedProblems = 20

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == Verb.import.rawValue else { return nil }
        let options: Set = ["--dry-run", "--yes", "-y"]
        let files = words.dropFirst().filter { !options.contains($0) }
        if let word = files.first(where: { $0.hasPrefix("-") && $0 != "-" }) {
            throw Invocation.notAnOption(word, of: "import", options.sorted(), or: "use tweakctl \(Self.usage)")
        }
        guard files.count == 1, let name = files.first else {
            throw Failure(.usage, "import: use tweakctl \(Self.usage)")
        }
        self.target = target
        self.console = console
        file = InputFile(name)
        isDry = words.contains("--dry-run")
        isConfirmed = !isDry && (words.contains("--yes") || words.contains("-y"))
        // The file is standard input, or the output is for a program.
        if !isDry, !isConfirmed, name == "-" || console.isJSON {
            throw Failure(.usage, "import: nothing can be asked here; use --yes, or --dry-run to see what would change")
        }
    }

    func run() throws(Failure) -> ExitCode {
        let lines = try assignments()
        let connection = try target.connect()
        if console.isJSON { try target.switchToJSON(connection) }
        if isConfirmed { return try apply(lines, on: connection) }
        let answers = try exchange(lines.map { "check \(Self.token($0.path)) \(Self.token($0.text))" }, on: connection)
        if report(answers, of: lines) { return .refused }
        let changes = "\(preview(answers, of: lines)) of \(Self.count(lines.count, "value")) would change"
        if isDry {
            console.printRemark(changes)
            return .ok
        }
        guard try console.confirm("\(target.name): \(changes). Apply the file?") else { return .refused }
        // What was shown is what is applied: the commit is refused if one of these values has changed since.
        return try apply(lines, on: connection, since: answers.first?.revision)
    }

    // MARK: The file

    private func assignments() throws(Failure) -> [AssignmentLines.Assignment] {
        let lines = AssignmentLines(try file.read(), in: "an import", listedProblems: Self.listedProblems)
        let problems = lines.allProblems
        if problems.count > 0 {
            for problem in problems.first {
                console.reportProblem("\(place(problem.line)): \(problem.error.message)")
            }
            throw Failure(.refused, Self.summary(problems.count))
        }
        if lines.assignments.isEmpty {
            throw Failure(.refused, "\(file.shownName): there are no lines PATH = VALUE in it")
        }
        return lines.assignments
    }

    private func place(_ line: Int) -> String { "\(file.shownName):\(line)" }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func summary(_ count: Int) -> String {
        "\(Self.count(count, "line")) \(count == 1 ? "is" : "are") wrong; nothing has changed"
    }

    // MARK: The process

    /// In quotes it is no keyword.
    private static func token(_ text: String) -> String { Quoting.json(text) }

    private func exchange(_ requests: [String], on connection: Connection) throws(Failure) -> [Answer] {
        try Pipeline.exchange(requests, with: target, on: connection, withFields: !console.isJSON)
    }

    /// Reports refused lines.
    /// - Returns: Whether there are any.
    private func report(_ answers: [Answer], of lines: [AssignmentLines.Assignment]) -> Bool {
        let refused = zip(answers, lines).filter(\.0.isRefusal)
        if refused.isEmpty { return false }
        for (answer, line) in refused.prefix(Self.listedProblems) { console.report(answer, place: place(line.line)) }
        console.reportProblem(Self.summary(refused.count))
        return true
    }

    /// Prints the values that would change. Of several lines for one tweak the last applies.
    /// - Returns: How many would change.
    private func preview(_ answers: [Answer], of lines: [AssignmentLines.Assignment]) -> Int {
        let last = Dictionary(lines.map { ($0.path, $0.line) }) { _, later in later }
        let effective = zip(answers, lines).filter { last[$1.path] == $1.line }.map(\.0)
        if console.isJSON {
            console.print(effective.map(\.status))
            return effective.count
        }
        let changed = effective.filter { answer in
            if answer.lacksFields { return answer.body.contains(where: Self.isChange) }
            // The value of a secret is not shown, and may be another one.
            guard let tweak = answer.tweaks.first, tweak["set"] == nil else { return true }
            return tweak["was"] != tweak["value"]
        }
        console.printChanges(changed)
        return changed.count
    }

    /// Whether a line of text shows a change; the value of a secret is not shown, and may be another one.
    private static func isChange(_ line: String) -> Bool {
        guard let row = TweakRow(line) else { return true }
        let isSecret = ["(set)", "(unset)"].contains(row.value)
        return isSecret || row.note != "was \(row.value)"
    }

    /// Applies the lines in one batch.
    /// - Parameter revision: The batch is refused if one of its tweaks has changed after it.
    private func apply(
        _ lines: [AssignmentLines.Assignment], on connection: Connection, since revision: UInt64? = nil
    ) throws(Failure) -> ExitCode {
        let sets = lines.map { "\(Self.token($0.path)) = \(Self.token($0.text))" }
        let begin = revision.map { "begin \($0)" } ?? "begin"
        let answers = try exchange([begin] + sets + ["commit"], on: connection)
        guard let begun = answers.first, let committed = answers.last else { return .refused }
        if begun.isRefusal {
            console.report(begun)
            return .refused
        }
        if report(Array(answers.dropFirst().dropLast()), of: lines) { return .refused }
        console.report(committed)
        return committed.isRefusal ? .refused : .ok
    }
}
