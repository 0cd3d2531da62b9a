// Reads a file that a command line names, or standard input.

/// A file to read; `-` is standard input.
package struct InputFile: Sendable {
    /// Its name on the command line.
    package let name: String
    /// The maximum size in bytes.
    private static let sizeLimit = 8 << 20

    package init(_ name: String) { self.name = name }

    /// The name for messages.
    package var shownName: String { name == "-" ? "standard input" : name }

    /// Reads it to its end.
    package func read() throws(Failure) -> [UInt8] {
        let descriptor = name == "-" ? 0 : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.refused, "\(name): \(errorText()); name a file, or - for standard input")
        }
        defer { if descriptor > 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        while let chunk = System.read(descriptor) {
            if chunk.isEmpty { return bytes }
            bytes += chunk
            if bytes.count > Self.sizeLimit {
                throw Failure(.refused, "\(name): more than \(Self.sizeLimit >> 20) MiB; import it in parts")
            }
        }
        throw Failure(.refused, "\(name): \(errorText()); name a file that can be read")
    }
}
