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
    private let feed = Mutex<ChangeFeed?>(nil)
    private let waiting = Mutex<[Waiting]>([])
    /// A program may change a tweak a million times a second; it wakes the queue once.
    private let isScheduled = Atomic<Bool>(false)

    init(_ registry: TweakRegistry, _ log: EventLog) {
        self.registry = registry
        self.log = log
        let feed = ChangeFeed { [weak self] in self?.wake() }
        self.feed.withLock { $0 = feed }
        registry.add(feed)
    }

    /// Hands over an event that is no commit, soon.
    func post(_ event: TweakDaemonEvent) {
        let next = Waiting(revision: registry.revision, event: event)
        waiting.withLock { $0.append(next) }
        wake()
    }

    /// Hands over what has come so far, and no more commits.
    func end() {
        guard let feed = feed.withLock({ $0 }) else { return }
        // A program that goes on changing tweaks holds up nothing else.
        let last = registry.revision
        queue.sync { drain(through: last) }
        registry.remove(feed)
        self.feed.withLock { $0 = nil }
        // Others' events may have come behind commits that are not taken any more.
        handOver { _ in true }
    }

    private func wake() {
        if !isScheduled.exchange(true, ordering: .acquiringAndReleasing) { queue.async { self.drain() } }
    }

    private func drain(through end: UInt64 = .max) {
        isScheduled.store(false, ordering: .sequentiallyConsistent)
        let feed = feed.withLock { $0 }
        // The commits before these have come; those before later ones may be on their way.
        let last = waiting.withLock { $0.last?.revision }
        while let commit = feed?.nextCommit() {
            handOver { $0 < commit.revision }
            log.post(.changed(commit))
            if commit.revision >= end { break }
        }
        if let last { handOver { $0 <= last } }
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
