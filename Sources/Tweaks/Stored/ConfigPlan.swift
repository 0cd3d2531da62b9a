// A config file's assignments, judged: what each tweak's layer will be, and everything that is wrong.

import Synchronization

/// One assignment of a config file.
package struct ConfigEntry: Sendable {
    /// The path as it stands there.
    package let path: String
    /// The value, one token without its quotes.
    package let text: String
    package let line: Int
    /// File and line, for `explain`.
    package let origin: TweakOrigin

    package init(path: String, text: String, line: Int, origin: TweakOrigin) {
        self.path = path
        self.text = text
        self.line = line
        self.origin = origin
    }
}

/// What is wrong with a line of a config file.
package struct ConfigProblem: Error, Sendable, Equatable {
    package let line: Int
    package let error: TweakError

    package init(line: Int, error: TweakError) {
        self.line = line
        self.error = error
    }
}

/// The problems of a text: the first ones and their number, so that a text of nothing else does not fill the memory.
package struct ConfigProblems: Sendable, Equatable {
    /// In the order of the lines.
    package private(set) var first: [ConfigProblem] = []
    /// How many there are in all.
    package private(set) var count = 0
    /// So many are kept.
    private let limit: Int

    package init(limit: Int = .max) { self.limit = limit }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ problem: ConfigProblem) {
        if first.count < limit { first.append(problem) }
        count += 1
    }

    /// Both, in the order of the lines; of each the problems are in order.
    package func merged(with other: ConfigProblems) -> ConfigProblems {
        var all = self
        all.first = Array((first + other.first).sorted { $0.line < $1.line }.prefix(limit))
        all.count += other.count
        return all
    }
}

/// What becomes of a config file that names tweaks which are not registered.
package struct ConfigPolicy: Sendable {
    /// They are errors like the others; else they are held until they register.
    package var unknownIsError = false
    /// A value that changes in the file drops the override above it; else the override stays.
    package var fileWins = false
    /// So many problems are listed; the others are counted.
    package var listedProblems = Int.max

    package init(unknownIsError: Bool = false, fileWins: Bool = false, listedProblems: Int = .max) {
        self.unknownIsError = unknownIsError
        self.fileWins = fileWins
        self.listedProblems = listedProblems
    }
}

/// All assignments of a file, judged outside the lock.
struct ConfigPlan {
    struct Step {
        let node: TweakNode
        let prepared: Prepared
        let origin: TweakOrigin
    }

    private(set) var steps: [Step] = []
    private(set) var held: [StoredEntry] = []
    /// What was said about each held entry.
    private(set) var unknown: [ConfigProblem] = []
    private(set) var problems: ConfigProblems
    private var lines: [TweakPath: Int] = [:]
    private let time: ContinuousClock.Instant

    /// - Parameter isCancelled: Asked now and then; once it is, the rest is not judged, and nothing may come of it.
    init(
        _ entries: some Sequence<ConfigEntry>, _ policy: ConfigPolicy, registry: TweakRegistry,
        isCancelled: () -> Bool = { false }
    ) {
        time = registry.currentTime
        problems = ConfigProblems(limit: policy.listedProblems)
        for (position, entry) in entries.enumerated() {
            if position % 256 == 255, isCancelled() { return }
            do throws(TweakError) {
                try add(entry, policy, registry)
            } catch {
                problems.append(ConfigProblem(line: entry.line, error: error))
            }
        }
    }

    private mutating func add(
        _ entry: ConfigEntry, _ policy: ConfigPolicy, _ registry: TweakRegistry
    ) throws(TweakError) {
        guard let node = registry.node(orFormerly: entry.path) else { return try hold(entry, policy, registry) }
        let isFirst = note(node.path, entry)
        let stored = StoredEntry(path: node.path, content: .text(entry.text), origin: entry.origin, time: time)
        let step = Step(node: node, prepared: try node.prepare(stored).prepared, origin: entry.origin)
        if isFirst { steps.append(step) }
    }

    private mutating func hold(
        _ entry: ConfigEntry, _ policy: ConfigPolicy, _ registry: TweakRegistry
    ) throws(TweakError) {
        // Looking for what may have been meant compares with everything there is.
        let error =
            unknown.count + problems.count < 20
            ? registry.unknown(entry.path)
            : TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(entry.path)); see ls or find")
        guard let path = try? TweakPath(entry.path) else { throw error }
        guard note(path, entry) else { return }
        if policy.unknownIsError { throw error }
        unknown.append(ConfigProblem(line: entry.line, error: error))
        held.append(StoredEntry(path: path, content: .text(entry.text), origin: entry.origin, time: time))
    }

    /// False when the file has a value for it already. What else is wrong with the line is said, too.
    private mutating func note(_ path: TweakPath, _ entry: ConfigEntry) -> Bool {
        guard let first = lines[path] else {
            lines[path] = entry.line
            return true
        }
        let error = TweakError(
            .conflict, "\(path.token) is assigned in line \(first) already; keep one of them", path: path)
        problems.append(ConfigProblem(line: entry.line, error: error))
        return false
    }
}

extension TweakRegistry {
    /// The tweak with this path, or the one that had it in an earlier version of the program.
    func node(orFormerly path: String) -> TweakNode? {
        self[path]?.node ?? node(formerly: path)
    }

    /// The tweak that had this path in an earlier version of the program.
    func node(formerly path: String) -> TweakNode? {
        state.withLock { state in
            state.formerly.isEmpty ? nil : (try? TweakPath(path)).flatMap { state.formerly[$0] }
        }
    }
}
