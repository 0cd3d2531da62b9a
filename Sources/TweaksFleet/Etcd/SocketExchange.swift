// Runs one request on a connection and forwards the parts of its response.

internal import Synchronization
import TweaksSystem

/// A request in progress. It runs on a thread that blocks on the socket; any thread can cancel it.
final class SocketExchange: Sendable {
    typealias Continuation = AsyncThrowingStream<EtcdTransportPart, any Error>.Continuation

    private struct State {
        var socket: Int32?
        var isCancelled = false
    }

    private let address: EtcdAddress
    private let request: [UInt8]
    private let maxBody: Int?
    private let continuation: Continuation
    private let state = Mutex(State())

    /// - Parameter maxBody: The size limit of the reply; nil for a stream without an end.
    init(_ address: EtcdAddress, _ request: [UInt8], maxBody: Int?, _ continuation: Continuation) {
        self.address = address
        self.request = request
        self.maxBody = maxBody
        self.continuation = continuation
    }

    /// Wakes the thread by shutting down the socket. Only the thread closes it, so the descriptor cannot be reused
    /// meanwhile.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let socket = state.socket { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends the request with an error; it may have arrived at the server.
    func fail(_ text: String) {
        continuation.finish(throwing: EtcdTransportError(.unreachable(text), mayHaveTakenEffect: true))
        cancel()
    }

    /// Runs the request until the response is complete or has failed.
    func run(_ pool: SocketPool) {
        defer { pool.end(self) }
        do throws(EtcdTransportError) {
            if state.withLock({ $0.isCancelled }) { return }
            let socket = try pool.socket(for: address)
            guard adopt(socket) else {
                close(socket)
                return
            }
            var reader = HTTPResponseReader()
            let problem = exchange(socket, &reader)
            let isCancelled = release()
            if problem == nil, !isCancelled, reader.keepsConnection {
                pool.keep(socket, for: address)
            } else {
                close(socket)
            }
            finish(problem.map { EtcdTransportError($0, mayHaveTakenEffect: true) })
        } catch {
            finish(error)
        }
    }

    /// A canceled reader gets the end of the stream: closing the connection was intended.
    private func finish(_ error: EtcdTransportError?) {
        continuation.finish(throwing: state.withLock { $0.isCancelled } ? nil : error)
    }

    private func adopt(_ socket: Int32) -> Bool {
        state.withLock { state in
            if !state.isCancelled { state.socket = socket }
            return !state.isCancelled
        }
    }

    private func release() -> Bool {
        state.withLock { state in
            state.socket = nil
            return state.isCancelled
        }
    }

    /// - Returns: The error, if any.
    private func exchange(_ socket: Int32, _ reader: inout HTTPResponseReader) -> EtcdError? {
        guard EtcdSocket.send(request, to: socket) else { return .unreachable("cannot send: \(errorText())") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var size = 0
        do throws(EtcdError) {
            while !reader.isComplete {
                guard let bytes = EtcdSocket.receive(socket, into: &buffer) else {
                    return .unreachable("the connection is lost: \(errorText())")
                }
                if bytes.isEmpty { try reader.end() }
                for part in try reader.append(bytes) {
                    if case .bytes(let bytes) = part { size += bytes.count }
                    if let maxBody, size > maxBody {
                        return .tooLarge("an answer of more than \(maxBody) bytes; \(EtcdReplies.remedy)")
                    }
                    deliver(part)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// The pause before a part is offered again. The stream does not tell when its reader took one; meanwhile TCP
    /// slows the server down.
    private static let pause: UInt32 = 2_000

    private func deliver(_ part: EtcdTransportPart) {
        while case .dropped = continuation.yield(part) {
            if state.withLock({ $0.isCancelled }) { return }
            usleep(Self.pause)
        }
    }
}
