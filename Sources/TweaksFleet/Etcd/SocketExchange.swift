// Makes one request over a socket of its own, on the thread that it is given.

import Synchronization
import TweaksSystem

/// One request and its answer. It waits for the socket, never longer than it may, and ends when it is cancelled.
final class SocketExchange: Sendable {
    private struct State {
        var descriptor: Int32?
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let deadline: ContinuousClock.Instant?
    /// A connection takes no longer, also of a stream, which may last.
    private static let connectTime = Duration.seconds(5)

    init(_ deadline: ContinuousClock.Instant?) { self.deadline = deadline }

    /// Wakes the thread that waits; it closes the socket.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func run(
        _ place: HTTPPlace, _ request: [UInt8], _ tell: (EtcdTransportPart) -> Bool
    ) throws(EtcdTransportError) {
        let descriptor = try connect(place)
        defer {
            state.withLock { $0.descriptor = nil }
            close(descriptor)
        }
        try send(request, to: descriptor)
        var answer = HTTPAnswer()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !answer.isComplete {
            try wait(descriptor, POLLIN, until: deadline, mayBeDone: true)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                if count == 0, answer.mayEnd { return }
                throw failure(count == 0 ? "it closed the connection" : errorText(), mayBeDone: true)
            }
            do throws(HTTPAnswer.Problem) {
                let parts = try answer.take(Array(buffer[..<count]))
                guard parts.allSatisfy(tell) else { throw HTTPAnswer.Problem(text: "it sends faster than it is read") }
            } catch {
                throw EtcdTransportError(.garbled("\(place.host):\(place.port): \(error.text)"), mayBeDone: true)
            }
        }
    }

    private func failure(_ text: String, mayBeDone: Bool) -> EtcdTransportError {
        let isCancelled = state.withLock { $0.isCancelled }
        return EtcdTransportError(isCancelled ? .cancelled : .unreachable(text), mayBeDone: mayBeDone)
    }

    // MARK: Connecting

    private func connect(_ place: HTTPPlace) throws(EtcdTransportError) -> Int32 {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(place.host, place.port, &hints, &list)
        guard code == 0, let first = list else {
            throw failure("there is no host \(place.host): \(String(cString: gai_strerror(code)))", mayBeDone: false)
        }
        defer { freeaddrinfo(first) }
        var last = failure("no address", mayBeDone: false)
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let address = next {
            do throws(EtcdTransportError) {
                return try connect(address.pointee)
            } catch {
                last = error
            }
            next = address.pointee.ai_next
        }
        throw last
    }

    private func connect(_ address: addrinfo) throws(EtcdTransportError) -> Int32 {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { throw failure(errorText(), mayBeDone: false) }
        let isCancelled = state.withLock { state in
            state.descriptor = descriptor
            return state.isCancelled
        }
        do throws(EtcdTransportError) {
            if isCancelled { throw failure("", mayBeDone: false) }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            try finishConnecting(descriptor, address)
        } catch {
            state.withLock { $0.descriptor = nil }
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func finishConnecting(_ descriptor: Int32, _ address: addrinfo) throws(EtcdTransportError) {
        if systemConnect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return }
        guard errno == EINPROGRESS || errno == EINTR else { throw failure(errorText(), mayBeDone: false) }
        let end = ContinuousClock.now.advanced(by: Self.connectTime)
        try wait(descriptor, POLLOUT, until: deadline.map { min($0, end) } ?? end, mayBeDone: false)
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0, code == 0 else {
            throw failure(code == ECONNREFUSED ? "nothing listens there" : errorText(code), mayBeDone: false)
        }
    }

    // MARK: Waiting

    private func send(_ bytes: [UInt8], to descriptor: Int32) throws(EtcdTransportError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(descriptor, POLLOUT, until: deadline, mayBeDone: true)
            let count = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw failure(errorText(), mayBeDone: true) }
            rest = rest.dropFirst(count)
        }
    }

    private func wait(
        _ descriptor: Int32, _ events: Int32, until end: ContinuousClock.Instant?, mayBeDone: Bool
    ) throws(EtcdTransportError) {
        while true {
            if state.withLock({ $0.isCancelled }) { throw failure("", mayBeDone: mayBeDone) }
            let left = end.map { ContinuousClock.now.duration(to: $0) }
            if let left, left <= .zero { throw failure("it does not answer", mayBeDone: mayBeDone) }
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let time =
                left.map {
                    Int32(clamping: $0 / .milliseconds(1) < 1e9 ? Int64($0 / .milliseconds(1)) + 1 : 1_000_000_000)
                } ?? -1
            let count = poll(&entry, 1, time)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw failure(errorText(), mayBeDone: mayBeDone) }
        }
    }
}

/// connect(2), under a name that no method takes.
private func systemConnect(_ number: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
    guard let address else { return -1 }
    return connect(number, address, length)
}

/// send(2) without a signal where nobody reads.
private func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
        send(number, bytes, count, 0)
    #else
        send(number, bytes, count, Int32(MSG_NOSIGNAL))
    #endif
}
