// Tests the service on a real port, with nc and with sockets.

import Testing
import Tweaks
import TweaksTestSupport

@testable import throttled

extension WithSettings {
    @Suite(.blocking, .timeLimit(.minutes(30))) struct ServiceTests {
        private let service: Service

        init() throws {
            try WithSettings.reset()
            service = try Service(port: 0)
        }

        private var port: Int { Int(service.port) }

        /// Runs the service during `body`.
        private func serving(_ body: () async throws -> Void) async throws {
            async let end: Void = service.run()
            defer { service.stop() }
            try await body()
            service.stop()
            await end
        }

        @Test(.enabled(if: Tool.nc.exists)) func netcatGetsRepliesAndTheLimitIsPerAddress() async throws {
            try await serving {
                Replies.greeting.value = "hello"
                let output = try Tool.nc.run(["-N", "127.0.0.1", "\(port)"], input: "upper a\r\nsum 1 2\nnope\n")
                #expect(output == "hello\nok A\nok 3\nerror no such command; type help\n")
                (Limits.burst.value, Limits.rate.value) = (1, 0)
                let end = try Tool.nc.run(["127.0.0.1", "\(port)"], input: "upper a\nupper b\nquit\n")
                #expect(end == "hello\nok A\nbusy\nbye\n")
                let other = ["-N", "-s", "127.0.0.2", "127.0.0.1", "\(port)"]
                #expect(try Tool.nc.run(other, input: "upper b\n") == "hello\nok B\n")
            }
        }

        @Test func aRequestCanComeByteByByte() async throws {
            try await serving {
                let client = try TestClient(port: port)
                try client.sendBytewise(Array("upper ä\r\n".utf8))
                #expect(try client.line() == "ok Ä")
            }
        }

        @Test func eachLineOfAFloodHasAReply() async throws {
            try await serving {
                Limits.burst.value = 100
                let client = try TestClient(port: port)
                let sent = client.sendMeanwhile(String(repeating: "upper x\n", count: 50_000) + "quit\n")
                let lines = try client.restOfLines()
                sent.waitBlocking()
                #expect(lines.count == 50_001)
                #expect(lines.prefix(100).allSatisfy { $0 == "ok X" } && lines.last == "bye")
                #expect(lines.contains { $0.hasPrefix("busy retry in ") })
            }
        }

        @Test func connectionsAboveTheLimitAreRefused() async throws {
            try await serving {
                Limits.connections.value = 2
                let inside = try (0..<2).map { _ in try TestClient(port: port) }
                for client in inside { #expect(try client.ask("upper a") == ["ok A"]) }
                for _ in 0..<200 { #expect(try TestClient(port: port).rest() == "busy too many connections\n") }
                Limits.connections.value = 3
                #expect(try TestClient(port: port).ask("upper b") == ["ok B"])
                #expect(try inside[0].ask("upper c") == ["ok C"])
            }
        }

        @Test func aShorterDelayWakesTheService() async throws {
            try await serving {
                Replies.delay.value = .seconds(60)
                let client = try TestClient(port: port)
                try client.send("upper a\n")
                Replies.delay.value = .zero
                #expect(try client.line() == "ok A")
            }
        }

        @Test func neitherResetsNorClientsThatDoNotReadBlockOthers() async throws {
            try await serving {
                Limits.rate.value = 10_000
                Limits.burst.value = 10_000
                let unread = try TestClient(port: port)
                _ = unread.sendMeanwhile(
                    String(repeating: "upper \(String(repeating: "x", count: 400))\n", count: 60_000))
                for _ in 0..<20 {
                    let client = try TestClient(port: port)
                    try client.send(String(repeating: "upper x\n", count: 2_000))
                    client.reset()
                }
                // The bucket may be empty, but quit needs no token.
                let other = try TestClient(port: port)
                try other.send("quit\n")
                #expect(try other.rest() == "bye\n")
                #expect(await service.dropAll() >= 1)
                withExtendedLifetime(unread) {}
            }
        }

        @Test func metricsCountAndActionsResetAndDisconnect() async throws {
            try await serving {
                let registry = TweakRegistry()
                Settings.declareActions(for: service, registry: registry)
                #expect(try await registry["Service/Figures/Zero"]?.run() == "counting from 0")
                Limits.burst.value = 2
                let client = try TestClient(port: port)
                try client.send("upper a\nupper b\nupper c\n")
                #expect(try client.line() == "ok A")
                #expect(try [client.line(), client.line()].last?.hasPrefix("busy") == true)
                #expect(try await registry["Service/Maintenance/Drop"]?.run() == "closing 1 connections")
                #expect(try client.rest() == "closing by order of the operator\n")
                #expect((Metrics.accepted.value, Metrics.requests.value, Metrics.refused.value) == (1, 2, 1))
                #expect(Metrics.busiest.value == "127.0.0.1 with 2 requests")
                #expect(try await registry["Service/Figures/Zero"]?.run() == "counting from 0")
                #expect(Metrics.requests.value == 0 && Metrics.busiest.value == "")
            }
        }

        @Test func aStopSendsPendingReplies() async throws {
            Replies.delay.value = .seconds(60)
            let client = try TestClient(port: port)
            let inherited = try InheritedListener(port: port)
            try client.send("upper a\nupper b\n")
            async let end: Void = service.run()
            // The connection is counted once its lines are read.
            while Metrics.connections.value == 0 { await Task.yield() }
            service.stop()
            #expect(try client.rest().hasSuffix("closing the service stops\n"))
            await end
            _ = withExtendedLifetime(inherited) {
                #expect(throws: ClientError.self) { try TestClient(port: port) }
            }
            #expect(await service.dropAll() == 0)
            await service.run()
        }

        @Test func cancellationStopsTheService() async throws {
            let task = Task { [service] in await service.run() }
            let client = try TestClient(port: port)
            #expect(try client.ask("upper a") == ["ok A"])
            task.cancel()
            #expect(try client.rest() == "closing the service stops\n")
            await task.value
        }

        @Test func aTakenPortIsAnError() throws {
            let error = #expect(throws: SocketError.self) { try Service(port: service.port) }
            #expect(error?.description == "127.0.0.1:\(port): Address already in use")
        }
    }
}
