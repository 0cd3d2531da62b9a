// Implements import: shows what a file changes, asks, and writes it in parts.

import Synchronization
import Tweaks
import TweaksFleet
import TweaksSystem
import TweaksWire

/// The assignments of a file, and the problems of its lines.
struct ImportFile {
    let name: String
    private(set) var texts: [TextAssignment] = []
    /// The line of each assignment.
    private(set) var lines: [Int] = []
    private(set) var problems: [ImportProblem] = []
    /// The line of each path.
    private(set) var places: [TweakPath: Int] = [:]

    init(_ word: String) throws(Failure) {
        let file = InputFile(word)
        name = file.name
        let bytes = try file.read()
        let parsed = AssignmentLines(bytes, in: file.shownName)
        let count = parsed.assignments.count
        guard count <= FleetImport.maxValues else {
            throw Failure(
                .refused, "\(name): \(count) values are more than the \(FleetImport.maxValues) of a fleet; remove some")
        }
        problems = parsed.problems.map { ImportProblem(line: $0.line, text: $0.error.message) }
        let rawLines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in parsed.assignments {
            add(line, rawLines.indices.contains(line.line - 1) ? rawLines[line.line - 1] : [])
        }
        if texts.isEmpty, problems.isEmpty {
            throw Failure(.refused, "\(name): there are no lines PATH = VALUE in it")
        }
    }

    private mutating func add(_ assignment: AssignmentLines.Assignment, _ raw: ArraySlice<UInt8>) {
        let number = assignment.line
        do throws(TweakError) {
            let path = try TweakPath(assignment.path)
            if let earlier = places[path] {
                let text = "\(path.token) is in line \(earlier), too; leave one out"
                return problems.append(ImportProblem(line: number, text: text))
            }
            places[path] = number
            texts.append(TextAssignment(path: path, text: assignment.text, isQuoted: Self.hasQuotedValue(raw)))
            lines.append(number)
        } catch {
            problems.append(ImportProblem(line: number, text: error.message))
        }
    }

    /// Whether the value of a line is in quotes, and therefore text.
    private static func hasQuotedValue(_ line: ArraySlice<UInt8>) -> Bool {
        let bare = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        let tokens = bare.withUnsafeBufferPointer { (try? Tokenizer.tokens($0)) ?? [] }
        return tokens.count == 3 && tokens[2].isQuoted
    }
}

extension FleetClient {
    /// The number of problems and hints that are listed.
    private static let maxListed = 20

    func importFile() async throws(FleetRefusal) -> ExitCode {
        let file = try reading { () throws(Failure) in try ImportFile(arguments.words[0]) }
        let (plan, view) = try await plan(file)
        let difference = plan.difference(from: view)
        let parts = difference.parts(keys, by: fleet.by)
        show(difference, parts.count, of: file)
        if arguments.has(.dryRun) || parts.isEmpty {
            let receipt = difference.unwritten(view.header, isDryRun: arguments.has(.dryRun))
            report(receipt, nil, planned: parts.count, difference)
            return .ok
        }
        let changes = "\(difference.all.count.changes) of \(keys.prefix)/\(keys.name)"
        let question = "Write \(changes)\(Self.inParts(parts.count))?"
        let isYes = try reading { () throws(Failure) in
            try console.output.confirm(question, isYes: arguments.has(.yes))
        }
        guard isYes else { return .refused }
        try await write(plan, parts, difference)
        return .ok
    }

    /// The import of a file, and the state that it is planned for; throws if lines have problems.
    private func plan(_ file: ImportFile) async throws(FleetRefusal) -> (FleetImport, OperatorView) {
        let (parsed, unusable) = try await fleet.examine(file.texts, allowsNew: arguments.has(.new))
        let view = try await fleet.readState()
        let plan = FleetImport(parsed.assignments, lines: file.places, prunes: arguments.has(.prune))
        let difference = plan.difference(from: view)
        let problems =
            file.problems + unusable.map { ImportProblem(line: file.lines[$0.index], text: $0.reason) }
            + refusals(of: difference, parsed, file.places) + plan.problems(of: difference, in: view)
        try check(problems, of: file)
        show(parsed.notes)
        return (plan, view)
    }

    /// The values that builds or any fleet would refuse. What the fleet has already is not checked again.
    private func refusals(
        of difference: FleetImport.Difference, _ parsed: ParsedAssignments, _ places: [TweakPath: Int]
    ) -> [ImportProblem] {
        let changed = Set(difference.all.map(\.path))
        let refusals = arguments.has(.force) ? [] : parsed.refusals.filter { changed.contains($0.path) }
        return refusals.map { ImportProblem(line: places[$0.path] ?? 0, text: "\($0.text); --force sets it anyway") }
            + parsed.assignments.compactMap { assignment in
                assignment.problem.map { ImportProblem(line: places[assignment.path] ?? 0, text: $0) }
            }
    }

    private func show(_ notes: [String]) {
        for note in notes.prefix(Self.maxListed) { console.output.printRemark(note) }
        let more = notes.count - Self.maxListed
        if more > 0 { console.output.printRemark("\(more) more of these are not listed") }
    }

