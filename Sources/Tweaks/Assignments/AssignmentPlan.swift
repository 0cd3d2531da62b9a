// Validates a list of assignments: collects the changes, the values for unregistered tweaks, and all problems.

/// The rules for a source of assignments: config file, import or preset.
package struct AssignmentRules: Sendable {
    /// A line requires write access to its tweak.
    package var requiresWrite = true
    /// A line may set a secret.
    package var allowsSecrets = true
    /// A value without a registered tweak stays pending; otherwise it is an error.
    package var keepsUnknown = false
    /// The number of problems to list; further ones are only counted.
    package var listedProblems = Int.max
    /// The bytes of memory that pending values can use: they stay, while a program never reads most of them.
    package var pendingBytes = Int.max

    /// The number of an import's problems to list; the next ones appear when these are fixed.
    package static let maxListedProblems = 100

    /// The lines of an import.
    package static let `import` = AssignmentRules(listedProblems: maxListedProblems)
    /// A preset that is loaded.
    package static let preset = AssignmentRules(allowsSecrets: false)
    /// A preset that is only compared.
    package static let comparison = AssignmentRules(requiresWrite: false, allowsSecrets: false, keepsUnknown: true)
}

/// The validated lines of a config file, a preset or an import. Changes nothing itself; its batch is committed like
/// any other.
package struct AssignmentPlan: Sendable {
    /// A valid line.
    struct Step: Sendable {
        let node: TweakNode
        let prepared: Prepared
        let adjustment: TweakAdjustment
        let origin: TweakOrigin

        var change: TweakBatch.Change { .validated(prepared, adjustment) }
    }

    private(set) var steps: [Step] = []
    /// Values whose tweak is not registered.
    private(set) var pending: [(path: TweakPath, line: PendingLine)] = []
    private var pendingFile: PendingLine.File?
    private var pendingBytes = 0
    /// The `unknown-tweak` errors of the first pending values.
    private(set) var unknown: [ConfigProblem] = []
    /// All problems, in line order.
    package private(set) var problems: ConfigProblems
    /// The first line that assigns each path, valid or not.
    private var lines: [TweakPath: Int] = [:]
    private var suggestionsLeft = 20
    private let rules: AssignmentRules
    private let view: TweakView
    private let time: ContinuousClock.Instant

    /// Validates the entries. The program's own checks may run, so hold no lock, and do not block a shared thread.
    /// - Parameters:
    ///   - known: Problems already found in other lines of the text.
    ///   - view: The visible part of the registry; hidden tweaks are neither reported nor changed.
    ///   - isCancelled: Polled every 256 entries. Once true, validation stops, and the plan must not be used.
    package init(
        _ entries: some Sequence<ConfigEntry>, _ rules: AssignmentRules, and known: [ConfigProblem] = [],
        _ view: TweakView, isCancelled: () -> Bool = { false }
    ) {
        (self.rules, self.view, time) = (rules, view, view.registry.currentTime)
        problems = ConfigProblems(limit: rules.listedProblems)
        for (position, entry) in entries.enumerated() {
            if position % 256 == 255, isCancelled() { return }
            do throws(TweakError) {
                try add(entry)
            } catch {
                problems.append(ConfigProblem(line: entry.line, error: error))
            }
        }
        if known.isEmpty { return }
        problems = ConfigProblems(known, limit: rules.listedProblems).merged(with: problems)
    }

    /// The changes of the valid lines, in line order.
    package var batch: (batch: TweakBatch, nodes: [TweakNode]) {
        var batch = TweakBatch()
        for step in steps { batch.append(step.node, step.change) }
        return (batch, steps.map(\.node))
    }

    /// Whether a line names this path, even an invalid one.
    func names(_ path: TweakPath) -> Bool { lines[path] != nil }

    private mutating func add(_ entry: ConfigEntry) throws(TweakError) {
        guard let node = view.node(orFormerly: entry.path) else { return try addUnknown(entry) }
        let isFirst = claim(node.path, entry.line)
        if rules.requiresWrite, !view.rights.allows(.write, node.path) { throw view.rights.denied(.write, node.path) }
        if node.isSecret, node.isSettable, !rules.allowsSecrets {
            let remedy = "remove the line, and set it by hand"
            throw TweakError(
                .badValue, "\(node.path.token) is a secret, and presets hold none; \(remedy)", path: node.path)
        }
        let (prepared, adjustment) = try node.prepare(stored(entry, node.path), for: .configFile)
        if isFirst {
            steps.append(Step(node: node, prepared: prepared, adjustment: adjustment, origin: entry.origin))
        }
    }

    private func stored(_ entry: ConfigEntry, _ path: TweakPath) -> StoredEntry {
        StoredEntry(path: path, content: .text(entry.text), origin: entry.origin, time: time)
    }

    private mutating func addUnknown(_ entry: ConfigEntry) throws(TweakError) {
        let path = try? TweakPath(entry.path)
        if let path, !claim(path, entry.line) { return }
        guard rules.keepsUnknown, let path else { throw unknownTweak(entry.path) }
        try keep(entry, path)
        if unknown.count < rules.listedProblems {
            unknown.append(ConfigProblem(line: entry.line, error: unknownTweak(entry.path)))
        }
    }

    private mutating func keep(_ entry: ConfigEntry, _ path: TweakPath) throws(TweakError) {
        // Reported once; the other lines are still validated.
        if pendingBytes > rules.pendingBytes { return }
        let file = pendingFile.flatMap { $0.source == entry.source ? $0 : nil } ?? PendingLine.File(entry.source, time)
        let line = PendingLine(entry, file)
        pendingFile = file
        pendingBytes += line.memorySize(path)
        if pendingBytes > rules.pendingBytes {
            throw TweakError(
                .tooMany,
                "the values of tweaks that are not registered take more than \(rules.pendingBytes) bytes of memory up "
                    + "to this line; remove the lines of tweaks that this program does not declare", path: path)
        }
        pending.append((path, line))
    }

    /// Each suggestion compares with many paths, so their number is limited.
    private mutating func unknownTweak(_ path: String) -> TweakError {
        suggestionsLeft -= 1
        if suggestionsLeft >= 0 { return view.unknown(path) }
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(path)); see ls or find")
    }

    /// False when an earlier line assigns the path. The line's value is still validated and reported.
    private mutating func claim(_ path: TweakPath, _ line: Int) -> Bool {
        guard let first = lines[path] else {
            lines[path] = line
            return true
        }
        let error = TweakError(
            .conflict, "\(path.token) is assigned in line \(first) already; keep one of them", path: path)
        problems.append(ConfigProblem(line: line, error: error))
        return false
    }
}
