// Declares how requests to etcd travel: one answer, or a stream of bytes.

/// Carries bytes to an endpoint and back.
package protocol EtcdTransport: Sendable {
    /// Asks once.
    /// - Parameter timeout: For all of it.
    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8])

    /// Asks, and hands on what arrives for as long as it does: a status, then bytes. It may end by throwing
    /// ``EtcdTransportError``. Cancelling the task that reads it closes the connection.
    func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error>

    /// Closes all connections. What is asked later fails.
    func close()
}

/// What arrives of an answer.
package enum EtcdTransportPart: Hashable, Sendable {
    case status(Int)
    case bytes([UInt8])
}

/// Why there is no answer.
package struct EtcdTransportError: Error, Hashable, Sendable {
    package var error: EtcdError
    /// The request may have arrived: what it asks for may be done.
    package var mayBeDone: Bool

    package init(_ error: EtcdError, mayBeDone: Bool) { (self.error, self.mayBeDone) = (error, mayBeDone) }
}
