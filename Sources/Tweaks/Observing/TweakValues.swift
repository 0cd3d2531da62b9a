// Provides the values of one tweak as an asynchronous sequence.

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
    public func makeAsyncIterator() -> Iterator { Iterator(tweak) }

    /// The iterator of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let cell: Value.TweakStorage
        private let observation: TweakObservation
        private var signals: AsyncStream<Void>.Iterator
        private var last: Value?

        fileprivate init(_ tweak: Tweak<Value>) {
            // The signal carries no value: the iterator reads the current one. Every change signals, since the iterator
            // may have read a value that is newer than the signaled change.
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let subscriber = Subscriber([tweak.node], of: tweak.registry, runsNoCode: true, seesAll: true) { change in
                if change == nil { continuation.finish() } else { continuation.yield() }
            }
            if !subscriber.start() { continuation.finish() }
            cell = tweak.cell
            observation = TweakObservation(subscriber)
            signals = stream.makeAsyncIterator()
        }

        /// The next value that differs from the previous one; nil when the tweak is removed or the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Value? {
            if last == nil {
                last = cell.load()
                return last
            }
            while await signals.next(isolation: actor) != nil {
                let value = cell.load()
                if value == last { continue }
                last = value
                return value
            }
            return nil
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