    /// Lists the problems and throws their number; a single one is thrown.
    private func check(_ problems: [ImportProblem], of file: ImportFile) throws(FleetRefusal) {
        let listed = problems.sorted { $0.line < $1.line }.prefix(Self.maxListed).map { problem in
            problem.line == 0 ? "\(file.name): \(problem.text)" : "\(file.name):\(problem.line): \(problem.text)"
        }
        guard let first = listed.first else { return }
        if problems.count == 1 { throw FleetRefusal(.refused, first) }
        for line in listed { console.output.reportProblem(line) }
        let shown = problems.count > listed.count ? ", of which \(listed.count) are listed" : ""
        throw FleetRefusal(.refused, "\(file.name): \(problems.count) problems\(shown); nothing is written")
    }

    /// Prints what the import adds, changes and removes.
    private func show(_ difference: FleetImport.Difference, _ parts: Int, of file: ImportFile) {
        if difference.lacking > 0 {
            console.output.printRemark(
                "\(file.name) lacks \(difference.lacking.values) of the fleet; --prune removes what it lacks")
        }
        if difference.unreadable > 0 {
            console.output.printRemark(
                "\(difference.unreadable.values) of the fleet cannot be read, and are kept; see status")
        }
        if console.isJSON { return }
        for (name, changes) in [
            ("added", difference.added), ("changed", difference.changed), ("removed", difference.removed),
        ] where !changes.isEmpty {
            console.print(["\(changes.count) \(name):"])
            console.print(
                rows: changes.map {
                    .init(path: "  " + $0.path.token, value: $0.new.shown, note: "was \($0.old.shown)")
                })
        }
    }

    private static func inParts(_ count: Int) -> String {
        count == 1 ? "" : ", in \(count) parts that processes apply one after the other"
    }

    // MARK: Writing

    private func write(
        _ plan: FleetImport, _ parts: [[FleetLogEntry.Change]], _ difference: FleetImport.Difference
    ) async throws(FleetRefusal) {
        Interruption.note()
        defer { Interruption.forget() }
        var count = 0
        let done = try await fleet.write(
            plan, parts, host: FleetIdentity.host, pid: Int64(ThisProcess.id),
            shouldStop: { Interruption.hasHappened }
        ) { part in
            count += 1
            guard parts.count > 1 else { return }
            let entry = part.sequence.map { "entry \($0)" } ?? "nothing to change"
            console.output.printRemark("part \(count) of \(parts.count): \(entry)")
        }
        if var receipt = done.parts.last {
            receipt.changes = done.parts.flatMap(\.changes)
            var seen: Set<String> = []
            receipt.notes = done.parts.flatMap(\.notes).filter { seen.insert($0).inserted }
            if let first = done.entries.first, let last = done.entries.last, first != last {
                receipt.notes.append("undo takes back one part at a time: entries \(first) to \(last), see history")
            }
            report(receipt, done, planned: parts.count, difference)
        }
        guard let failure = done.failure else { return }
        throw FleetRefusal(failure.kind, "\(failure.description); \(Self.extent(of: done))", etcd: failure.etcd)
    }

    /// What was written of an import that has failed.
    private static func extent(of done: ImportReceipt) -> String {
        if done.parts.isEmpty { return "nothing is written" }
        let entry = done.entries.last.map { ", to entry \($0)" } ?? ""
        return "\(done.parts.count) of \(done.planned) parts are written\(entry); "
            + "import the file again to write the others"
    }

    /// Prints the result.
    /// - Parameter done: The parts; nil if none was to be written.
    private func report(
        _ receipt: FleetReceipt, _ done: ImportReceipt?, planned: Int, _ difference: FleetImport.Difference
    ) {
        if !console.isJSON {
            let count = done?.parts.count ?? 0
            let what = count > 1 ? "import in \(count) parts" : "import"
            return console.print(receipt, keys, what, hasShownChanges: true)
        }
        let parts = (done?.parts ?? []).map { part in
            JSON.object([
                ("entry", part.sequence.map { .unsigned($0) } ?? .null), ("revision", .int(part.header.revision)),
                ("changes", .count(part.changes.count)),
            ])
        }
        console.print(
            .object(
                FleetConsole.fields(receipt, keys) + [
                    ("parts", .array(parts)), ("planned", .count(planned)),
                    ("isComplete", .bool(done.map { $0.failure == nil } ?? (planned == 0))),
                    ("lacking", .count(difference.lacking)), ("unreadable", .count(difference.unreadable)),
                ]))
    }
}

/// Whether the operator has asked the program to end, noted so that what is written can still be said.
enum Interruption {
    private static let flag = Atomic<Bool>(false)

    static var hasHappened: Bool { flag.load(ordering: .relaxed) }

    /// Notes the next SIGINT or SIGTERM; another one ends the program.
    static func note() {
        // The handler must not be the first to use the flag, since its initialization takes a lock.
        flag.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            _ = signal(number) { number in
                Interruption.flag.store(true, ordering: .relaxed)
                _ = signal(number, SIG_DFL)
            }
        }
    }

    /// Lets signals end the program again.
    static func forget() { for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_DFL) } }
}

extension Int {
    /// `1 change`, `2 changes`
    fileprivate var changes: String { "\(self) \(self == 1 ? "change" : "changes")" }
    /// `1 value`, `2 values`
    fileprivate var values: String { "\(self) \(self == 1 ? "value" : "values")" }
}
