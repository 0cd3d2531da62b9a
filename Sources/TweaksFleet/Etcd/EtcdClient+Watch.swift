// Opens a watch at the first endpoint that accepts it, and delivers its messages until it fails or is abandoned.

internal import Synchronization

extension EtcdClient {
    /// Writes have up to 1.5 MiB; past changes that are larger together are read anew.
    static let maxMessage = 8 << 20
    /// The maximum number of messages buffered for the reader.
    fileprivate static let maxMessages = 4_096
    /// The maximum size in memory of the messages buffered for the reader.
    fileprivate static let maxUnread = 16 << 20
    /// The time limit for opening a watch.
    static let openTimeout = Duration.seconds(5)

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
                // A canceled reader gets the end of the stream, not an error.
                continuation.finish(throwing: Task.isCancelled ? nil : error)
            }
        }
        continuation.onTermination = { _ in pump.cancel() }
        return messages
    }

    /// Never returns normally; throws when the watch ends.
    private func run(_ watch: OpenWatch) async throws(EtcdError) {
        var mayRenew = configuration.user != nil
        var last = EtcdError.unreachable("no endpoint is configured")
        for endpoint in session.order {
            do throws(EtcdTransportError) {
                try await authenticated(endpoint, &mayRenew) { headers async throws(EtcdTransportError) in
                    do throws(EtcdError) {
                        try await self.read(watch, endpoint, headers)
                    } catch {
                        throw EtcdTransportError(watch.reinterpreted(error), mayHaveTakenEffect: false)
                    }
                }
            } catch {
                guard error.error.isWorthAnotherEndpoint else { throw error.error }
                session.skip(endpoint)
                last = error.error.prefixed(with: configuration.endpoints[endpoint])
                if watch.isCreated { throw last }
            }
        }
        throw last
    }

    /// Reads one connection until it ends.
    private func read(
        _ watch: OpenWatch, _ endpoint: Int, _ headers: [String: String]
    ) async throws(EtcdError) {
        // With this header, a member that loses its leader ends the watch instead of going silent.
        let headers = headers.merging(["Grpc-Metadata-hasleader": "true"]) { $1 }
        let timer = Task { await self.endUnlessCreated(watch, endpoint) }
        defer { timer.cancel() }
        var parser = WatchResponseParser(limit: Self.maxMessage)
        do {
            for try await part in transport.stream(url(endpoint, "watch"), watch.body, headers: headers) {
                try parser.parse(part) { message throws(EtcdError) in
                    if case .created = message { timer.cancel() }
                    try watch.deliver(message)
                }
            }
        } catch {
            throw (error as? EtcdError) ?? (error as? EtcdTransportError)?.error ?? .unreachable("\(error)")
        }
        throw Task.isCancelled ? .cancelled : parser.end
    }

    private func endUnlessCreated(_ watch: OpenWatch, _ endpoint: Int) async {
        do {
            try await sleep(Self.openTimeout)
        } catch {
            return
        }
        if Task.isCancelled || watch.isCreated { return }
        session.skip(endpoint)
        let error = EtcdError.unavailable("no watch within \(Self.openTimeout)")
        watch.continuation.finish(throwing: error.prefixed(with: configuration.endpoints[endpoint]))
    }
}

/// An open watch and its reader's stream.
private final class OpenWatch: Sendable {
    let body: [UInt8]
    let continuation: AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation
    private let created = Mutex(false)
    private let unread = Mutex(UnreadMessages())
    private let mayHaveOldToken: Mutex<Bool>

    init(
        body: [UInt8], continuation: AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation,
        mayHaveOldToken: Bool
    ) {
        (self.body, self.continuation) = (body, continuation)
        self.mayHaveOldToken = Mutex(mayHaveOldToken)
    }

    var isCreated: Bool { created.withLock { $0 } }

    func deliver(_ message: EtcdWatchMessage) throws(EtcdError) {
        if case .created = message { created.withLock { $0 = true } }
        guard isCreated else { throw .garbled("a watch that was not created has events") }
        switch continuation.yield(message) {
        case .dropped: throw Self.tooSlow
        case .terminated: throw .cancelled
        case .enqueued(let remaining):
            let count = EtcdClient.maxMessages - remaining
            let bytes = unread.withLock { $0.add(message.memorySize, count: count) }
            // One message alone has its own limit.
            if bytes > EtcdClient.maxUnread, count > 1 { throw Self.tooSlow }
        @unknown default: break
        }
    }

    private static let tooSlow = EtcdError.unavailable("the watch is read too slowly")

    /// Reinterprets some errors. etcd 3.4 reports an expired token as forbidden, so the first such error requests a new
    /// token. A watch that was open is reopened by its reader.
    func reinterpreted(_ error: EtcdError) -> EtcdError {
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

/// The sizes of the messages that the reader has not taken yet.
private struct UnreadMessages {
    private var sizes: [Int] = []
    private var bytes = 0

    /// Adds a message; of the earlier ones, the oldest have been taken.
    /// - Parameter count: The number of unread messages, with this one.
    /// - Returns: Their size.
    mutating func add(_ size: Int, count: Int) -> Int {
        sizes.append(size)
        bytes += size
        let taken = sizes.prefix(max(0, sizes.count - count))
        bytes -= taken.reduce(0, +)
        sizes.removeFirst(taken.count)
        return bytes
    }
}

extension EtcdWatchMessage {
    /// Its size in memory, in bytes.
    fileprivate var memorySize: Int {
        guard case .events(_, let events) = self else { return 64 }
        return events.reduce(64) { $0 + $1.pair.memorySize }
    }
}

/// Assembles the messages of a watch from the parts of an HTTP response.
struct WatchResponseParser {
    private var splitter: JSONSplitter
    private var status = 0
    private var refusal: [UInt8] = []

    init(limit: Int) { splitter = JSONSplitter(limit: limit) }

    /// - Parameter deliver: Called with each complete message, also with those before one that ends the watch.
    mutating func parse(
        _ part: EtcdTransportPart, _ deliver: (EtcdWatchMessage) throws(EtcdError) -> Void
    ) throws(EtcdError) {
        switch part {
        case .status(let code): status = code
        case .bytes(let bytes) where status == 200:
            for object in try splitter.append(bytes) { try deliver(try EtcdReplies.watchMessage(object)) }
        case .bytes(let bytes): refusal += bytes.prefix(max(0, 65_536 - refusal.count))
        }
    }

    /// The reason why the response ended.
    var end: EtcdError {
        status == 200 ? .unavailable("the watch has ended") : EtcdReplies.failure(status: status, refusal)
    }
}
