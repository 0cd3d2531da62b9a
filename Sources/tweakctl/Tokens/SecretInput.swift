// Reads a secret: from a descriptor, or from a terminal that does not show it.

import TweaksSystem
import TweaksTerminal

/// Reads one line that nobody shall see.
enum SecretInput {
    private static let longest = 4_096

    /// The first line of a descriptor.
    static func line(from descriptor: Int32) throws(Failure) -> [UInt8] {
        var line: [UInt8] = []
        // Byte by byte: what follows belongs to whoever reads next.
        while line.count < longest {
            var byte: UInt8 = 0
            let count = systemRead(descriptor, &byte)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Failure(.usage, "descriptor \(descriptor): \(errorText())") }
            if count == 0 || byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        throw Failure(.usage, "login: that is no token, but a line of more than \(longest) bytes")
    }

    /// A line typed on the terminal, without echo. The terminal is given back however that ends.
    static func line(prompt: String) throws(Failure) -> [UInt8] {
        // Silent before anybody is asked: who answers at once must not be shown, nor be unheard.
        Terminal.enterSilent()
        System.write(Array(prompt.utf8), to: 2)
        defer {
            Terminal.leaveRaw()
            System.write([UInt8(ascii: "\n")], to: 2)
        }
        return try line(from: 0)
    }
}

/// read(2) of one byte, under a name that no method takes.
private func systemRead(_ number: Int32, _ byte: inout UInt8) -> Int { read(number, &byte, 1) }
