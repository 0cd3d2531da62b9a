// Reads a watch message by message.

import Testing

@testable import TweaksFleet

/// A watch that a test reads; it closes when the reader is released.
actor EtcdWatchReader {
    private var messages: AsyncThrowingStream<EtcdWatchMessage, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<EtcdWatchMessage, any Error>) { messages = stream.makeAsyncIterator() }

    /// Returns the next message; nil if the reading task was canceled.
    func next() async throws -> EtcdWatchMessage? {
        var messages = messages
        return try await messages.next(isolation: self)
    }

    /// Waits until the watch is established; returns the revision of the store at that time.
    @discardableResult func created(at location: SourceLocation = #_sourceLocation) async throws -> Int64 {
        let message = try await next()
        guard case .created(let header)? = message else {
            throw EtcdError.garbled("not created, but \(String(describing: message)) at \(location)")
        }
        return header.revision
    }

    /// Waits for the next message with events.
    func events() async throws -> [EtcdEvent] {
        while let message = try await next() {
            if case .events(_, let events) = message, !events.isEmpty { return events }
        }
        return []
    }

    /// Reads to the end; returns the error that ended the watch.
    func end() async -> EtcdError? { await etcdFailure { while try await next() != nil {} } }
}
