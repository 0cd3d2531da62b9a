// Opens a watch at the first endpoint that accepts it, and delivers its messages until it fails or is abandoned.

internal import Synchronization
import Tweaks

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
        try await withEndpoints { endpoint, headers async throws(EtcdTransportError) in
            do throws(EtcdError) {
                try await self.read(watch, endpoint, headers)
            } catch {
                throw EtcdTransportError(watch.reinterpreted(error), mayHaveTakenEffect: false)
            }
        } endsAfter: { _ in
            watch.isCreated
        }
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
        skip(endpoint)
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
        self.body = body
        self.continuation = continuation
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

extension EtcdReplies {
    /// Parses one message of a watch. Fragments are not requested, so all events of a revision are in one message.
    /// - Throws: The reason why etcd ended the watch; `.compacted` carries the oldest available revision.
    package static func watchMessage(_ bytes: [UInt8]) throws(EtcdError) -> EtcdWatchMessage {
        let result = try result(of: try object(bytes))
        let header = try header(result)
        // etcd reports a rejected watch as created and canceled in one message.
        if try result.etcdFlag("canceled") { throw try cancellation(result) }
        if try result.etcdFlag("fragment") { throw .garbled("a part of a message, which was not asked for") }
        var events: [EtcdEvent] = []
        for element in try result.etcdElements("events") { events.append(try event(element)) }
        guard try result.etcdFlag("created") else { return .events(header, events) }
        guard events.isEmpty else { throw .garbled("a watch is created with events") }
        return .created(header)
    }

    private static func cancellation(_ result: JSON) throws(EtcdError) -> EtcdError {
        let left: Int64 = try result.etcdNumber("compact_revision")
        if left > 0 { return .compacted(left) }
        return failure(reason: result["cancel_reason"]?.string ?? "the watch was canceled")
    }

    private static func event(_ json: JSON) throws(EtcdError) -> EtcdEvent {
        guard let pair = json["kv"] else { throw .garbled("an event has no key") }
        switch json["type"] {
        case nil, .string("PUT")?, .literal("0")?: return EtcdEvent(.put, try self.pair(pair))
        case .string("DELETE")?, .literal("1")?: return EtcdEvent(.delete, try self.pair(pair))
        default: throw .garbled("an event of an unknown kind")
        }
    }
}

/// Finds where objects end by counting braces outside of strings. It does not validate their content.
package struct JSONSplitter {
    private let limit: Int
    private var object: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    /// - Parameter limit: The size limit of one object.
    package init(limit: Int) { self.limit = limit }

    /// Whether the input so far ends inside an object.
    package var isInside: Bool { depth > 0 }

    /// Appends received bytes.
    /// - Returns: The objects that they complete.
    /// - Throws: `.garbled` if something other than an object begins, `.tooLarge` for an object over the limit.
    package mutating func append(_ bytes: some Sequence<UInt8>) throws(EtcdError) -> [[UInt8]] {
        var objects: [[UInt8]] = []
        for byte in bytes {
            if depth == 0, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { continue }
            guard depth > 0 || byte == UInt8(ascii: "{") else {
                throw .garbled("something else than an object begins in a stream of them")
            }
            guard object.count < limit else { throw .tooLarge("a message of more than \(limit) bytes; read anew") }
            object.append(byte)
            advance(byte)
            if depth == 0 {
                objects.append(object)
                object = []
            }
        }
        return objects
    }

    private mutating func advance(_ byte: UInt8) {
        switch byte {
        case _ where isEscaped: isEscaped = false
        case UInt8(ascii: "\\") where isInText: isEscaped = true
        case UInt8(ascii: "\""): isInText.toggle()
        case UInt8(ascii: "{") where !isInText: depth += 1
        case UInt8(ascii: "}") where !isInText: depth -= 1
        default: break
        }
    }
}
