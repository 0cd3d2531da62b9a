// All changes of a registry, in order, for one reader: the server, or a `changes` sequence.

import Synchronization

/// Collects committed changes until its reader takes them.
package final class ChangeFeed: Sendable {
    private struct State {
        var queue = FoldingQueue(threshold: 4_096)
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let onReady: @Sendable () -> Void

    /// - Parameter onReady: Runs after a commit, outside all locks, on the thread that made it; it only wakes the reader.
    package init(onReady: @escaping @Sendable () -> Void) { self.onReady = onReady }

    /// Notes what a commit has changed, in one piece: its reader may be about to take it. Called under the registry's
    /// lock, in order of revision.
    func append(_ published: some Collection<Publication>) {
        state.withLock { state in
            for publication in published { state.queue.append(publication.feedChange) }
        }
    }

    /// Wakes the reader.
    func wake() { onReady() }

    /// No more changes will come.
    func end() {
        state.withLock { $0.hasEnded = true }
        onReady()
    }

    package var isEmpty: Bool { state.withLock { $0.queue.isEmpty } }
    var hasEnded: Bool { state.withLock { $0.hasEnded && $0.queue.isEmpty } }

    /// Takes all that waits, oldest first.
    package func takeAll() -> FoldingQueue {
        state.withLock { state in
            var taken = FoldingQueue(threshold: 4_096)
            swap(&taken, &state.queue)
            return taken
        }
    }

    /// Takes the changes of the oldest commit that waits. What a tweak takes over from a file raises no revision; by whom
    /// it is tells it from the commit before.
    func takeCommit() -> [FeedChange] {
        state.withLock { state in
            var changes: [FeedChange] = []
            while let next = state.queue.first,
                changes.first.map({ $0.revision == next.revision && $0.origin == next.origin }) ?? true
            {
                if let change = state.queue.popFirst() { changes.append(change) }
            }
            return changes
        }
    }
}

extension Publication {
    fileprivate var feedChange: FeedChange {
        FeedChange(
            node: node, old: change.old.value, new: change.new.value, origin: change.origin, revision: change.revision,
            layer: layer)
    }
}
