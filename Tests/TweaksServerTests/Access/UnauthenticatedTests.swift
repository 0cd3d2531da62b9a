// Tests connections of users without rights: few are kept, and the oldest yields.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(
    .blocking, .enabled(if: geteuid() == 0, "only root can become another user"),
    .enabled(if: Tool.setpriv.exists && Tool.nc.exists, "install util-linux and netcat-openbsd"))
struct UnauthenticatedTests {
    /// A server that other users can reach, a session of it, and connections of other users, in their order.
    private func server(
        _ places: Int, users: [Int]
    ) throws -> (server: TestServer, known: TestClient, others: [RunningProgram]) {
        let (server, known) = try TestServer(hasThread: true) {
            $0.unauthenticatedSessions = places
            $0.timeToFirstLine = .seconds(3_600)
        }.withClient()
        try #require(chmod(server.directory.path, 0o755) == 0 && chmod(server.path, 0o666) == 0)
        try known.ask("ping")
        let others = try users.enumerated().map { number, user in
            let other = try RunningProgram(
                Tool.setpriv.path,
                ["--reuid=\(user)", "--regid=65534", "--clear-groups", Tool.nc.path, "-U", server.path])
            try eventually { try known.stats("connections") == "\(number + 2)" }
            return other
        }
        return (server, known, others)
    }

    /// The first output of the server after a line.
    private func ask(_ other: RunningProgram, _ text: String) throws -> String {
        other.type(text)
        return try other.readSome()
    }

    @Test func theOldestYields() throws {
        let (server, known, others) = try server(2, users: Array(repeating: 65_534, count: 3))
        #expect(try others[0].readSome().hasPrefix("error too-many others are waiting"))
        #expect(try known.limitsHit() == ["unauthenticatedSessions 1"])
        #expect(try ask(others[2], "ping\n").hasPrefix("error denied uid 65534"))
        // Sessions with rights do not count.
        for _ in 1...5 { #expect(try server.connect().ask("ping") == ["ok pong"]) }
        #expect(try known.limitsHit() == ["unauthenticatedSessions 1"])
    }

    /// The peer with the most connections loses its own, even if others are as silent.
    @Test func eachPeerHasAShare() throws {
        let (_, known, others) = try server(4, users: [12_345] + Array(repeating: 65_534, count: 6))
        for index in 1...3 { #expect(try others[index].readSome().hasPrefix("error too-many others are waiting")) }
        #expect(try ask(others[0], "ping\n").hasPrefix("error denied uid 12345"))
        #expect(try known.ask("ping") == ["ok pong"])
    }
}
