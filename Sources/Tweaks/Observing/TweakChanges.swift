// Following a whole registry with `for await`.

/// The commits of a registry from the start of the iteration on, each once and in order.
///
/// For a reader that falls far behind (4,096 changes) a tweak's earlier changes are folded into its newest: one tweak's
/// change never swallows another's. Finishes when the registry goes.
public struct TweakChanges: AsyncSequence, Sendable {
    /// Commits.
    public typealias Element = TweakCommit
    /// It never fails.
    public typealias Failure = Never

    let attach: @Sendable (ChangeFeed) -> FeedLease

    /// Starts to follow the registry.
    public func makeAsyncIterator() -> Iterator { Iterator(attach) }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let lease: FeedLease
        private var signals: AsyncStream<Void>.Iterator

        fileprivate init(_ attach: (ChangeFeed) -> FeedLease) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            lease = attach(ChangeFeed { continuation.yield() })
            signals = stream.makeAsyncIterator()
        }

        /// The next commit; nil when the registry is gone or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> TweakCommit? {
            while true {
                if let commit = lease.feed.nextCommit() { return commit }
                if lease.feed.hasEnded { return nil }
                if await signals.next(isolation: actor) == nil { return nil }
            }
        }

        /// The next commit, called without isolation.
        public mutating func next() async -> TweakCommit? { await next(isolation: nil) }
    }
}

/// Ends a feed when the iterator that reads it is let go of.
final class FeedLease: Sendable {
    let feed: ChangeFeed
    private let release: @Sendable (ChangeFeed) -> Void

    init(_ feed: ChangeFeed, release: @escaping @Sendable (ChangeFeed) -> Void) {
        self.feed = feed
        self.release = release
    }

    deinit { release(feed) }
}

extension ChangeFeed {
    /// Takes the oldest commit that waits and has changed something: a secret may have been set to what it was.
    package func nextCommit() -> TweakCommit? {
        while !isEmpty {
            let changes = takeCommit().filter { $0.old != $0.new || $0.folded > 0 }
            if let last = changes.last {
                return TweakCommit(revision: last.revision, origin: last.origin, changes: changes.map(\.asChange))
            }
        }
        return nil
    }
}

extension FeedChange {
    fileprivate var asChange: TweakCommit.Change {
        TweakCommit.Change(
            path: node.path, old: old, new: new, isSecret: node.definition.flags.contains(.secret),
            isSet: node.isSet(new))
    }
}

extension TweakRegistry {
    /// All commits that change a current value, from the start of the iteration on. Figures are not among them.
    ///
    /// ```swift
    /// for await commit in TweakRegistry.shared.changes { log("\(commit.origin): \(commit.changes)") }
    /// ```
    public var changes: TweakChanges {
        TweakChanges { [weak self] feed in
            if let self { self.add(feed) } else { feed.end() }
            return FeedLease(feed) { [weak self] feed in self?.remove(feed) }
        }
    }
}
