// Reading from a program that may say nothing any more: then a test fails, and does not hang.

package import Foundation

extension FileHandle {
    /// What a program writes next; nothing at its end.
    /// - Throws: ``ClientError/timeout(_:)`` when nothing comes for very long.
    package func readSome() throws -> Data {
        var entry = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&entry, 1, TestClient.patience)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClientError.timeout("a program's output") }
            // What is there; other calls wait for as much as was asked for.
            return availableData
        }
    }

    /// Everything that a program writes until its end.
    /// - Throws: As ``readSome()``.
    package func readRest() throws -> Data {
        var bytes = Data()
        while case let more = try readSome(), !more.isEmpty { bytes += more }
        return bytes
    }
}
