// Watches: opens one at the first endpoint that has it, and hands its messages on until it fails or nobody reads it.

internal import Synchronization

extension EtcdClient {
    /// A message larger than this is not one of etcd's, which takes writes of 1.5 MiB.
    static let maxMessage = 16 << 20
    /// So many messages wait for a reader.
    private static let maxMessages = 4_096
    /// So long it may take until the watch stands.
    static let patience = Duration.seconds(5)

    package func watch(
        _ range: EtcdKeys, from revision: Int64
    ) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        let (messages, continuation) = AsyncThrowingStream.makeStream(
            of: EtcdWatchMessage.self, bufferingPolicy: .bufferingOldest(Self.maxMessages))
        let watch = OpenWatch(
            body: EtcdRequests.watch(range, from: revision), continuation: continuation,
            mayHaveOldToken: configuration.user != nil)
        let pump = Task {
            do throws(EtcdError) {
                try await self.run(watch)
            } catch {
                // Whoever was cancelled reads an end.
                continuation.finish(throwing: Task.isCancelled ? nil : error)
            }
        }
        continuation.onTermination = { _ in pump.cancel() }
        return messages
    }

    /// Does not return; it throws when the watch ends.
    private func run(_ watch: OpenWatch) async throws(EtcdError) {
        var mayRenew = configuration.user != nil
        var last = EtcdError.unreachable("no endpoint is configured")
        for endpoint in session.order {
            do throws(EtcdTransportError) {
                try await authenticated(endpoint, &mayRenew) { headers async throws(EtcdTransportError) in
                    do throws(EtcdError) {
                        try await self.read(watch, endpoint, headers)
                    } catch {
                        throw EtcdTransportError(watch.judged(error), mayBeDone: false)
                    }
                }
            } catch {
                guard error.error.isWorthAnotherEndpoint else { throw error.error }
                session.leave(endpoint)
                last = error.error.said(of: configuration.endpoints[endpoint])
                if watch.isCreated { throw last }
            }
        }
        throw last
    }

    /// Reads one connection to its end.
    private func read(
        _ watch: OpenWatch, _ endpoint: Int, _ headers: [String: String]
    ) async throws(EtcdError) {
        // A member that has lost its leader ends the watch then, in place of saying nothing.
        let headers = headers.merging(["Grpc-Metadata-hasleader": "true"]) { $1 }
        let timer = Task { await self.endUnlessCreated(watch, endpoint) }
        defer { timer.cancel() }
        var reading = WatchReading(limit: Self.maxMessage)
        do {
            for try await part in transport.stream(url(endpoint, "watch"), watch.body, headers: headers) {
                try reading.take(part) { message throws(EtcdError) in
                    if case .created = message { timer.cancel() }
                    try watch.hand(message)
                }
            }
        } catch {
            throw (error as? EtcdError) ?? (error as? EtcdTransportError)?.error ?? .unreachable("\(error)")
        }
        throw Task.isCancelled ? .cancelled : reading.end
    }

    private func endUnlessCreated(_ watch: OpenWatch, _ endpoint: Int) async {
        do {
            try await sleep(Self.patience)
        } catch {
            return
        }
        if Task.isCancelled || watch.isCreated { return }
        session.leave(endpoint)
        let error = EtcdError.unavailable("no watch within \(Self.patience)")
        watch.continuation.finish(throwing: error.said(of: configuration.endpoints[endpoint]))
    }
}

/// A watch that somebody reads.
private final class OpenWatch: Sendable {
    let body: [UInt8]
    let continuation: AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation
    private let created = Mutex(false)
    private let mayHaveOldToken: Mutex<Bool>

    init(
        body: [UInt8], continuation: AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation,
        mayHaveOldToken: Bool
    ) {
        (self.body, self.continuation) = (body, continuation)
        self.mayHaveOldToken = Mutex(mayHaveOldToken)
    }

    var isCreated: Bool { created.withLock { $0 } }

    func hand(_ message: EtcdWatchMessage) throws(EtcdError) {
        if case .created = message { created.withLock { $0 = true } }
        guard isCreated else { throw .garbled("a watch that was not created has events") }
        switch continuation.yield(message) {
        case .dropped: throw .unavailable("the watch is read too slowly")
        case .terminated: throw .cancelled
        default: break
        }
    }

    /// etcd 3.4 says of a token that has expired that the watch is forbidden: the first time, that is not believed. A watch
    /// that stood is opened anew by its reader.
    func judged(_ error: EtcdError) -> EtcdError {
        switch error {
        case .unauthenticated(let text):
            mayHaveOldToken.withLock { $0 = false }
            return isCreated ? .unavailable(text) : error
        case .forbidden(let text) where !isCreated:
            let isDoubtful = mayHaveOldToken.withLock { flag in
                defer { flag = false }
                return flag
            }
            return isDoubtful ? .unauthenticated(text) : error
        default: return error
        }
    }
}

/// The parts of a watch's answer, put together.
struct WatchReading {
    private var splitter: JSONSplitter
    private var status = 0
    private var refusal: [UInt8] = []

    init(limit: Int) { splitter = JSONSplitter(limit: limit) }

    /// - Parameter hand: Gets each message that is complete, also those before one that ends the watch.
    mutating func take(
        _ part: EtcdTransportPart, _ hand: (EtcdWatchMessage) throws(EtcdError) -> Void
    ) throws(EtcdError) {
        switch part {
        case .status(let code): status = code
        case .bytes(let bytes) where status == 200:
            for object in try splitter.append(bytes) { try hand(try EtcdAnswers.watchMessage(object)) }
        case .bytes(let bytes): refusal += bytes.prefix(max(0, 65_536 - refusal.count))
        }
    }

    /// Why there is no more of it.
    var end: EtcdError {
        status == 200 ? .unavailable("the watch has ended") : EtcdAnswers.failure(status: status, refusal)
    }
}
