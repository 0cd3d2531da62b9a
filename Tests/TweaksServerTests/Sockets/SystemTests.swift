// Tests TCP ports and failures of the kernel: ports in use, no descriptors left, closed peers.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SystemTests {
    private func server(_ listeners: TweakListener...) -> TweakServer {
        TweakServer(name: "example", registry: ExampleTweaks().registry, listeners: listeners)
    }

    @Test func portZeroPicksAFreePortOfLoopbackOnly() throws {
        let server = server(.tcp(port: 0))
        #expect(server.port == nil)
        try server.start()
        defer { server.stop() }
        let port = try #require(server.port)
        #expect(port > 0)
        #expect(try TestClient(port: port).ask("ping") == ["ok pong"])
        if Transport.available.contains(.tcp6) { #expect(try TestClient(port6: port).ask("ping") == ["ok pong"]) }
        for address in Host.current().addresses where !address.hasPrefix("127.") && !address.contains(":") {
            #expect(throws: ClientError.system("connect", ECONNREFUSED)) {
                try TestClient(port: port, address: address)
            }
        }
    }

    @Test func aServerMayHaveSeveralListeners() throws {
        let directory = try TemporaryDirectory()
        let paths = [directory.file("one"), directory.file("two")]
        let server = server(.unix(path: paths[0]), .tcp(port: 0), .unix(path: paths[1]))
        try server.start()
        defer { server.stop() }
        #expect(server.socketPaths == paths)
        for path in paths { #expect(try TestClient(unix: path).ask("ping") == ["ok pong"]) }
        #expect(try TestClient(port: server.port ?? 0).ask("ping") == ["ok pong"])
    }

    /// The listeners before it are closed again.
    @Test func aPortInUseIsRefused() throws {
        let first = server(.tcp(port: 0))
        try first.start()
        defer { first.stop() }
        let port = try #require(first.port)
        let directory = try TemporaryDirectory()
        let second = server(.unix(path: directory.file("socket")), .tcp(port: port))
        let error = #expect(throws: ServerError.self) { try second.start() }
        #expect(
            error?.description
                == "tcp 127.0.0.1:\(port): Address already in use: another program, or another instance of "
                + "this one, listens there; end it, or choose another port")
        #expect(error?.isTaken == true)
        #expect(!FileManager.default.fileExists(atPath: directory.file("socket")))
        #expect(second.socketPaths.isEmpty)
        #expect(try TestClient(port: port).ask("ping") == ["ok pong"])
    }

    @Test(arguments: [-1, 65_536, .max, .min]) func aPortOutOfRangeIsRefused(_ port: Int) {
        #expect(throws: ServerError("tcp port \(port): a port is 0…65535; 0 picks a free one")) {
            try server(.tcp(port: port)).start()
        }
    }

    @Test func theOriginOfAChangeIsTheAddressOrTheUser() throws {
        let server = try TestServer()
        try server.connect(.tcp4).ask("set Content/Text/Size 72")
        let origin = server.registry["Content/Text/Size"]?.layers.last?.origin.description
        #expect(origin?.hasPrefix("127.0.0.1:") == true && origin.flatMap { Int($0.dropFirst(10)) } != nil)
        try server.connect().ask("set Content/Text/Size 73")
        #expect(server.registry["Content/Text/Size"]?.layers.last?.origin == .user(UInt32(geteuid())))
    }

    // MARK: In a process of their own

    /// New clients are served again when descriptors are free.
    @Test func aClientIsRefusedWhileNoDescriptorsAreLeft() async {
        await #expect(processExitsWith: .success) {
            let (server, one) = try TestServer().withClient()
            try #require(one.ask("ping") == ["ok pong"])
            // All open descriptors stay below the limit, also the server's reserve: above it, it would be useless.
            // Inherited descriptors leave gaps.
            let top = (0..<20_000).last { fcntl($0, F_GETFD) >= 0 } ?? 0
            lowerDescriptorLimit(to: Int(top) + 20)
            // libdispatch inspects its threads at times, with a descriptor: it may take or release one at any moment.
            var isRefused = false
            for _ in 1...50 where !isRefused {
                var taken: [Int32] = []
                while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
                // The client's end of the next connection can still be made, the server's cannot.
                if let last = taken.popLast() { close(last) }
                let reply = try? server.connect(.tcp4).ask("ping").first
                isRefused = reply?.hasPrefix("error too-many ") == true
                // A user with all rights gets the descriptor that the server reserves for refusals.
                if isRefused { isRefused = (try? server.connect().ask("ping")) == ["ok pong"] }
                for descriptor in taken { close(descriptor) }
            }
            try #require(isRefused)
            try #require(one.ask("ping") == ["ok pong"])
            try #require(try one.hasHit("descriptors"))
            lowerDescriptorLimit(to: Int(top) + 30)
            try #require(server.connect().ask("ping") == ["ok pong"])
        }
    }

    @Test func aReplyToAClosedPeerDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let (server, other) = try TestServer().withClient()
            for transport in Transport.available {
                for _ in 1...quantity(50) {
                    let client = try server.connect(transport)
                    try client.send(String(repeating: "get *\n", count: 200))
                    _ = try client.line()
                    client.reset()
                }
                try #require(other.ask("ping") == ["ok pong"])
            }
            server.settle()
            try #require(other.stats("sessions") == "1")
        }
    }
}
