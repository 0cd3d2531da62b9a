// Tests that the kernel's buffers of all connections together stay within the memory budget.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct KernelBufferTests {
    private static let budget = 8_388_608

    private func server(_ budget: Int = budget) throws -> TestServer {
        let registry = TweakRegistry()
        for number in 0..<500 { _ = Tweak("Many", "Of", "T\(number)", 0, help: "x", registry: registry) }
        return try TestServer(registry: registry) { $0.memoryBytes = budget }
    }

    /// What arrives at clients that have not read is what the kernel held for them.
    @Test(arguments: Transport.available)
    func clientsThatDoNotReadFillNoMoreThanTheirShare(_ transport: Transport) throws {
        let (server, count) = (try server(), 120)
        let flood = String(repeating: "get *\n", count: 40)
        let deaf = try (0..<count).map { _ in
            let client = try server.connect(transport)
            try client.send(flood)
            return client
        }
        let other = try server.connect()
        #expect(try Int(other.stats("heldBytes")) ?? .max <= Self.budget)
        // Over TCP the rest is in the clients' receive buffers, which this process does not hold.
        let inKernel =
            try transport == .unix
            ? deaf.map { try $0.arrivedBytes() } : Self.sendQueues(of: server.server.port ?? 0, transport)
        #expect(transport != .unix || inKernel.count == count)
        #expect(inKernel.reduce(0, +) <= Self.budget / 4)
        // TCP may add to what waits for the client until that is 64 KiB.
        #expect(inKernel.allSatisfy { $0 <= (transport == .unix ? 32_768 : 81_920) })
    }

    /// The bytes in the send buffers of the connections of a port; empty where the system does not report them.
    private static func sendQueues(of port: Int, _ transport: Transport) -> [Int] {
        let file = "/proc/net/\(transport == .tcp4 ? "tcp" : "tcp6")"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let words = line.split(separator: " ")
            // Not the listener; of the connections, the bytes sent : received.
            guard words.count > 4, words[1].hasSuffix(suffix), words[3] != "0A" else { return nil }
            return Int(words[4].prefix(8), radix: 16)
        }
    }

    @Test func theBuffersShrinkWithTheNumberOfSessions() throws {
        let server = try server(67_108_864)
        func held() throws -> Int {
            let client = try server.connect()
            try client.send(String(repeating: "get *\n", count: 100))
            return try client.arrivedBytes()
        }
        let alone = try held()
        let others = try (0..<400).map { _ in try server.connect() }
        #expect(try held() < alone / 4)
        withExtendedLifetime(others) {}
    }

    /// A small buffer must not make a reader wait for timers of the kernel.
    @Test(arguments: Transport.available) func aLongReplyArrivesThroughSmallBuffers(_ transport: Transport) throws {
        let server = try server()
        let others = try (0..<300).map { _ in try server.connect(transport) }
        let client = try server.connect(transport)
        for _ in 0..<20 { #expect(try client.ask("get *").count == 501) }
        withExtendedLifetime(others) {}
    }
}
