// Listens on a port and sends the same bytes in reply to each request.

import Foundation
import Synchronization
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

/// A server with a fixed reply, valid or not.
final class HTTPStub: Sendable {
    /// Emits once for each connection that either side has closed.
    let closings: AsyncStream<Void>
    private let closing: AsyncStream<Void>.Continuation
    private let listener: BoundSocket
    private let reply: [UInt8]
    private let closesConnections: Bool
    private let counts: Mutex<(connections: Int, requests: [String])> = Mutex((0, []))

    /// - Parameter closesConnections: Closes each connection after the first reply; otherwise the client has to.
    init(_ reply: String, closesConnections: Bool = false) throws {
        (self.reply, self.closesConnections) = (utf8(reply), closesConnections)
        (closings, closing) = AsyncStream.makeStream()
        listener = try BoundSocket(loopback: .version4)
        SystemThread.start("stub") { [listener, serve] in
            while let socket = try? listener.accepted() { SystemThread.start("stub") { serve(socket) } }
        }
    }

    var port: Int { listener.port }
    var url: String { "http://127.0.0.1:\(port)" }
    var connections: Int { counts.withLock { $0.connections } }
    /// The requests as they were received.
    var requests: [String] { counts.withLock { $0.requests } }

    /// Accepts no more connections.
    func close() { listener.shutDown() }

    private func serve(_ socket: Int32) {
        counts.withLock { $0.connections += 1 }
        defer {
            // A program that is being started has the socket from fork to exec; the client sees its end at once.
            shutdown(socket, Int32(SHUT_RDWR))
            Foundation.close(socket)
            closing.yield()
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A request arrives in one piece here.
        while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 {
            let request = String(decoding: buffer.prefix(count), as: UTF8.self)
            counts.withLock { $0.requests.append(request) }
            _ = Sockets.send(reply, to: socket)
            if closesConnections { return }
        }
    }
}
