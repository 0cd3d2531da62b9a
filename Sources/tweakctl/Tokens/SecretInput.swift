// Reads a secret from a descriptor, or from a terminal without echo.

import TweaksSystem

/// Reads one line that must not be displayed.
enum SecretInput {
    private static let longest = 4_096

    /// The first line of a descriptor.
    static func line(from descriptor: Int32) throws(Failure) -> [UInt8] {
        var line: [UInt8] = []
        // Byte by byte: the bytes after the line belong to the next reader of the descriptor.
        while line.count < longest {
            var byte: UInt8 = 0
            let count = systemRead(descriptor, &byte)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Failure(.usage, "descriptor \(descriptor): \(errorText())") }
            if count == 0 || byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        throw Failure(.usage, "login: that is not a token but a line of more than \(longest) bytes")
    }

    /// A line typed on the terminal, without echo. The terminal settings are restored in any case.
    static func line(prompt: String) throws(Failure) -> [UInt8] {
        // Echo is off before the prompt: an immediate answer must be neither displayed nor lost.
        Terminal.enterSilent()
        System.write(Array(prompt.utf8), to: 2)
        defer {
            Terminal.leaveRaw()
            System.write([UInt8(ascii: "\n")], to: 2)
        }
        return try line(from: 0)
    }
}

/// read(2) of one byte, under a name that no method shadows.
private func systemRead(_ number: Int32, _ byte: inout UInt8) -> Int { read(number, &byte, 1) }
