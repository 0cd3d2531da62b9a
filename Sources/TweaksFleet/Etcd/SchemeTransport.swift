// Chooses what carries a request by its URL: plain sockets for http, the system's client for https.

/// Both kinds of transport.
package final class SchemeTransport: EtcdTransport {
    private let plain = SocketTransport()
    /// Nil where no endpoint needs it: a session has threads of its own.
    private let secure: URLSessionTransport?

    package init(endpoints: [String]) {
        let isSecure = endpoints.contains { $0.hasPrefix("https:") }
        secure = isSecure ? URLSessionTransport(endpoints: endpoints) : nil
    }

    private func transport(_ url: String) -> any EtcdTransport {
        if url.hasPrefix("https:"), let secure { secure } else { plain }
    }

    package func close() {
        plain.close()
        secure?.close()
    }

    package func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        try await transport(url).post(url, body, headers: headers, timeout: timeout)
    }

    package func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> {
        transport(url).stream(url, body, headers: headers)
    }
}
