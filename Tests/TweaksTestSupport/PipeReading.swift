// Reads from a child process with a timeout, so that a test fails instead of hanging.

package import Foundation

extension FileHandle {
    /// Reads what the process writes next; empty at the end.
    /// - Throws: ``ClientError/timeout(_:)`` when nothing arrives within the timeout.
    package func readSome() throws -> Data {
        var entry = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&entry, 1, TestClient.timeout)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClientError.timeout("a program's output") }
            // Returns what is available; other calls wait for the requested number of bytes.
            return availableData
        }
    }

    /// Reads everything that the process writes until its end.
    /// - Throws: As ``readSome()``.
    package func readRest() throws -> Data {
        var bytes = Data()
        while case let more = try readSome(), !more.isEmpty { bytes += more }
        return bytes
    }
}
