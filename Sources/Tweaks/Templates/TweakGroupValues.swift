// Following a group with `for await`.

/// The current value of a group, then the value after each commit that changed it; a slow reader gets the newest.
///
/// Finishes when one of the parts is removed or the registry goes. Each iteration follows the group on its own.
public struct TweakGroupValues<Template: TweakTemplate>: AsyncSequence, Sendable {
    /// Values.
    public typealias Element = Template
    /// It never fails.
    public typealias Failure = Never

    let core: GroupCore<Template>

    /// Starts to follow the group.
    public func makeAsyncIterator() -> Iterator { Iterator(core) }

    /// One reader. It does not keep the registry.
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

        /// The next value that differs from the one before; nil when it ends or the task is cancelled.
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
