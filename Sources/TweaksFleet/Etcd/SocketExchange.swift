// Makes one request on a connection, and hands on the parts of its answer.

internal import Synchronization
import TweaksSystem

/// A request under way. It runs on a thread that waits for the socket; anybody can end it.
final class SocketExchange: Sendable {
    typealias Continuation = AsyncThrowingStream<EtcdTransportPart, any Error>.Continuation

    private struct State {
        var socket: Int32?
        var isCancelled = false
    }

    private let address: EtcdAddress
    private let request: [UInt8]
    private let continuation: Continuation
    private let state = Mutex(State())

    init(_ address: EtcdAddress, _ request: [UInt8], _ continuation: Continuation) {
        (self.address, self.request, self.continuation) = (address, request, continuation)
    }

    /// Wakes the thread. It is the one that closes the socket: until it has taken it back, the number is not another's.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let socket = state.socket { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends it with an error; the request may have arrived.
    func fail(_ text: String) {
        continuation.finish(throwing: EtcdTransportError(.unreachable(text), mayBeDone: true))
        cancel()
    }

    /// Makes the request. Returns when the answer is complete, or will not be.
    func run(_ pool: SocketPool) {
        defer { pool.end(self) }
        do throws(EtcdTransportError) {
            if state.withLock({ $0.isCancelled }) { return }
            let socket = try pool.socket(for: address)
            guard adopt(socket) else {
                close(socket)
                return
            }
            var reader = HTTPAnswerReader()
            let problem = talk(socket, &reader)
            let isCancelled = release()
            if problem == nil, !isCancelled, reader.keepsConnection {
                pool.keep(socket, for: address)
            } else {
                close(socket)
            }
            finish(problem.map { EtcdTransportError($0, mayBeDone: true) })
        } catch {
            finish(error)
        }
    }

    /// Whoever was cancelled reads an end: that the connection was closed for it is no error.
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

    /// - Returns: What went wrong.
    private func talk(_ socket: Int32, _ reader: inout HTTPAnswerReader) -> EtcdError? {
        guard EtcdSocket.send(request, to: socket) else { return .unreachable("cannot send: \(errorText())") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        do throws(EtcdError) {
            while !reader.isComplete {
                guard let bytes = EtcdSocket.receive(socket, into: &buffer) else {
                    return .unreachable("the connection is lost: \(errorText())")
                }
                if bytes.isEmpty { try reader.end() }
                for part in try reader.take(bytes) {
                    if case .dropped = continuation.yield(part) {
                        return .unavailable("it sends faster than it is read")
                    }
                }
            }
            return nil
        } catch {
            return error
        }
    }
}
