// Defines the size limits of a request, and the events of the parser.

/// The limits of the parts of a request, in bytes.
package struct HTTPLimits: Equatable, Sendable {
    /// The request line without its end; 414 above it.
    package var requestLine = 8 * 1_024
    /// One header line without its end; 431 above it.
    package var headerLine = 8 * 1_024
    /// All header lines with their ends; 431 above it.
    package var headers = 16 * 1_024
    /// The number of headers; 431 above it.
    package var headerCount = 100
    /// The body; 413 above it. Checked when the body begins, after `HTTPEvent.head`.
    package var body = 1_024 * 1_024

    package init() {}
}

/// An event of the parser.
package enum HTTPEvent: Equatable, Sendable {
    /// The head of a request whose body follows. Emitted before `limits.body` is checked, so that the limit can depend
    /// on the client; the body is still empty. A response to it must end the connection, since the body is on its way.
    /// A request without a body has no such event.
    case head(HTTPRequest)
    /// The client waits for `100 Continue` before it sends the body, whose length is acceptable.
    case expectsContinue
    /// A complete request.
    case request(HTTPRequest)
    /// An invalid request. If it ends the connection, it is the last event.
    case failure(HTTPFailure)
}
