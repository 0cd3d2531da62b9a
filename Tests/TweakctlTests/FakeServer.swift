// A server whose replies are written by the test.

import Foundation
import Testing
import TweaksTestSupport
import TweaksWire

/// A listening socket.
final class FakeServer {
    private let socket: BoundSocket

    /// - Parameter isListening: False for the socket file of a crashed process.
    init(_ path: String, isListening: Bool = true) throws {
        socket = try BoundSocket(path, for: isListening ? .clients : .nothing)
    }

    /// Listens at a TCP port.
    init() throws { socket = try BoundSocket(loopback: .version4) }

    var address: String { socket.address }

    /// Waits for the next client.
    func accept() throws -> FakePeer { FakePeer(try socket.accepted(), of: socket) }
}

/// The server's end of a connection, which keeps the server listening.
final class FakePeer {
    private let handle: FileHandle
    private let socket: BoundSocket
    private var unread = ""

    fileprivate init(_ descriptor: Int32, of socket: BoundSocket) {
        (handle, self.socket) = (FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), socket)
    }

    /// Whether it refuses to send fields, as an older server does; otherwise the test answers that request.
    var isOld = true

    /// The next line of the client.
    func line() throws -> String {
        while true {
            if let end = unread.firstIndex(of: "\n") {
                let line = String(unread[..<end])
                unread = String(unread[unread.index(after: end)...])
                if isOld, line == "json text" {
                    try send("error usage json: write json [on|off], as in: json on\n")
                    continue
                }
                return line
            }
            let data = handle.readAvailable()
            if data.isEmpty { throw ClientError.ended(unread) }
            unread += String(decoding: data, as: UTF8.self)
        }
    }

    /// Expects a line and answers it.
    func answer(_ expected: String, _ lines: String...) throws {
        #expect(try line() == expected)
        try send(lines.map { $0 + "\n" }.joined())
    }

    /// Authenticates the client by SCRAM, as a server does that knows the token.
    /// - Parameter reply: The words after `ok`, or a refusal.
    func authenticate(_ secret: String, _ reply: String = "token alice may read") throws {
        let exchange = try Scram.Server(try scramMessage())
        try send("ok \(exchange.challenge)\n")
        let acceptance = try #require(try exchange.accept(try scramMessage(), ScramVerifier(token: secret)))
        try send(reply.hasPrefix("error") ? "\(reply)\n" : "ok \(acceptance.last) \(reply)\n")
    }

    /// The next line, which must be a message of SCRAM.
    func scramMessage() throws -> String {
        let line = try line()
        try #require(line.hasPrefix("auth scram-sha-256 "), "\(line)")
        return String(line.dropFirst("auth scram-sha-256 ".count))
    }

    func send(_ text: String) throws { try send(bytes: Array(text.utf8)) }

    func send(bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }

    /// Sends text to a client that may have closed the connection.
    /// - Returns: Whether all of it was sent.
    func sendUnlessClosed(_ text: String) -> Bool { handle.writeUnlessBroken(text) }

    func close() throws { try handle.close() }
}
