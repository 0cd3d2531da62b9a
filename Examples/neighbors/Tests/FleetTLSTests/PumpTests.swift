// Tests what a connection of the connector does with its bytes, its ends and its descriptors.

import Foundation
import NeighborsTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import FleetTLS

// One after another, since descriptors are counted.
@Suite(.needsEtcd, .serialized, .timeLimit(.minutes(10))) struct PumpTests {
    private let authority: Authority
    private let own: Authority.Signed
    private let connector: TLSConnector

    init() throws {
        authority = try Authority()
        own = try authority.sign("server")
        connector = try TLSConnector(authorities: authority.file)
    }

    private func connect(to server: TLSServer) throws -> Connection {
        Connection(try connector.connect(host: "localhost", port: server.port))
    }

    @Test func `What is written arrives, and comes back as it was`() throws {
        let server = try TLSServer(own, .echoes)
        let connection = try connect(to: server)
        let bytes = (0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        Thread.detachNewThread { try? connection.send(bytes) }
        var received: [UInt8] = []
        while received.count < bytes.count { received += try connection.receive() }
        #expect(received == bytes)
    }

    @Test func `Of a host with several addresses, the first that answers is used`() throws {
        let server = try TLSServer(own, .echoes)
        var connector = connector
        connector.resolver = TwoAddresses()
        for _ in 0..<5 {
            let connection = Connection(try connector.connect(host: "localhost", port: server.port))
            try connection.send("hello")
            #expect(shutdown(connection.socket, Int32(SHUT_WR)) == 0)
            #expect(String(decoding: try connection.rest(), as: UTF8.self) == "hellobye")
        }
    }

    @Test func `The end of what is written arrives, and what comes after it, too`() throws {
        let server = try TLSServer(own, .echoes)
        let connection = try connect(to: server)
        try connection.send("hello, ")
        #expect(shutdown(connection.socket, Int32(SHUT_WR)) == 0)
        #expect(String(decoding: try connection.rest(), as: UTF8.self) == "hello, bye")
    }

    @Test(arguments: [true, false])
    func `What a server has sent is there after it has closed, or crashed`(_ isPolite: Bool) async throws {
        // More than fits into the buffers of the socket pair.
        let server = try TLSServer(own, .floods(8 << 20, isPolite: isPolite))
        let connection = try connect(to: server)
        // All of it is on the way now.
        let first = try connection.receive()
        #expect(try first.count + connection.rest().count == 8 << 20)
    }

    @Test func `A server that does not read slows the program down`() throws {
        let server = try TLSServer(own, .isDeaf)
        let connection = try connect(to: server)
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(connection.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // The buffers of the system have a few megabytes.
        #expect(throws: POSIXError.self) { try connection.send([UInt8](repeating: 0, count: 64 << 20)) }
    }

    @Test func `A server that says nothing is given up`() async throws {
        let server = try TLSServer(own, .isSilent)
        let error = #expect(throws: TLSProblem.self) { try connector.connect(host: "localhost", port: server.port) }
        #expect(error?.description == "no TLS handshake with localhost within 4 s; does its port speak TLS?")
        for await _ in server.ends { break }
    }

    @Test func `A program that closes its end closes the connection`() async throws {
        let server = try TLSServer(own, .echoes)
        do { _ = try connect(to: server) }
        for await _ in server.ends { break }
    }

    @Test func `Connections that have ended leave no descriptors`() async throws {
        let (good, closing) = (try TLSServer(own, .echoes), try TLSServer(own, .closes))
        let stranger = try TLSServer(try authority.sign("stranger", "DNS:example.org"), .echoes)
        let before = try Self.descriptors()
        var (ended, refused) = (good.ends.makeAsyncIterator(), stranger.ends.makeAsyncIterator())
        for _ in 0..<100 {
            do { _ = try connect(to: good) }
            _ = await ended.next()
            #expect(throws: TLSProblem.self) { try connect(to: closing) }
            #expect(throws: TLSProblem.self) { try connect(to: stranger) }
            _ = await refused.next()
        }
        // A connection has three on this side; the last ones may not have ended yet.
        #expect(try Self.descriptors() < before + 100)
    }

    @Test func `A file that is replaced is that of the next connection`() throws {
        let (other, directory) = (try Authority(), try TemporaryDirectory())
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let file = try directory.write("ca.pem", text(other.file))
        let connector = try TLSConnector(authorities: file)
        let server = try TLSServer(own, .echoes)
        #expect(throws: TLSProblem.self) { try connector.connect(host: "localhost", port: server.port) }
        _ = try directory.write("ca.pem", text(authority.file))
        close(try connector.connect(host: "localhost", port: server.port))
    }

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
    }
}

/// Finds an address at which nothing listens, and one that answers.
private struct TwoAddresses: Resolver, Sendable {
    private func addresses(_ text: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return loop.makeCompletedFuture { [try SocketAddress(ipAddress: text, port: port)] }
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses("127.0.0.1", port) }
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses("::1", port) }
    func cancelQueries() {}
}
