// Validates a list of assignments: collects the changes, the values for unregistered tweaks, and all problems.

/// One assignment of a source, a preset or an import.
package struct ConfigEntry: Sendable {
    /// The path as it was written.
    package let path: String
    /// The value; nil removes the source's value for this path.
    let content: StoredEntry.Content?
    package let line: Int
    let source: Source
    /// When the source says that it was set; nil for now.
    var time: Moment?

    /// Where entries come from. A file's name is shared by all its lines, so that they need no text each.
    enum Source: Equatable, Sendable {
        case origin(TweakOrigin)
        case file(String)

        /// The origin of a line.
        func origin(line: Int) -> TweakOrigin {
            switch self {
            case .origin(let origin): origin
            case .file(let name): TweakOrigin("\(name):\(line)")
            }
        }
    }

    package init(path: String, text: String, line: Int, origin: TweakOrigin) {
        self.path = path
        content = .text(text)
        self.line = line
        source = .origin(origin)
    }

    /// A line of a file; its origin is `FILE:LINE`.
    package init(path: String, text: String, line: Int, file: String) {
        self.path = path
        content = .text(text)
        self.line = line
        source = .file(file)
    }

    /// A value of a source that has no lines.
    package init(
        path: String, _ content: StoredEntry.Content?, origin: TweakOrigin, time: Moment? = nil
    ) {
        self.path = path
        self.content = content
        line = 0
        source = .origin(origin)
        self.time = time
    }

    /// The value as text, without quotes; empty if it is not a text.
    package var text: String { if case .text(let text)? = content { text } else { "" } }

    /// File and line, for `explain`.
    package var origin: TweakOrigin { source.origin(line: line) }
}

/// An error in a line.
package struct ConfigProblem: Error, Sendable, Equatable {
    package let line: Int
    package let error: TweakError

    package init(line: Int, error: TweakError) {
        self.line = line
        self.error = error
    }
}

/// The problems of a text: the first ones and the total count, so that a text full of errors uses bounded memory.
package struct ConfigProblems: Sendable, Equatable {
    /// The first problems, in line order.
    package private(set) var first: [ConfigProblem] = []
    /// The total number of problems.
    package private(set) var count = 0
    /// The size limit of `first`.
    private let limit: Int

    package init(_ problems: [ConfigProblem] = [], limit: Int = .max) {
        self.limit = limit
        for problem in problems { append(problem) }
    }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ problem: ConfigProblem) {
        if first.count < limit { first.append(problem) }
        count += 1
    }

    /// Both lists merged in line order; each must be in line order already.
    package func merged(with other: ConfigProblems) -> ConfigProblems {
        var all = self
        all.first = Array((first + other.first).sorted { $0.line < $1.line }.prefix(limit))
        all.count += other.count
        return all
    }
}

/// The rules for a list of assignments.
package struct AssignmentRules: Sendable {
    /// A line requires write access to its tweak.
    package var requiresWrite = true
    /// A line may set a secret.
    package var allowsSecrets = true
    /// A value without a registered tweak stays pending; otherwise it is an error.
    package var keepsUnknown = false
    /// Each assignment is judged by itself; otherwise the problems are those of the whole list.
    package var isEach = false
    /// The number of problems to list; further ones are only counted.
    package var listedProblems = Int.max
    /// The bytes of memory that pending values can use: they stay, while a program never reads most of them.
    package var pendingBytes = Int.max
    /// The layer that the values are for, and what it takes.
    var layer = LayerRules()

    /// The number of an import's problems to list; the next ones appear when these are fixed.
    package static let maxListedProblems = 100

    /// The lines of an import.
    package static let `import` = AssignmentRules(listedProblems: maxListedProblems)
    /// A preset that is loaded.
    package static let preset = AssignmentRules(allowsSecrets: false)
    /// A preset that is only compared.
    package static let comparison = AssignmentRules(requiresWrite: false, allowsSecrets: false, keepsUnknown: true)
}

