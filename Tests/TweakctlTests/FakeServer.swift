// A server that says whatever a test wants: nothing, nonsense, or the end at a chosen moment.

import Foundation
import Testing
import TweaksTestSupport
import TweaksWire

/// A socket that listens, answered by hand.
final class FakeServer {
    private let socket: BoundSocket

    /// - Parameter isListening: False for what a crashed process leaves.
    init(_ path: String, isListening: Bool = true) throws {
        socket = try BoundSocket(path, for: isListening ? .clients : .nothing)
    }

    /// Listens at a port.
    init() throws { socket = try BoundSocket(loopback: .version4) }

    /// Where it is.
    var address: String { socket.address }

    /// The next client.
    func accepted() throws -> FakePeer {
        FakePeer(FileHandle(fileDescriptor: try socket.accepted(), closeOnDealloc: true))
    }
}

/// One client of it.
final class FakePeer {
    private let handle: FileHandle
    private var unread = ""

    fileprivate init(_ handle: FileHandle) { self.handle = handle }

    /// The next line it says.
    func line() throws -> String {
        while true {
            if let end = unread.firstIndex(of: "\n") {
                defer { unread = String(unread[unread.index(after: end)...]) }
                return String(unread[..<end])
            }
            let data = handle.availableData
            if data.isEmpty { throw ClientError.ended(unread) }
            unread += String(decoding: data, as: UTF8.self)
        }
    }

    /// Expects a line and answers it.
    func answer(_ expected: String, _ lines: String...) throws {
        #expect(try line() == expected)
        try say(lines.map { $0 + "\n" }.joined())
    }

    /// Goes through SCRAM as a server does that knows the token.
    /// - Parameter reply: What follows `ok`, or a refusal.
    func takeToken(_ secret: String, _ reply: String = "token alice may read") throws {
        let exchange = try Scram.Server(try message())
        try say("ok \(exchange.challenge)\n")
        let acceptance = try #require(try exchange.accept(try message(), ScramVerifier(token: secret)))
        try say(reply.hasPrefix("error") ? "\(reply)\n" : "ok \(acceptance.last) \(reply)\n")
    }

    /// The message of SCRAM that comes next.
    func message() throws -> String {
        let line = try line()
        try #require(line.hasPrefix("auth scram-sha-256 "), "\(line)")
        return String(line.dropFirst("auth scram-sha-256 ".count))
    }

    func say(_ text: String) throws { try say(bytes: Array(text.utf8)) }

    func say(bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }

    /// Says it to somebody who may have hung up.
    /// - Returns: Whether all of it went.
    func sayUnlessBroken(_ text: String) -> Bool { handle.writeUnlessBroken(text) }

    func close() throws { try handle.close() }
}
