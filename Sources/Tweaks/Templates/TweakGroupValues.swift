// Delivers the values of a group as an asynchronous sequence, for `for await`.

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
    public func makeAsyncIterator() -> Iterator { Iterator(core) }

    /// An iterator. It does not retain the registry.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: GroupReader<Template>
        private weak let registry: TweakRegistry?
        private let observation: TweakObservation
        private var signals: AsyncStream<Void>.Iterator
        private var last: Template?

        fileprivate init(_ core: GroupCore<Template>) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            (reader, registry) = (core.reader, core.registry)
            let nodes = reader.nodes
            let subscriber = Subscriber(nodes, of: core.registry, runsNoCode: true, seesAll: true) { change in
                if change == nil { continuation.finish() } else { continuation.yield() }
            }
            if !subscriber.start() { continuation.finish() }
            observation = TweakObservation(subscriber)
            signals = stream.makeAsyncIterator()
        }

        /// The next value that differs from the previous one; nil at the end, or when the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Template? {
            if last == nil {
                last = reader.read(registry)
                return last
            }
            while await signals.next(isolation: actor) != nil {
                let value = reader.read(registry)
                if value == last { continue }
                last = value
                return value
            }
            return nil
        }

        /// The next value, called without isolation.
        public mutating func next() async -> Template? { await next(isolation: nil) }
    }
}
