// Reads from a child process with a timeout, so that a test fails instead of hanging, and writes to one that may have
// ended, without ending the tests by SIGPIPE.

package import Foundation

extension FileHandle {
    /// Reads what the process writes next; empty at the end.
    /// - Throws: ``ClientError/timeout(_:)`` when nothing arrives within the timeout.
    package func readSome() throws -> Data {
        var entry = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
        let count = uninterrupted { poll(&entry, 1, TestClient.timeout) }
        guard count > 0 else { throw ClientError.timeout("a program's output") }
        return readAvailable()
    }

    /// Waits for bytes and reads what is there; empty at the end. Other calls wait for the requested number of bytes,
    /// and `availableData` ends the process when a signal interrupts it.
    package func readAvailable() -> Data {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = uninterrupted { systemRead(fileDescriptor, &bytes, bytes.count) }
        return Data(bytes.prefix(max(count, 0)))
    }

    /// Reads everything that the process writes until its end.
    /// - Throws: As ``readSome()``.
    package func readRest() throws -> Data {
        var bytes = Data()
        while case let more = try readSome(), !more.isEmpty { bytes += more }
        return bytes
    }

    /// Writes text until the reader closes its end. SIGPIPE is blocked on this thread and dropped.
    /// - Returns: Whether all was written.
    @discardableResult
    package func writeUnlessBroken(_ text: String) -> Bool {
        var (pipes, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipes)
        sigaddset(&pipes, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipes, &before)
        let isWritten = (try? write(contentsOf: Data(text.utf8))) != nil
        sigpending(&pending)
        var number: Int32 = 0
        if sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipes, &number) }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        return isWritten
    }
}
