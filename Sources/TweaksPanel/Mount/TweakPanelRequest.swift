// Defines what a program's router and the panel exchange: a request, its caller, and a response with its body.

import Synchronization
public import Tweaks
import TweaksServer
import TweaksWire

/// A request for the panel, as a program's router has received it.
///
/// ```swift
/// TweakPanelRequest(method: "GET", target: "/tweaks/api/tweaks?pattern=Quotes", headers: [("Accept", "application/json")])
/// ```
public struct TweakPanelRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The path and the query as they were sent, percent-encoded: at most 8,192 bytes below the path of the panel.
    public var target: String
    /// The names and values of the headers, in any letter case: at most 100, of 16,384 bytes together. Those of the
    /// connection and the credentials of the site are ignored.
    public var headers: [(name: String, value: String)]
    /// The whole body, at most 1 MiB.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    }
}

/// A user that a program's router has authenticated.
///
/// ```swift
/// TweakPanelCaller(name: "ada", scopes: [.read, "write:Quotes"])
/// ```
public struct TweakPanelCaller: Sendable {
    /// The name, by which changes, sessions and the audit know the caller, as `caller ada`; 1 to 256 bytes without
    /// invisible characters. Limits count by it.
    public var name: String
    /// The rights. Without any, each request that needs one is refused with 403.
    public var scopes: [TweakScope]

    /// Creates a caller.
    public init(name: String, scopes: [TweakScope]) { (self.name, self.scopes) = (name, scopes) }

    /// Why it cannot call; nil if it can. A name that has to be changed for display could be that of another.
    var problem: String? {
        if (1...256).contains(name.utf8.count), name.unicodeScalars.allSatisfy({ !Quoting.isUnsafe($0) }) { return nil }
        return "the caller's name is empty, longer than 256 bytes, or has invisible characters; give another one"
    }

    var fingerprint: [UInt8] { SHA256.digest(name.utf8) }
}

/// A response of the panel, for a program's router to send.
public struct TweakPanelResponse: Sendable {
    /// The status, such as 200.
    public var status: Int
    /// The names and values of the headers. `Content-Length` is among them where the length is known; that of a response
    /// to `HEAD` is of the body that is left out.
    public var headers: [(name: String, value: String)]
    /// The body, which is sent as it is read.
    public var body: TweakPanelBody

    /// The response of a session, once its head has arrived; nil if the session has ended before.
    init?(_ stream: CallStream, isHead: Bool) async {
        var bytes: [UInt8] = []
        while Self.headEnd(bytes) == nil {
            guard let more = await stream.read() else { return nil }
            bytes += more
        }
        self.init(bytes, isHead: isHead, stream)
    }

    /// A response from the bytes of this package's own writer: a head, and the begin of the body.
    init(_ bytes: [UInt8], isHead: Bool, _ stream: CallStream? = nil) {
        let end = Self.headEnd(bytes) ?? bytes.count
        let lines = bytes[..<end].split(separator: UInt8(ascii: "\r"))
        status = lines.first.flatMap { Int(String(decoding: $0.dropFirst(9).prefix(3), as: UTF8.self)) } ?? 500
        headers = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            // After a line feed; and after the colon a space.
            let name = String(decoding: line[..<colon].dropFirst(), as: UTF8.self)
            // The router frames what it sends.
            return name == "Connection" ? nil : (name, String(decoding: line[colon...].dropFirst(2), as: UTF8.self))
        }
        if isHead || status == 204 || status == 304 {
            body = TweakPanelBody([], nil, length: 0)
        } else {
            let length = headers.first { $0.name == "Content-Length" }.flatMap { Int($0.value) }
            body = TweakPanelBody(Array(bytes[end...]), stream, length: length)
        }
    }

    /// The position after the empty line.
    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (mark.count...bytes.count).first { bytes[($0 - mark.count)..<$0].elementsEqual(mark) }
    }
}

/// The body of a response: parts of any size, to be read once, by one reader.
///
/// ```swift
/// for try await part in response.body { try await writer.write(part) }
/// ```
///
/// The server writes no faster than this is read. The session ends when the body is released, and when the task that reads
/// it is canceled; the server ends it when it stops, and when all clients together hold too much memory.
public struct TweakPanelBody: AsyncSequence, Sendable {
    fileprivate final class Source: Sendable {
        /// What has been received and not read, and the number of bytes to be read; nil if that is not known.
        private let rest: Mutex<(ready: [UInt8], left: Int?)>
        private let stream: CallStream?

        init(_ ready: [UInt8], _ stream: CallStream?, length: Int?) {
            rest = Mutex((ready, length))
            self.stream = stream
        }

        func next() async throws -> [UInt8]? {
            let ready = rest.withLock { rest in
                defer { rest.ready = [] }
                return rest.ready
            }
            guard var part = ready.isEmpty ? await stream?.read() : ready else {
                if rest.withLock({ $0.left == 0 }) { return nil }
                try Task.checkCancellation()
                throw TweakError(.closing, "the response was cut off: its session has ended; send the request again")
            }
            rest.withLock { rest in
                if let left = rest.left {
                    rest.left = left - part.count
                } else if part.last == MountedRequest.endOfBody {
                    part.removeLast()
                    rest.left = 0
                }
            }
            return part.isEmpty ? try await next() : part
        }
    }

    private let source: Source

    init(_ ready: [UInt8], _ stream: CallStream?, length: Int?) { source = Source(ready, stream, length: length) }

    /// Reads the parts of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next part, which is never empty; nil at the end.
        /// - Throws: `closing` if the session has ended before the body was complete, and `CancellationError` in a canceled
        ///   task, so that a router does not end what it sends as if it were whole.
        public mutating func next() async throws -> [UInt8]? { try await source.next() }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}
