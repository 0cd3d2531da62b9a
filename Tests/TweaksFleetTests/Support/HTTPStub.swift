// Listens on a port and answers requests with bytes that a test has written down.

import Foundation
import Synchronization
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

/// A server that says what it is told, right or wrong.
final class HTTPStub: Sendable {
    enum Ending: Sendable {
        /// The next request may come.
        case keepOpen
        case close
        /// Nothing more is said until the other side closes.
        case hold
    }

    struct Reply: Sendable {
        var text: String
        var ending = Ending.keepOpen

        init(_ text: String, _ ending: Ending = .keepOpen) { (self.text, self.ending) = (text, ending) }
    }

    var port: Int { listener.port }
    /// Once for each connection that is closed, by whichever side.
    let closings: AsyncStream<Void>
    private let closing: AsyncStream<Void>.Continuation
    private let listener: BoundSocket
    private let reply: @Sendable (_ path: String) -> Reply
    private let counts: Mutex<(connections: Int, requests: [String])> = Mutex((0, []))

    init(_ reply: @escaping @Sendable (_ path: String) -> Reply) throws {
        self.reply = reply
        (closings, closing) = AsyncStream.makeStream()
        listener = try BoundSocket(loopback: .version4)
        SystemThread.start("stub") { [listener, serve] in
            while let socket = try? listener.accepted() {
                SystemThread.start("stub") { serve(socket) }
            }
        }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var connections: Int { counts.withLock { $0.connections } }
    /// Each request as it came.
    var requests: [String] { counts.withLock { $0.requests } }

    /// Takes no connections any more.
    func close() { listener.shutDown() }

    private func serve(_ socket: Int32) {
        counts.withLock { $0.connections += 1 }
        defer {
            Foundation.close(socket)
            closing.yield()
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while let request = Self.request(socket, &buffer) {
            counts.withLock { $0.requests.append(request) }
            let reply = reply(String(request.split(separator: " ")[1]))
            _ = EtcdSocket.send(utf8(reply.text), to: socket)
            if reply.ending == .close { return }
        }
    }

    /// A request, which comes in one piece here; nil at the end.
    private static func request(_ socket: Int32, _ buffer: inout [UInt8]) -> String? {
        guard let bytes = EtcdSocket.receive(socket, into: &buffer), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
