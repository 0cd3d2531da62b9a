// Loads a config file into the registry: at start, on request, and when the file changes.

import Dispatch
import Synchronization
package import Tweaks

/// Why a config file was rejected; nothing has changed.
package struct ReloadFailure: Error, Sendable, Equatable {
    /// The path of the file.
    package let path: String
    /// The first bad lines, in order; without a line number if the file itself is bad.
    package let problems: [Problem]
    /// The total number of problems.
    package let count: Int

    package struct Problem: Sendable, Equatable {
        package let line: Int?
        package let error: TweakError
    }

    /// `FILE:12: code text` for each listed problem, and the number of the others.
    package var lines: [String] {
        problems.map { problem in
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): \(problem.error)"
        } + more
    }

    /// `… and 900 more`, if not all are listed.
    package var more: [String] { count > problems.count ? ["… and \(count - problems.count) more"] : [] }
}

/// Reads one config file repeatedly, one reload at a time.
package final class ConfigReloader: Sendable {
    /// The events of reloads.
    package enum Event: Sendable {
        /// It was applied; also without changes, if the reload was requested.
        case reloaded(ConfigDifference)
        case failed(ReloadFailure)
        /// The file looks incomplete; the last good values stay in effect.
        case waiting(String)
    }

    /// Counts and results of reloads, for metrics.
    package struct Record: Sendable {
        package var reloads: UInt64 = 0
        package var failures: UInt64 = 0
        /// When a file was last applied.
        package var appliedAt: ContinuousClock.Instant?
        /// Why the last attempt failed; nil if it succeeded.
        package var failure: ReloadFailure?
        /// How many tweaks have a value from the file.
        package var count = 0
    }

    private struct State {
        /// The last content that was read, applied or not, to detect changes.
        var lastContent: FileContent?
        /// The last content for which waiting was reported.
        var reportedWait: FileContent?
        /// The unknown tweaks that were reported.
        var reportedUnknown: Set<String> = []
        var record = Record()
    }

    package let path: String
    private let policy: ConfigPolicy
    private let registry: TweakRegistry
    private let onEvent: @Sendable (Event) -> Void
    private let read: @Sendable (String) -> FileContent
    private let queue = DispatchQueue(label: "tweaks.reload")
    private let state = Mutex(State())
    private let isCancelled = Atomic(false)

    /// The maximum number of listed bad lines.
    package static let listedProblems = 100

    /// - Parameters:
    ///   - onEvent: Runs on the calling thread or on the reload queue.
    ///   - read: Reads the file; tests replace it.
    package init(
        path: String, policy: ConfigPolicy, registry: TweakRegistry,
        read: @escaping @Sendable (String) -> FileContent = { FileContent(path: $0) },
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.path = path
        var policy = policy
        policy.listedProblems = Self.listedProblems
        self.policy = policy
        self.registry = registry
        self.read = read
        self.onEvent = onEvent
    }

    /// Counts and results so far.
    package var record: Record { state.withLock { $0.record } }

    /// Ends a running reload and all later ones, so that a large file does not delay the end of the process.
    package func cancel() { isCancelled.store(true, ordering: .relaxed) }

    private var hasEnded: Bool { isCancelled.load(ordering: .relaxed) }

    // MARK: On request

    /// Reads the file now and applies it even if it is empty or looks incomplete.
    /// - Parameter dry: Reports the changes without applying them.
    /// - Throws: All problems; nothing has changed then.
    @discardableResult
    package func reload(dry: Bool = false) throws(ReloadFailure) -> ConfigDifference {
        let result = queue.sync { load(read(path), dry: dry) }
        if !dry { report(result) }
        return try result.get()
    }

    /// The same without waiting; `body` runs on the reload queue.
    package func reload(
        dry: Bool, then body: @escaping @Sendable (Result<ConfigDifference, ReloadFailure>) -> Void
    ) {
        queue.async { [self] in
            let result = load(read(path), dry: dry)
            if !dry { report(result) }
            body(result)
        }
    }

    // MARK: On a change of the file

    /// Checks whether the file has new, complete content, and applies it then.
    package func reloadIfChanged() {
        switch queue.sync(execute: checkForChanges) {
        case .nothing: break
        case .waiting(let reason): onEvent(.waiting("\(path) \(reason)"))
        case .applied(let result): report(result)
        }
    }

    private enum Check {
        case nothing
        case waiting(String)
        case applied(Result<ConfigDifference, ReloadFailure>)
    }

    private func checkForChanges() -> Check {
        let content = read(path)
        let (lastContent, reported) = state.withLock { ($0.lastContent, $0.reportedWait) }
        if content == lastContent {
            // The content is as expected; the next incomplete content is reported again.
            state.withLock { $0.reportedWait = nil }
            return .nothing
        }
        guard let reason = content.reasonToWait(after: lastContent) else { return .applied(load(content, dry: false)) }
        if content == reported { return .nothing }
        state.withLock { $0.reportedWait = content }
        return .waiting(reason)
    }

    // MARK: Applying

    private func load(_ content: FileContent, dry: Bool) -> Result<ConfigDifference, ReloadFailure> {
        let result: Result<ConfigDifference, ReloadFailure>
        switch content {
        case .bytes(let bytes): result = apply(bytes, dry: dry)
        case .missing: result = .failure(failure("there is no such file; create it, or correct its name"))
        case .unreadable(let reason): result = .failure(failure(reason))
        }
        if !dry { record(content, result) }
        return result
    }

    private func apply(_ bytes: [UInt8], dry: Bool) -> Result<ConfigDifference, ReloadFailure> {
        let file = ConfigFile(
            bytes, name: path, listedProblems: Self.listedProblems, isCancelled: { hasEnded })
        // Values are validated even if a line is not an assignment, so that every error is listed at once.
        let commits = !dry && file.problems.isEmpty && !hasEnded
        let (problems, difference) = registry.applyConfigFile(
            file.entries, policy, commit: commits, delivery: .executor, isCancelled: { hasEnded })
        // After a cancellation, the results can be incomplete.
        if hasEnded { return .failure(failure("the process ends; nothing is reloaded any more")) }
        let all = file.allProblems.merged(with: problems)
        if all.isEmpty { return .success(difference) }
        return .failure(
            ReloadFailure(
                path: path, problems: all.first.map { .init(line: $0.line, error: $0.error) }, count: all.count))
    }

    private func failure(_ reason: String) -> ReloadFailure {
        ReloadFailure(path: path, problems: [.init(line: nil, error: TweakError(.io, reason))], count: 1)
    }

    private func record(_ content: FileContent, _ result: Result<ConfigDifference, ReloadFailure>) {
        let now = registry.currentTime
        state.withLock { state in
            state.lastContent = content
            state.reportedWait = nil
            switch result {
            case .success(let difference):
                state.record.reloads += 1
                state.record.appliedAt = now
                state.record.failure = nil
                state.record.count = difference.count
            case .failure(let failure):
                state.record.failures += 1
                state.record.failure = failure
            }
        }
    }

    private func report(_ result: Result<ConfigDifference, ReloadFailure>) {
        switch result {
        case .failure(let failure): onEvent(.failed(failure))
        case .success(var difference):
            // Each unknown tweak is reported once, not at every reload.
            difference.unknown = state.withLock { state in
                difference.unknown.filter { state.reportedUnknown.insert($0.error.message).inserted }
            }
            onEvent(.reloaded(difference))
        }
    }
}

extension FileContent {
    /// Why changed content is not applied yet; nil if it looks complete.
    fileprivate func reasonToWait(after lastContent: FileContent?) -> String? {
        switch self {
        case .missing:
            return lastContent == nil ? nil : "is gone; its last values stay in effect until it is back"
        case .unreadable: return nil
        case .bytes(let bytes):
            if bytes.isEmpty { return "is empty; its last values stay in effect (the command reload empties them)" }
            if bytes.last == UInt8(ascii: "\n") { return nil }
            return "does not end with a line break, as if it were still being written; "
                + "its last values stay in effect (the command reload takes it as it is)"
        }
    }
}
