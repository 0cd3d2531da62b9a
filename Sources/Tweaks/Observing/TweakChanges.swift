// Provides the commits of a registry as an asynchronous sequence.

/// The commits of a registry from the start of the iteration on, each once and in order.
///
/// For a reader that falls far behind (one mebibyte, some thousands of commits), a tweak's earlier changes are folded
/// into its newest one; changes of other tweaks are not lost. Finishes when the registry is released.
public struct TweakChanges: AsyncSequence, Sendable {
    /// Commits.
    public typealias Element = TweakCommit
    /// The sequence never throws.
    public typealias Failure = Never

    let follow: @Sendable (_ wake: @escaping CommitStream.Wake) -> CommitFollower?

    /// Starts to follow the registry.
    public func makeAsyncIterator() -> Iterator { Iterator(follow) }

    /// The iterator of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: CommitReader?
        private var signals: AsyncStream<Void>.Iterator

        fileprivate init(_ follow: (@escaping CommitStream.Wake) -> CommitFollower?) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            reader = follow { continuation.yield() }.map { CommitReader($0) }
            signals = stream.makeAsyncIterator()
        }

        /// The next commit; nil when the registry is released or the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> TweakCommit? {
            while true {
                if let commit = reader?.next() { return commit }
                if reader?.hasEnded ?? true { return nil }
                if await signals.next(isolation: actor) == nil { return nil }
            }
        }

        /// The next commit, called without isolation.
        public mutating func next() async -> TweakCommit? { await next(isolation: nil) }
    }
}

extension TweakRegistry {
    /// All commits that change a current value, from the start of the iteration on. Figures are not included.
    ///
    /// ```swift
    /// for await commit in TweakRegistry.shared.changes { log("\(commit.origin): \(commit.changes)") }
    /// ```
    public var changes: TweakChanges {
        TweakChanges { [weak self] wake in self?.follow(.folds, wake) }
    }
}
