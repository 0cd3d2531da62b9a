// Declares the transport of requests to etcd: a single reply, or a stream of bytes.

/// Sends requests to an endpoint and returns its replies.
package protocol EtcdTransport: Sendable {
    /// Sends a request and returns the complete reply.
    /// - Parameter timeout: The time limit for the whole exchange.
    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8])

    /// Sends a request and streams the reply: a status, then bytes. The stream may end by throwing
    /// ``EtcdTransportError``. Canceling the task that reads it closes the connection.
    func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error>

    /// Closes all connections. Later requests fail.
    func close()
}

/// A part of a reply.
package enum EtcdTransportPart: Hashable, Sendable {
    case status(Int)
    case bytes([UInt8])
}

/// The reason why there is no complete reply.
package struct EtcdTransportError: Error, Hashable, Sendable {
    package var error: EtcdError
    /// The request may have arrived and been applied.
    package var mayHaveTakenEffect: Bool

    package init(_ error: EtcdError, mayHaveTakenEffect: Bool) {
        (self.error, self.mayHaveTakenEffect) = (error, mayHaveTakenEffect)
    }
}
