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

/// What becomes of a config file that names tweaks which are not registered.
package struct ConfigPolicy: Sendable {
    /// They are errors like the others; else they are held until they register.
    package var unknownIsError = false
    /// A value that changes in the file drops the override above it; else the override stays.
    package var fileWins = false

    package init(unknownIsError: Bool = false, fileWins: Bool = false) {
        self.unknownIsError = unknownIsError
        self.fileWins = fileWins
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
    private(set) var problems: [ConfigProblem] = []
    private var lines: [TweakPath: Int] = [:]
    private let time: ContinuousClock.Instant

    init(_ entries: [ConfigEntry], _ policy: ConfigPolicy, registry: TweakRegistry) {
        time = registry.currentTime
        for entry in entries {
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
        guard let path = try? TweakPath(entry.path) else { throw registry.unknown(entry.path) }
        guard note(path, entry) else { return }
        // Looking for what may have been meant compares with everything there is.
        let error =
            unknown.count < 20
            ? registry.unknown(entry.path)
            : TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(entry.path)); see ls or find")
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
