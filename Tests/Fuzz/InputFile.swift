// Reads fuzz inputs from disk.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Reads input files.
package enum InputFile {
    /// The bytes of a file.
    package static func bytes(_ path: String) throws(Finding) -> [UInt8] {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        if number < 0 { throw Finding("the file cannot be opened") }
        defer { close(number) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(number, &chunk, chunk.count)
            if count <= 0 { return bytes }
            bytes += chunk[..<count]
        }
    }
}
