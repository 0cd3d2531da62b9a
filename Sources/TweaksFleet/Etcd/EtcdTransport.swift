// Carries requests to etcd and its answers back, by URLSession.

package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// What carries requests; tests have one of their own.
package protocol EtcdTransport: Sendable {
    /// The status and the body of the answer.
    func post(
        _ url: URL, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdError) -> (status: Int, body: [UInt8])
    /// The body of an answer that does not end, as it comes. Ending the reading closes the connection.
    func stream(_ url: URL, _ body: [UInt8], headers: [String: String]) -> AsyncThrowingStream<[UInt8], any Error>
    /// Closes all connections.
    func close()
}

/// One session: no proxies, no redirects, no cookies, no cache.
package final class URLSessionTransport: NSObject, EtcdTransport, URLSessionDataDelegate {
    /// More bytes than any answer of a fleet has.
    private static let mostBytes = 80 << 20

    private struct Answer {
        var body: [UInt8] = []
        var status = 0
        var continuation: CheckedContinuation<(status: Int, body: [UInt8]), any Error>?
        var stream: AsyncThrowingStream<[UInt8], any Error>.Continuation?
    }

    private let answers = Mutex<[Int: Answer]>([:])
    /// Made with the first request: the session keeps its delegate.
    private let session = Mutex<URLSession?>(nil)

    package override init() { super.init() }

    private func current() -> URLSession {
        session.withLock { session in
            if let session { return session }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            configuration.httpMaximumConnectionsPerHost = 4
            // Silence is normal on a watch; a year is no limit.
            configuration.timeoutIntervalForResource = 31_536_000
            let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session = made
            return made
        }
    }

    package func close() {
        // The delegate is let go of with the session.
        session.withLock { $0.take() }?.invalidateAndCancel()
    }

    // MARK: Asking

    private static func request(
        _ url: URL, _ body: [UInt8], _ headers: [String: String], timeout: TimeInterval
    ) -> URLRequest {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: timeout)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    package func post(
        _ url: URL, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdError) -> (status: Int, body: [UInt8]) {
        let request = Self.request(url, body, headers, timeout: timeout / .seconds(1))
        let task = current().dataTask(with: request)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    answers.withLock { $0[task.taskIdentifier] = Answer(continuation: continuation) }
                    task.resume()
                }
            } onCancel: {
                task.cancel()
            }
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw error as? EtcdError ?? .unreachable("\(Self.place(url)): \(Self.reason(error))")
        }
    }

    package func stream(
        _ url: URL, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let task = current().dataTask(with: Self.request(url, body, headers, timeout: 31_536_000))
        continuation.onTermination = { _ in task.cancel() }
        answers.withLock { $0[task.taskIdentifier] = Answer(stream: continuation) }
        task.resume()
        return stream
    }

    private static func place(_ url: URL) -> String { "\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")" }

    private static func reason(_ error: any Error) -> String {
        switch (error as? URLError)?.code {
        case .timedOut?: "it does not answer"
        case .cannotConnectToHost?: "nothing listens there"
        case .cannotFindHost?: "there is no such host"
        case .networkConnectionLost?: "it closed the connection"
        default: error.localizedDescription
        }
    }

    // MARK: What the session says

    package func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        answers.withLock { $0[dataTask.taskIdentifier]?.status = status }
        completionHandler(.allow)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let bytes = [UInt8](data)
        let id = dataTask.taskIdentifier
        // An answer that is no stream's, or says what is wrong with it, is read whole.
        let stream = answers.withLock { $0[id]?.status == 200 ? $0[id]?.stream : nil }
        if let stream {
            stream.yield(bytes)
            return
        }
        let length = answers.withLock { answers in
            answers[id]?.body += bytes
            return answers[id]?.body.count ?? 0
        }
        if length > Self.mostBytes { dataTask.cancel() }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let answer = answers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        let isTooLong = answer.body.count > Self.mostBytes
        let error: (any Error)? =
            isTooLong ? EtcdError.tooLarge("an answer has more than \(Self.mostBytes) bytes") : error
        if let error {
            answer.continuation?.resume(throwing: error)
            let place = task.originalRequest?.url.map(Self.place) ?? ""
            answer.stream?.finish(
                throwing: isTooLong ? error : EtcdError.unreachable("\(place): \(Self.reason(error))"))
        } else {
            answer.continuation?.resume(returning: (answer.status, answer.body))
            let problem = answer.status == 200 ? nil : EtcdAnswer.error(status: answer.status, answer.body)
            answer.stream?.finish(throwing: problem)
        }
    }

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // etcd does not redirect; what does is not etcd.
        completionHandler(nil)
    }
}
