// Following one tweak with `for await`.

/// The current value of a tweak, then each change; a slow reader gets the newest.
///
/// Finishes when the tweak is removed or its registry goes. Each iteration follows the tweak on its own.
public struct TweakValues<Value: TweakStorable>: AsyncSequence, Sendable {
    /// Values.
    public typealias Element = Value
    /// It never fails.
    public typealias Failure = Never

    let tweak: Tweak<Value>

    /// Starts to follow the tweak.
    public func makeAsyncIterator() -> Iterator { Iterator(tweak) }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let cell: Value.TweakStorage
        private let observation: TweakObservation
        private var signals: AsyncStream<Void>.Iterator
        private var last: Value?

        fileprivate init(_ tweak: Tweak<Value>) {
            // The signal only says “look again”; what is read then is the newest value. It is said of every change: what
            // was read may be newer than the one it was said for.
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let subscriber = Subscriber([tweak.node], of: tweak.registry, runsNoCode: true, seesAll: true) { change in
                if change == nil { continuation.finish() } else { continuation.yield() }
            }
            if !subscriber.start() { continuation.finish() }
            cell = tweak.cell
            observation = TweakObservation(subscriber)
            signals = stream.makeAsyncIterator()
        }

        /// The next value that differs from the one before; nil when the tweak is gone or the task is cancelled.
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
