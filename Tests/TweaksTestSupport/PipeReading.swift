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
            return readAvailable()
        }
    }

    /// Waits for bytes and reads what is there; empty at the end. Other calls wait for the requested number of bytes,
    /// and `availableData` ends the process when a signal interrupts it.
    package func readAvailable() -> Data { bytes(from: fileDescriptor) }

    /// Reads everything that the process writes until its end.
    /// - Throws: As ``readSome()``.
    package func readRest() throws -> Data {
        var bytes = Data()
        while case let more = try readSome(), !more.isEmpty { bytes += more }
        return bytes
    }
}

/// Outside the extension, in which `read` is another function.
private func bytes(from descriptor: Int32) -> Data {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        return Data(bytes.prefix(max(count, 0)))
    }
}
