// Merges a registry's commits and its session events into one ordered sequence for the log.

import TweaksInterface
import Dispatch
import Synchronization
import Tweaks

/// Follows a registry's commits for the log. Events posted to it keep their order among the commits: a session that
/// commits and disconnects is not logged as disconnected first.
final class ChangeLog: Sendable {
    /// An event, and the revision of the last commit before it.
    private struct PendingEvent {
        let revision: UInt64
        let event: TweakDaemonEvent
    }

    private let registry: TweakRegistry
    private let log: EventLog
    private let queue = DispatchQueue(label: "tweaks.changes")
    private let reader = Mutex<CommitReader?>(nil)
    private let pending = Mutex<[PendingEvent]>([])
    /// Whether another run is scheduled.
    private let isRunScheduled = Atomic(false)
    /// A program can change a tweak a million times a second; this pause collects such commits into one run of the
    /// queue.
    private static let pause = DispatchTimeInterval.milliseconds(20)

    init(_ registry: TweakRegistry, _ log: EventLog) {
        self.registry = registry
        self.log = log
        let follower = registry.follow(.folds) { [weak self] in self?.wake() }
        reader.withLock { $0 = CommitReader(follower) }
    }

    /// Logs an event that is not a commit. Returns at once.
    func post(_ event: TweakDaemonEvent) {
        let next = PendingEvent(revision: registry.revision, event: event)
        pending.withLock { $0.append(next) }
        wake()
    }

    /// Logs everything up to now and stops following commits.
    func end() {
        // A program that keeps changing tweaks must not delay the end.
        let last = registry.revision
        queue.sync { _ = drain(through: last) }
        reader.withLock { $0 = nil }
        // Other threads can have posted events after commits that are no longer read.
        logEvents { _ in true }
    }

    private func wake() { queue.async { self.run() } }

    /// Logs what is pending, and runs again after a pause until nothing is pending.
    private func run() {
        if !drain() || isRunScheduled.exchange(true, ordering: .relaxed) { return }
        queue.asyncAfter(deadline: .now() + Self.pause) {
            self.isRunScheduled.store(false, ordering: .relaxed)
            self.run()
        }
    }

    /// - Returns: Whether there was a commit.
    private func drain(through end: UInt64 = .max) -> Bool {
        // Commits before this revision have arrived; earlier commits for later events may be in flight.
        let last = pending.withLock { $0.last?.revision }
        var hasCommits = false
        // After a commit, another run follows anyway, so new commits need not wake the queue.
        while let commit = reader.withLock({ reader in
            reader?.next(staysAwake: hasCommits) { origin, moment, changes in
                hasCommits = true
                return log.isLeftOut(origin, moment, changes)
            }
        }) {
            logEvents { $0 < commit.revision }
            log.post(.changed(commit))
            if commit.revision >= end { break }
        }
        if let last { logEvents { $0 <= last } }
        return hasCommits
    }

    private func logEvents(where isDue: (UInt64) -> Bool) {
        let due = pending.withLock { pending in
            let due = pending.prefix { isDue($0.revision) }
            pending.removeFirst(due.count)
            return due
        }
        for next in due { log.post(next.event) }
    }
}
