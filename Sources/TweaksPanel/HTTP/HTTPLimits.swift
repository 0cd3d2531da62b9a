// What a request may cost before it is refused, and what the parser tells of a stream.

/// The most bytes that are taken of each part of a request.
package struct HTTPLimits: Equatable, Sendable {
    /// The request line, its end not counted: 414 beyond it.
    package var requestLine = 8 * 1_024
    /// One header line, its end not counted: 431 beyond it.
    package var headerLine = 8 * 1_024
    /// All header lines with their ends: 431 beyond it.
    package var headers = 16 * 1_024
    /// How many headers: 431 beyond it.
    package var headerCount = 100
    /// The body: 413 beyond it. It is looked at when the body begins, after `HTTPEvent.head`.
    package var body = 1_024 * 1_024

    package init() {}
}

/// What a stream of requests holds next.
package enum HTTPEvent: Equatable, Sendable {
    /// The head of a request whose body follows. Comes before `limits.body` is looked at, so that who may send much can be
    /// told from who may not; its body is still empty. Who answers it now has to end the connection: the body is under
    /// way. A request without a body has no such event.
    case head(HTTPRequest)
    /// The client waits for `100 Continue` before it sends the body, whose length is acceptable.
    case expectsContinue
    /// A whole request.
    case request(HTTPRequest)
    /// A request that cannot be taken. Where it ends the connection, nothing comes after it.
    case failure(HTTPFailure)
}
