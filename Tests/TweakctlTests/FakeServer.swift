// A server that says whatever a test wants: nothing, nonsense, or the end at a chosen moment.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Testing
import TweaksTestSupport

/// A socket that listens, answered by hand.
final class FakeServer {
    private let number: Int32

    /// - Parameter isListening: False for what a crashed process leaves.
    init(_ path: String, isListening: Bool = true) throws {
        #if canImport(Glibc)
            number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            number = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        if isListening { try #require(listen(number, 5) == 0) }
    }

    deinit { _ = systemClose(number) }

    /// The next client.
    func accepted() throws -> FakePeer {
        let peer = systemAccept(number)
        try #require(peer >= 0)
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        return FakePeer(FileHandle(fileDescriptor: peer, closeOnDealloc: true))
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

    func say(_ text: String) throws { try say(bytes: Array(text.utf8)) }

    func say(bytes: [UInt8]) throws { try handle.write(contentsOf: Data(bytes)) }

    /// Says it to somebody who may have hung up.
    /// - Returns: Whether all of it went.
    func sayUnlessBroken(_ text: String) -> Bool { handle.writeUnlessBroken(text) }

    func close() throws { try handle.close() }
}

private func systemClose(_ number: Int32) -> Int32 { close(number) }
private func systemAccept(_ number: Int32) -> Int32 { accept(number, nil, nil) }
