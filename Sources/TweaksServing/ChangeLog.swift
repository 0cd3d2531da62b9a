// The commits of a registry and the events of its sessions, as one sequence for the log.

import TweaksInterface
import Dispatch
import Synchronization
import Tweaks

/// Follows the commits of a registry for the log. Events that are handed to it keep their place among them: who changed
/// something and left is not said to have left first.
final class ChangeLog: Sendable {
    /// An event, and the last commit before it.
    private struct Waiting {
        let revision: UInt64
        let event: TweakDaemonEvent
    }

    private let registry: TweakRegistry
    private let log: EventLog
    private let queue = DispatchQueue(label: "tweaks.changes")
    private let reader = Mutex<CommitReader?>(nil)
    private let waiting = Mutex<[Waiting]>([])
    /// It looks again by itself.
    private let isResting = Atomic(false)
    /// A program may change a tweak a million times a second; the queue has it all after this time, and is woken once.
    private static let rest = DispatchTimeInterval.milliseconds(20)

    init(_ registry: TweakRegistry, _ log: EventLog) {
        self.registry = registry
        self.log = log
        let follower = registry.follow(.folds) { [weak self] in self?.wake() }
        reader.withLock { $0 = CommitReader(follower) }
    }

    /// Hands over an event that is no commit, soon.
    func post(_ event: TweakDaemonEvent) {
        let next = Waiting(revision: registry.revision, event: event)
        waiting.withLock { $0.append(next) }
        wake()
    }

    /// Hands over what has come so far, and no more commits.
    func end() {
        // A program that goes on changing tweaks holds up nothing else.
        let last = registry.revision
        queue.sync { _ = drain(through: last) }
        reader.withLock { $0 = nil }
        // Others' events may have come behind commits that are not taken any more.
        handOver { _ in true }
    }

    private func wake() { queue.async { self.run() } }

    /// Hands over what there is, and looks again after a rest until there is nothing.
    private func run() {
        if !drain() || isResting.exchange(true, ordering: .relaxed) { return }
        queue.asyncAfter(deadline: .now() + Self.rest) {
            self.isResting.store(false, ordering: .relaxed)
            self.run()
        }
    }

    /// - Returns: Whether there was a commit.
    private func drain(through end: UInt64 = .max) -> Bool {
        // The commits before these have come; those before later ones may be on their way.
        let last = waiting.withLock { $0.last?.revision }
        var hasCommits = false
        // While it comes back anyway, no commit has to wake it.
        while let commit = reader.withLock({ reader in
            reader?.next(staysAwake: hasCommits) { origin, moment, changes in
                hasCommits = true
                return log.isLeftOut(origin, moment, changes)
            }
        }) {
            handOver { $0 < commit.revision }
            log.post(.changed(commit))
            if commit.revision >= end { break }
        }
        if let last { handOver { $0 <= last } }
        return hasCommits
    }

    private func handOver(where isDue: (UInt64) -> Bool) {
        let due = waiting.withLock { waiting in
            let due = waiting.prefix { isDue($0.revision) }
            waiting.removeFirst(due.count)
            return due
        }
        for next in due { log.post(next.event) }
    }
}
