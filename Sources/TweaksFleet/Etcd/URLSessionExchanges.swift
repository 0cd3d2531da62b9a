// Hands what a URLSession says to those who wait for it.

internal import Foundation
internal import Synchronization
#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The delegate of a session: one stream of parts for each task.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate, Sendable {
    typealias Continuation = AsyncThrowingStream<EtcdTransportPart, any Error>.Continuation

    private struct State {
        var waiting: [Int: Continuation] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Makes a task whose parts go to a continuation; nil after the end. A session that is invalidated takes no tasks:
    /// on Linux, it traps.
    func begin(_ continuation: Continuation, _ make: () -> URLSessionDataTask) -> URLSessionDataTask? {
        state.withLock { state in
            if state.isClosed { return nil }
            let task = make()
            state.waiting[task.taskIdentifier] = continuation
            return task
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    private func continuation(_ task: URLSessionTask) -> Continuation? {
        state.withLock { $0.waiting[task.taskIdentifier] }
    }

    private func hand(_ part: EtcdTransportPart, of task: URLSessionTask) {
        guard let continuation = continuation(task) else { return }
        guard case .dropped = continuation.yield(part) else { return }
        let error = EtcdError.unavailable("it sends faster than it is read")
        continuation.finish(throwing: EtcdTransportError(error, mayBeDone: true))
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        hand(.status((response as? HTTPURLResponse)?.statusCode ?? 0), of: dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        hand(.bytes(Array(data)), of: dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let continuation = state.withLock { $0.waiting.removeValue(forKey: task.taskIdentifier) }
        continuation?.finish(throwing: error.map { Self.failure($0) })
    }

    /// A redirect is an answer like any other, and a wrong one.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    // MARK: Errors

    /// Only what fails before a connection stands has certainly not happened.
    static func failure(_ error: any Error) -> EtcdTransportError {
        if let error = error as? EtcdTransportError { return error }
        let system = error as NSError
        guard system.domain == NSURLErrorDomain else {
            return EtcdTransportError(.unreachable(system.localizedDescription), mayBeDone: true)
        }
        switch system.code {
        // Whoever asked and was cancelled does not hear this any more.
        case NSURLErrorCancelled: return EtcdTransportError(.unreachable("the client is closed"), mayBeDone: true)
        case NSURLErrorTimedOut: return EtcdTransportError(.unreachable("no answer in time"), mayBeDone: true)
        case NSURLErrorBadURL, NSURLErrorUnsupportedURL:
            return EtcdTransportError(.unreachable("its URL is not understood"), mayBeDone: false)
        case NSURLErrorCannotConnectToHost, NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed:
            return EtcdTransportError(.unreachable(system.localizedDescription), mayBeDone: false)
        default: return EtcdTransportError(.unreachable(system.localizedDescription), mayBeDone: true)
        }
    }
}
