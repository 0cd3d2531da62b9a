// Takes a config file into the registry: at start, on request, and when the file has changed.

import Dispatch
import Synchronization
package import Tweaks

/// Why a config file was not taken; nothing has changed.
package struct ReloadFailure: Error, Sendable, Equatable {
    /// The file.
    package let path: String
    /// The first lines that are wrong, in order; without a line where the file itself is.
    package let problems: [Problem]
    /// How many there are in all.
    package let count: Int

    package struct Problem: Sendable, Equatable {
        package let line: Int?
        package let error: TweakError
    }

    /// `FILE:12: code text` for each problem that is listed, and how many there are more.
    package var lines: [String] {
        problems.map { problem in
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): \(problem.error)"
        } + more
    }

    /// `… and 900 more`, where not all are listed.
    package var more: [String] { count > problems.count ? ["… and \(count - problems.count) more"] : [] }
}

/// Reads one config file again and again. One reload at a time, whoever asks.
package final class ConfigReloader: Sendable {
    /// What there is to tell about reloads.
    package enum Event: Sendable {
        /// It was taken; also when that changed nothing, if somebody has asked for it.
        case reloaded(ConfigDifference)
        case failed(ReloadFailure)
        /// It looks like a file that somebody is still writing; the last good values stay.
        case waiting(String)
    }

    /// How it went so far, for figures.
    package struct Record: Sendable {
        package var reloads: UInt64 = 0
        package var failures: UInt64 = 0
        /// When a file was last taken.
        package var takenAt: ContinuousClock.Instant?
        /// Why the last attempt failed; nil when it succeeded.
        package var failure: ReloadFailure?
        /// How many tweaks have a value from the file.
        package var count = 0
    }

    private struct State {
        /// What was last looked at, taken or not: decides whether there is news.
        var seen: FileContent?
        /// What was last said about waiting.
        var waitingFor: FileContent?
        /// The lines that named unknown tweaks and were said.
        var saidUnknown: Set<String> = []
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

    /// So many lines that are wrong are listed.
    package static let listedProblems = 100

    /// - Parameters:
    ///   - onEvent: Runs on the thread that asked, or on the reload queue.
    ///   - read: How the file is read; tests bring their own.
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

    /// How it went so far.
    package var record: Record { state.withLock { $0.record } }

    /// Ends a reload that is under way, and all later ones: a large file must not keep a process from ending.
    package func cancel() { isCancelled.store(true, ordering: .relaxed) }

    private var hasEnded: Bool { isCancelled.load(ordering: .relaxed) }

    // MARK: On request

    /// Reads the file now and takes it at its word, empty or not.
    /// - Parameter dry: Only says what would happen.
    /// - Throws: Everything that is wrong; nothing has changed then.
    @discardableResult
    package func reload(dry: Bool = false) throws(ReloadFailure) -> ConfigDifference {
        let result = queue.sync { take(read(path), dry: dry) }
        if !dry { tell(result) }
        return try result.get()
    }

    /// The same without waiting; `body` runs on the reload queue.
    package func reload(
        dry: Bool, then body: @escaping @Sendable (Result<ConfigDifference, ReloadFailure>) -> Void
    ) {
        queue.async { [self] in
            let result = take(read(path), dry: dry)
            if !dry { tell(result) }
            body(result)
        }
    }

    // MARK: On a change of the file

    /// Looks whether the file holds something new that is complete, and takes it then.
    package func look() {
        switch queue.sync(execute: lookNow) {
        case .nothing: break
        case .waiting(let reason): onEvent(.waiting("\(path) \(reason)"))
        case .taken(let result): tell(result)
        }
    }

    private enum Look {
        case nothing
        case waiting(String)
        case taken(Result<ConfigDifference, ReloadFailure>)
    }

    private func lookNow() -> Look {
        let content = read(path)
        let (seen, said) = state.withLock { ($0.seen, $0.waitingFor) }
        if content == seen {
            // It is as it should be; what happens to it next is news again.
            state.withLock { $0.waitingFor = nil }
            return .nothing
        }
        guard let reason = content.reasonToWait(after: seen) else { return .taken(take(content, dry: false)) }
        if content == said { return .nothing }
        state.withLock { $0.waitingFor = content }
        return .waiting(reason)
    }

    // MARK: Taking

    private func take(_ content: FileContent, dry: Bool) -> Result<ConfigDifference, ReloadFailure> {
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
        // Judged even if a line is no assignment, so that every error is listed at once.
        let commits = !dry && file.problems.isEmpty && !hasEnded
        let (problems, difference) = registry.applyConfigFile(
            file.entries, policy, commit: commits, delivery: .carrier, isCancelled: { hasEnded })
        // What was looked at by then may be less than all.
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
            state.seen = content
            state.waitingFor = nil
            switch result {
            case .success(let difference):
                state.record.reloads += 1
                state.record.takenAt = now
                state.record.failure = nil
                state.record.count = difference.count
            case .failure(let failure):
                state.record.failures += 1
                state.record.failure = failure
            }
        }
    }

    private func tell(_ result: Result<ConfigDifference, ReloadFailure>) {
        switch result {
        case .failure(let failure): onEvent(.failed(failure))
        case .success(var difference):
            // Each unknown tweak is said once, not at every reload.
            difference.unknown = state.withLock { state in
                difference.unknown.filter { state.saidUnknown.insert($0.error.message).inserted }
            }
            onEvent(.reloaded(difference))
        }
    }
}

extension FileContent {
    /// Why a file that was noticed is left alone for now; nil when it looks complete.
    fileprivate func reasonToWait(after seen: FileContent?) -> String? {
        switch self {
        case .missing:
            return seen == nil ? nil : "is gone; its last values stay in effect until it is back"
        case .unreadable: return nil
        case .bytes(let bytes):
            if bytes.isEmpty { return "is empty; its last values stay in effect (the command reload empties them)" }
            if bytes.last == UInt8(ascii: "\n") { return nil }
            return "does not end with a line break, as if it were still being written; "
                + "its last values stay in effect (the command reload takes it as it is)"
        }
    }
}
