// Judges a list of assignments: what each line sets, what waits for its tweak, and everything that is wrong.

/// What differs between the sources of assignments.
package struct AssignmentRules: Sendable {
    /// A line takes the right to write its tweak.
    package var needsWrite = true
    /// A line may set a secret.
    package var takesSecrets = true
    /// A path without a tweak waits for one; else it is an error.
    package var holdsUnknown = false
    /// So many problems are listed; the others are counted.
    package var listedProblems = Int.max

    /// So many of an import's problems are named; who mends them sees the next ones.
    package static let mostNamed = 100

    /// The lines of an import.
    package static let `import` = AssignmentRules(listedProblems: mostNamed)
    /// A preset that is loaded.
    package static let preset = AssignmentRules(takesSecrets: false)
    /// A preset that is only compared.
    package static let comparison = AssignmentRules(needsWrite: false, takesSecrets: false, holdsUnknown: true)
}

/// The lines of a config file, a preset or an import, judged. Makes no change; what comes of it is committed as
/// everything else is.
package struct AssignmentPlan: Sendable {
    /// A line that can be taken.
    struct Step: Sendable {
        let node: TweakNode
        let prepared: Prepared
        let adjustment: TweakAdjustment
        let origin: TweakOrigin

        var change: TweakBatch.Change { .judged(prepared, adjustment) }
    }

    private(set) var steps: [Step] = []
    /// What waits for its tweak.
    private(set) var held: [StoredEntry] = []
    /// What is said about each of these.
    private(set) var unknown: [ConfigProblem] = []
    /// Everything that is wrong, in the order of the lines.
    package private(set) var problems: ConfigProblems
    /// Where each path is assigned first, be it well or badly.
    private var lines: [TweakPath: Int] = [:]
    private var suggestionsLeft = 20
    private let rules: AssignmentRules
    private let view: TweakView
    private let time: ContinuousClock.Instant

    /// Judges; the program's own checks may run here, so never under a lock, nor on a thread that others wait for.
    /// - Parameters:
    ///   - known: What is wrong with the other lines of the text.
    ///   - view: What is seen of the registry: nothing else is told of, and nothing else changed.
    ///   - isCancelled: Asked now and then; once it is, the rest is not judged, and nothing may come of it.
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

    /// The changes that the good lines ask for, in their order.
    package var batch: (batch: TweakBatch, nodes: [TweakNode]) {
        var batch = TweakBatch()
        for step in steps { batch.append(step.node, step.change) }
        return (batch, steps.map(\.node))
    }

    /// Whether a line names this path, even one that cannot be taken.
    func names(_ path: TweakPath) -> Bool { lines[path] != nil }

    private mutating func add(_ entry: ConfigEntry) throws(TweakError) {
        guard let node = view.node(orFormerly: entry.path) else { return try hold(entry) }
        let isFirst = claim(node.path, entry.line)
        if rules.needsWrite, !view.rights.allows(.write, node.path) { throw view.rights.denied(.write, node.path) }
        if node.isSecret, node.isSettable, !rules.takesSecrets {
            let remedy = "take the line out, and set it by hand"
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

    private mutating func hold(_ entry: ConfigEntry) throws(TweakError) {
        let path = try? TweakPath(entry.path)
        if let path, !claim(path, entry.line) { return }
        let error = notThere(entry.path)
        guard rules.holdsUnknown, let path else { throw error }
        unknown.append(ConfigProblem(line: entry.line, error: error))
        held.append(stored(entry, path))
    }

    /// Looking for what may have been meant compares with everything there is, so not for each of very many.
    private mutating func notThere(_ path: String) -> TweakError {
        suggestionsLeft -= 1
        if suggestionsLeft >= 0 { return view.unknown(path) }
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(path)); see ls or find")
    }

    /// False when an earlier line assigns it. What is wrong with its value is said, too.
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
