// Tests that sockets are connected within a time limit, and that a failure has its error number and text.

import Testing
import TweaksSystem
import TweaksTestSupport

@Suite struct SocketsTests {
    private func failure(_ body: () throws(SocketError) -> Int32) -> SocketError? {
        do throws(SocketError) {
            close(try body())
            return nil
        } catch {
            return error
        }
    }

    @Test func `A connection to a listening port and to a path carries bytes`() throws {
        let home = try TemporaryDirectory()
        let port = try BoundSocket(loopback: .version4)
        let path = try BoundSocket(home.file("s"), for: .clients)
        for limit in [nil, 5_000] as [Int32?] {
            let byPort = try Sockets.connect(host: "127.0.0.1", port: String(port.port), milliseconds: limit)
            let byPath = try Sockets.connect(path: path.address, milliseconds: limit)
            for (number, server) in [(byPort, port), (byPath, path)] {
                defer { close(number) }
                let accepted = try server.accepted()
                defer { close(accepted) }
                #expect(fcntl(number, F_GETFL) & O_NONBLOCK == 0 && fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
                #expect(Sockets.send([7, 8], to: number))
                var bytes = [UInt8](repeating: 0, count: 2)
                #expect(recv(accepted, &bytes, 2, Int32(MSG_WAITALL)) == 2 && bytes == [7, 8])
            }
        }
    }

    @Test func `A send to a closed connection fails and raises no signal`() throws {
        let server = try BoundSocket(loopback: .version4)
        let number = try Sockets.connect(host: "127.0.0.1", port: String(server.port), milliseconds: 5_000)
        defer { close(number) }
        shutdown(number, Int32(SHUT_WR))
        #expect(!Sockets.send([1], to: number))
    }

    @Test func `A closed port, an unknown host and an unusable path are errors`() throws {
        let closed = try BoundSocket(loopback: .version4, backlog: nil)
        #expect(
            failure { () throws(SocketError) in
                try Sockets.connect(host: "127.0.0.1", port: String(closed.port), milliseconds: 5_000)
            }?.code == ECONNREFUSED)
        withExtendedLifetime(closed) {}
        #expect(
            failure { () throws(SocketError) in
                try Sockets.connect(host: "no-such-host.invalid", port: "1", milliseconds: 5_000)
            }?.code == 0)
        for (path, code) in [
            ("", ENAMETOOLONG), (String(repeating: "a", count: 200), ENAMETOOLONG), ("/none/s", ENOENT),
        ] {
            #expect(
                failure { () throws(SocketError) in try Sockets.connect(path: path, milliseconds: nil) }?.code == code)
        }
    }

    #if os(Linux)
        @Test func `A path whose server accepts no connections is an error after the time limit`() throws {
            let home = try TemporaryDirectory()
            let server = try BoundSocket(home.file("s"), for: .clients)
            var waiting: [Int32] = []
            defer { for number in waiting { close(number) } }
            var full: SocketError?
            while full == nil, waiting.count < 10_000 {
                full = failure { () throws(SocketError) in
                    waiting.append(try Sockets.connect(path: server.address, milliseconds: 0))
                    return dup(0)
                }
            }
            #expect(full?.code == EAGAIN)
            let late = failure { () throws(SocketError) in
                try Sockets.connect(path: server.address, milliseconds: 20)
            }
            #expect(late?.code == ETIMEDOUT)
        }
    #endif
}
