// Loads a config file into the registry: at start, on request, and when the file changes.

package import Dispatch
import Synchronization
package import Tweaks
import TweaksSystem

/// Reads one config file repeatedly, one reload at a time.
package final class ConfigReloader: Sendable {
    /// The events of reloads.
    package enum Event: Sendable {
        /// It was applied; also without changes, if the reload was requested.
        case reloaded(LayerDifference)
        case failed(ReloadFailure)
        /// The file looks incomplete; the last good values stay in effect.
        case waiting(String)
    }

    /// Counts and results of reloads, for metrics.
    package struct Record: Sendable {
        package var reloads: UInt64 = 0
        package var failures: UInt64 = 0
        /// When a file was last applied.
        package var appliedAt: Moment?
        /// Why the last attempt failed; nil if it succeeded.
        package var failure: ReloadFailure?
        /// How many tweaks have a value from the file.
        package var count = 0
    }

    private struct State {
        /// The last content that was read, applied or not, to detect changes.
        var lastContent: FileContent?
        /// The file of the last reading.
        var lastFile: ResolvedPath.Identity?
        /// The last reading for which waiting was reported, and its time.
        var waiting: (reading: FileReading, since: Moment)?
        /// The unknown tweaks of the last file: the listed ones, and the number of others.
        var reportedUnknown: (listed: Set<String>, others: Int) = ([], 0)
        var record = Record()
        /// The result of the first reading, until it is reported.
        var start: Result<LayerDifference, ReloadFailure>?
        var applied = AppliedLines()
    }

    package let path: String
    private let policy: LayerPolicy
    private let registry: TweakRegistry
    private let onEvent: @Sendable (Event) -> Void
    private let read: @Sendable (String) -> FileReading
    private let schedule: Schedule
    private let queue = DispatchQueue(label: "tweaks.reload")
    private let state = Mutex(State())
    private let isCancelled = Atomic(false)

    /// The maximum number of listed bad lines.
    package static let listedProblems = 100

    /// A file whose last line has no end is taken when it has not changed for this time.
    package static let settlingTime = Duration.seconds(10)
    /// Calls a body on a queue after a delay.
    package typealias Schedule = @Sendable (DispatchQueue, Duration, @escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - onEvent: Runs on the calling thread or on the reload queue.
    ///   - read: Reads the file; tests replace it.
    ///   - schedule: Waits; tests replace it.
    package init(
        path: String, policy: LayerPolicy, registry: TweakRegistry,
        read: @escaping @Sendable (String) -> FileReading = { FileReading(path: $0) },
        schedule: @escaping Schedule = { queue, delay, body in
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1))), execute: body)
        },
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.path = path
        var policy = policy
        policy.listedProblems = Self.listedProblems
        self.policy = policy
        self.registry = registry
        self.read = read
        self.schedule = schedule
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
    package func reload(dry: Bool = false) throws(ReloadFailure) -> LayerDifference {
        let result = queue.sync { load(read(path), dry: dry) }
        if !dry { report(result) }
        return try result.get()
    }

    // MARK: At the start

    /// Reads the file for the first time and begins with its values; ``reportStart()`` reports the result.
    package func start() throws(ReloadFailure) {
        let result = queue.sync { load(read(path), dry: false, isStart: true) }
        state.withLock { $0.start = result }
        _ = try result.get()
    }

    /// Reports the result of ``start()``, once the revision continues from that of the previous run.
    package func reportStart() {
        guard let result = state.withLock({ $0.start.take() }) else { return }
        report(
            result.map { [registry] difference in
                var difference = difference
                difference.revision = registry.revision
                return difference
            })
    }

    /// Records how the file has changed since the previous run, and from now on keeps a copy of its lines for the next one,
    /// without secrets.
    /// - Parameter directory: The state directory, whose lock this process holds; nil if there is none. The copy is private,
    ///   as the overrides are.
    /// - Returns: The values of the file that could not be compared with those of the previous run; nil if all could.
    package func continueRun(in directory: String?) -> [TweakHistoryEntry.Change]? {
        queue.sync {
            guard let directory else { return registry.takeValues(of: .configFile) }
            defer { saveCopy() }
            let copy = "\(directory)/config.last"
            let applied = state.withLock { state in
                state.applied.path = copy
                return state.applied.bytes
            }
            guard let earlier = AppliedLines.content(of: copy) else { return registry.takeValues(of: .configFile) }
            if earlier == applied { return nil }
            let unknown = registry.recordChanges(
                of: .configFile, since: ConfigFile(earlier, name: path).entries)
            return unknown.isEmpty ? nil : unknown
        }
    }

    /// A copy that cannot be written is of no consequence but for the next start, which records nothing or a change twice.
    private func saveCopy() {
        guard let (path, bytes) = state.withLock({ $0.applied.unsaved }) else { return }
        let (directory, name) = Folder.split(path)
        guard let folder = try? Folder(directory), (try? folder.replace(name, with: bytes)) != nil else { return }
        state.withLock { $0.applied.saved = bytes }
    }

    /// The same without waiting; `body` runs on the reload queue.
    package func reload(
        dry: Bool, then body: @escaping @Sendable (Result<LayerDifference, ReloadFailure>) -> Void
    ) {
        queue.async { [self] in
            let result = load(read(path), dry: dry)
            if !dry { report(result) }
            body(result)
        }
    }

    // MARK: On a change of the file

    /// Checks whether the file has new, complete content, and applies it then.
    package func reloadIfChanged() { report(queue.sync { checkForChanges() }) }

    private enum Check {
        case nothing
        case waiting(String)
        case applied(Result<LayerDifference, ReloadFailure>)
    }

    /// - Parameter isScheduled: Whether this is the check at the end of the settling time.
    private func checkForChanges(isScheduled: Bool = false) -> Check {
        let reading = read(path)
        let (lastContent, lastFile, waiting) = state.withLock { state in
            defer { state.lastFile = reading.file }
            return (state.lastContent, state.lastFile, state.waiting)
        }
        if reading.content == lastContent {
            // The content is as expected; the next incomplete content is reported again.
            state.withLock { $0.waiting = nil }
            return .nothing
        }
        guard let reason = reading.content.reasonToWait(after: lastContent) else { return apply(reading) }
        if let waiting, waiting.reading == reading {
            return goOnWaiting(reading, reason, since: waiting.since, isScheduled: isScheduled)
        }
        // A program that replaces a file writes the new one first.
        if reason.canSettle, let lastFile, let file = reading.file, file != lastFile { return apply(reading) }
        return beginWaiting(reading, reason, after: waiting?.reading)
    }

    private func goOnWaiting(
        _ reading: FileReading, _ reason: ReasonToWait, since: Moment, isScheduled: Bool
    ) -> Check {
        let left = since + Self.settlingTime - registry.currentTime
        if reason.canSettle, left <= .zero { return apply(reading) }
        if isScheduled { checkAgain(after: left, waitingSince: since) }
        return .nothing
    }

    private func beginWaiting(_ reading: FileReading, _ reason: ReasonToWait, after earlier: FileReading?) -> Check {
        let now = registry.currentTime
        state.withLock { $0.waiting = (reading, now) }
        if reason.canSettle { checkAgain(after: Self.settlingTime, waitingSince: now) }
        // Other bytes of the same file are not reported again.
        return earlier?.content == reading.content ? .nothing : .waiting(reason.text)
    }

    private func apply(_ reading: FileReading) -> Check { .applied(load(reading, dry: false)) }

    /// A check that was scheduled for earlier content does nothing.
    private func checkAgain(after delay: Duration, waitingSince since: Moment) {
        schedule(queue, delay) { [weak self] in
            guard let self, !hasEnded, state.withLock({ $0.waiting?.since }) == since else { return }
            report(checkForChanges(isScheduled: true))
        }
    }

    private func report(_ check: Check) {
        switch check {
        case .nothing: break
        case .waiting(let reason): onEvent(.waiting("\(path) \(reason)"))
        case .applied(let result): report(result)
        }
    }

    // MARK: Applying

    private func load(
        _ reading: FileReading, dry: Bool, isStart: Bool = false
    ) -> Result<LayerDifference, ReloadFailure> {
        let result: Result<LayerDifference, ReloadFailure>
        switch reading.content {
        case .bytes(let bytes): result = apply(bytes, dry: dry, isStart: isStart)
        case .missing: result = .failure(failure("there is no such file; create it, or correct its name"))
        case .unreadable(let reason): result = .failure(failure(reason))
        }
        if !dry {
            record(reading, result)
            saveCopy()
        }
        return result
    }

    private func apply(_ bytes: [UInt8], dry: Bool, isStart: Bool) -> Result<LayerDifference, ReloadFailure> {
        let file = ConfigFile(
            bytes, name: path, listedProblems: Self.listedProblems, isCancelled: { hasEnded })
        // Values are validated even if a line is not an assignment, so that every error is listed at once.
        let commits = !dry && file.problems.isEmpty && !hasEnded
        let difference = registry.replace(
            .configFile, with: file.entries, policy, isStart: isStart, isDry: !commits, delivery: .executor,
            isCancelled: { hasEnded })
        // After a cancellation, the results can be incomplete.
        if hasEnded { return .failure(failure("the process ends; nothing is reloaded any more")) }
        let all = file.allProblems.merged(with: difference.problems)
        if all.isEmpty {
            if commits {
                let lines = AppliedLines.selected(from: bytes, file, registry)
                state.withLock { $0.applied.bytes = lines }
            }
            return .success(difference)
        }
        return .failure(ReloadFailure(path, all, unknown: difference.unknown))
    }

    private func failure(_ reason: String) -> ReloadFailure {
        ReloadFailure(path: path, problems: [.init(line: nil, error: TweakError(.io, reason))], count: 1)
    }

    private func record(_ reading: FileReading, _ result: Result<LayerDifference, ReloadFailure>) {
        let now = registry.currentTime
        state.withLock { state in
            state.lastContent = reading.content
            state.lastFile = reading.file
            state.waiting = nil
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

    private func report(_ result: Result<LayerDifference, ReloadFailure>) {
        switch result {
        case .failure(let failure): onEvent(.failed(failure))
        case .success(var difference):
            // Each unknown tweak is reported once, not at every reload.
            let others = difference.unknownCount - difference.unknown.count
            let reported = state.withLock { state in
                defer { state.reportedUnknown = (Set(difference.unknown.map(\.error.message)), others) }
                return state.reportedUnknown
            }
            difference.unknown.removeAll { reported.listed.contains($0.error.message) }
            let isKnown = difference.unknown.isEmpty && others <= reported.others
            difference.unknownCount = isKnown ? 0 : difference.unknown.count + others
            onEvent(.reloaded(difference))
        }
    }
}