/// A validated list of assignments. Changes nothing itself; its batch is committed like any other.
package struct AssignmentPlan: Sendable {
    /// A valid assignment.
    struct Step: Sendable {
        let node: TweakNode
        let prepared: Prepared
        let adjustment: TweakAdjustment
        let origin: TweakOrigin
        let time: Moment

        var change: TweakBatch.Change { .validated(prepared, adjustment) }
    }

    /// An assignment that was judged by itself, and is invalid.
    struct Refusal: Sendable {
        let node: TweakNode
        let entry: StoredEntry
        let reason: TweakError
    }

    private(set) var steps: [Step] = []
    private(set) var refusals: [Refusal] = []
    /// The tweaks whose values are removed.
    private(set) var removed: [TweakNode] = []
    /// Values whose tweak is not registered; nil removes one.
    private(set) var pending: [(path: TweakPath, value: PendingValue?)] = []
    private var pendingFile: PendingValue.File?
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
    private let time: Moment

    /// Validates the entries. The program's own checks may run, so hold no lock, and do not block a shared thread.
    /// - Parameters:
    ///   - known: Problems already found in other lines of the text.
    ///   - view: The visible part of the registry; hidden tweaks are neither reported nor changed.
    ///   - isCancelled: Polled every 256 entries. Once true, validation stops, and the plan must not be used.
    package init(
        _ entries: some Sequence<ConfigEntry>, _ rules: AssignmentRules, and known: [ConfigProblem] = [],
        _ view: TweakView, isCancelled: () -> Bool = { false }
    ) {
        self.rules = rules
        self.view = view
        time = view.registry.currentTime
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
        guard let content = entry.content else {
            if isFirst { removed.append(node) }
            return
        }
        do throws(TweakError) {
            let (prepared, adjustment) = try node.prepare(content, rules.layer)
            if !isFirst { return }
            steps.append(
                Step(
                    node: node, prepared: prepared, adjustment: adjustment, origin: entry.origin,
                    time: entry.time ?? time))
        } catch {
            if !rules.isEach { throw error }
            if isFirst { refusals.append(Refusal(node: node, entry: stored(entry, content, node.path), reason: error)) }
        }
    }

    private func stored(_ entry: ConfigEntry, _ content: StoredEntry.Content, _ path: TweakPath) -> StoredEntry {
        StoredEntry(path: path, content: content, origin: entry.origin, time: entry.time ?? time)
    }

    private mutating func addUnknown(_ entry: ConfigEntry) throws(TweakError) {
        let path = try? TweakPath(entry.path)
        if let path, !claim(path, entry.line) { return }
        guard rules.keepsUnknown, let path else { throw unknownTweak(entry.path) }
        guard let content = entry.content else {
            pending.append((path, nil))
            return
        }
        try keep(entry, content, path)
        if unknown.count < rules.listedProblems {
            unknown.append(ConfigProblem(line: entry.line, error: unknownTweak(entry.path)))
        }
    }

    private mutating func keep(
        _ entry: ConfigEntry, _ content: StoredEntry.Content, _ path: TweakPath
    ) throws(TweakError) {
        // Reported once; the other lines are still validated.
        if pendingBytes > rules.pendingBytes { return }
        let value = pendingValue(entry, content, path)
        pendingBytes += value.memorySize(path)
        if pendingBytes > rules.pendingBytes {
            throw TweakError(
                .tooMany,
                "the values of tweaks that are not registered take more than \(rules.pendingBytes) bytes of memory up "
                    + "to this line; remove the lines of tweaks that this program does not declare", path: path)
        }
        pending.append((path, value))
    }

    private mutating func pendingValue(
        _ entry: ConfigEntry, _ content: StoredEntry.Content, _ path: TweakPath
    ) -> PendingValue {
        guard case .text(let text) = content, entry.time == nil else { return .entry(stored(entry, content, path)) }
        let file = pendingFile.flatMap { $0.source == entry.source ? $0 : nil } ?? PendingValue.File(entry.source, time)
        pendingFile = file
        return .line(text: text, number: UInt32(clamping: entry.line), file)
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
        if rules.isEach { return false }
        let error = TweakError(
            .conflict, "\(path.token) is assigned in line \(first) already; keep one of them", path: path)
        problems.append(ConfigProblem(line: line, error: error))
        return false
    }
}
