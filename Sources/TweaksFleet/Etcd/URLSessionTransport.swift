// Carries requests to etcd with one URLSession: no proxies, redirects, cookies or caches.

internal import Foundation
#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// HTTP by the system's client.
package final class URLSessionTransport: EtcdTransport {
    /// The largest answer that is taken: a page of a hundred values of 64 KiB in base64 has less than a tenth of it.
    static let maxBody = 80 << 20
    /// So many parts wait for a reader; of at most 16 KiB each where libcurl is beneath.
    private static let maxParts = 8_192

    private let session: URLSession
    private let exchanges = URLSessionExchanges()

    /// - Parameter endpoints: URLs that will be asked; a proxy named by the environment is not.
    package init(endpoints: [String] = []) {
        ProxyExemption.exempt(endpoints.compactMap { URL(string: $0)?.host })
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each watch has a connection for itself.
        configuration.httpMaximumConnectionsPerHost = 32
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    // The session holds its delegate until it is invalidated.
    deinit { session.invalidateAndCancel() }

    package func close() {
        exchanges.close()
        session.invalidateAndCancel()
    }

    package func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        let parts = open(url, body, headers, timeout)
        var status = 0
        var answer: [UInt8] = []
        do {
            for try await part in parts {
                switch part {
                case .status(let code): status = code
                case .bytes(let bytes):
                    guard answer.count + bytes.count <= Self.maxBody else {
                        let text = "an answer of more than \(Self.maxBody) bytes"
                        throw EtcdTransportError(.tooLarge(text), mayBeDone: true)
                    }
                    answer += bytes
                }
            }
        } catch {
            throw URLSessionExchanges.failure(error)
        }
        if Task.isCancelled { throw EtcdTransportError(.cancelled, mayBeDone: true) }
        guard status != 0 else { throw EtcdTransportError(.unreachable("no answer"), mayBeDone: true) }
        return (status, answer)
    }

    package func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> { open(url, body, headers, nil) }

    // MARK: One request

    private func open(
        _ url: String, _ body: [UInt8], _ headers: [String: String], _ timeout: Duration?
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> {
        let (parts, continuation) = AsyncThrowingStream.makeStream(
            of: EtcdTransportPart.self, bufferingPolicy: .bufferingOldest(Self.maxParts))
        guard let request = Self.request(url, body, headers) else {
            let error = EtcdError.unreachable("\(url) is not a URL")
            continuation.finish(throwing: EtcdTransportError(error, mayBeDone: false))
            return parts
        }
        guard let task = exchanges.begin(continuation, { self.session.dataTask(with: request) }) else {
            let error = EtcdError.unreachable("the client is closed")
            continuation.finish(throwing: EtcdTransportError(error, mayBeDone: false))
            return parts
        }
        let timer = timeout.map { timeout in
            Task {
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                let error = EtcdError.unreachable("no answer within \(timeout)")
                continuation.finish(throwing: EtcdTransportError(error, mayBeDone: true))
            }
        }
        continuation.onTermination = { _ in
            timer?.cancel()
            task.cancel()
        }
        task.resume()
        return parts
    }

    private static func request(_ url: String, _ body: [UInt8], _ headers: [String: String]) -> URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        // Silence is normal in a watch, and answers have a timer of their own. Longer ones overflow in Foundation.
        request.timeoutInterval = 30 * 86_400
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}
