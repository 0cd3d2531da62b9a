// Provides the values of a tweak or a group, and the commits of a registry, as asynchronous sequences.

/// The current value of a tweak, then each change; a slow reader gets the newest.
///
/// Finishes when the tweak is removed or its registry is released. Iterations are independent of each other.
public struct TweakValues<Value: TweakStorable>: AsyncSequence, Sendable {
    /// Values.
    public typealias Element = Value
    /// The sequence never throws.
    public typealias Failure = Never

    let tweak: Tweak<Value>

    /// Starts to follow the tweak.
    public func makeAsyncIterator() -> Iterator {
        let cell = tweak.cell
        return Iterator(newest: NewestValues([tweak.node], of: tweak.registry) { cell.load() })
    }

    /// The iterator of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        var newest: NewestValues<Value>

        /// The next value that differs from the previous one; nil when the tweak is removed or the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Value? {
            await newest.next(isolation: actor)
        }

        /// The next value, called without isolation.
        public mutating func next() async -> Value? { await next(isolation: nil) }
    }
}

extension Tweak {
    /// The current value first, then changes, as an asynchronous sequence; a slow reader gets the newest.
    ///
    /// ```swift
    /// for await size in Look.size.values { label.resize(to: size) }
    /// ```
    public var values: TweakValues<Value> { TweakValues(tweak: self) }
}

/// The current value of a group, then the value after each commit that changed it; a slow reader gets the newest.
///
/// Finishes when a part is removed or the registry is released. Each iterator observes the group independently.
public struct TweakGroupValues<Template: TweakTemplate>: AsyncSequence, Sendable {
    /// Values.
    public typealias Element = Template
    /// It never fails.
    public typealias Failure = Never

    let core: GroupCore<Template>

    /// Starts to observe the group.
    public func makeAsyncIterator() -> Iterator {
        let reader = core.reader
        return Iterator(
            newest: NewestValues(reader.nodes, of: core.registry) { [weak registry = core.registry] in
                reader.read(registry)
            })
    }

    /// An iterator. It does not retain the registry.
    public struct Iterator: AsyncIteratorProtocol {
        var newest: NewestValues<Template>

        /// The next value that differs from the previous one; nil at the end, or when the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Template? {
            await newest.next(isolation: actor)
        }

        /// The next value, called without isolation.
        public mutating func next() async -> Template? { await next(isolation: nil) }
    }
}

/// The value of some tweaks, newly read after each of their changes.
struct NewestValues<Value: Equatable & Sendable> {
    private let read: @Sendable () -> Value
    private let observation: TweakObservation
    private var signals: AsyncStream<Void>.Iterator
    private var last: Value?

    init(_ nodes: [TweakNode], of registry: TweakRegistry, _ read: @escaping @Sendable () -> Value) {
        // The signal carries no value. Every change signals, since the reader may have read a value that is newer than
        // the signaled change.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscriber = Subscriber(nodes, of: registry, runsNoCode: true, seesAll: true) { change in
            if change == nil { continuation.finish() } else { continuation.yield() }
        }
        if !subscriber.start() { continuation.finish() }
        self.read = read
        observation = TweakObservation(subscriber)
        signals = stream.makeAsyncIterator()
    }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
        if last == nil {
            last = read()
            return last
        }
        while await signals.next(isolation: actor) != nil {
            let value = read()
            if value == last { continue }
            last = value
            return value
        }
        return nil
    }
}

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
