// Reads tokens without displaying them, and detects and masks them in lines and messages.

import Tweaks
import TweaksSystem
import TweaksWire

/// Recognizes tokens.
enum Secrets {
    /// Whether a line that is being typed is an `auth` command.
    static func isAuthentication(_ line: String) -> Bool {
        let word = line.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" && $0 != "\"" && $0 != "'" }
        return word.lowercased() == "auth"
    }

    /// Whether a line must not be stored: it is an `auth` command, or has what looks like a token.
    static func containsToken(_ line: String) -> Bool {
        isAuthentication(line) || line.firstRange(of: TokenSecret.prefix) != nil
    }

    /// The token of an `auth` line.
    static func token(of line: String) -> String? {
        guard isAuthentication(line) else { return nil }
        return CommandText.tokens(line).dropFirst().first?.text
    }

    /// Masks everything that looks like a token, and a known secret.
    static func masked(_ text: String, _ secret: String? = nil) -> String {
        // All at once, because the secret may occur in the mask itself.
        let text = secret.map { $0.isEmpty ? text : text.replacing($0, with: mask) } ?? text
        guard text.firstRange(of: TokenSecret.prefix) != nil else { return text }
        return maskedByForm(text)
    }

    private static let mask = "(token)"

    private static func maskedByForm(_ text: String) -> String {
        var (result, rest) = ("", text[...])
        while let found = rest.firstRange(of: TokenSecret.prefix) {
            let tail = rest[found.upperBound...]
            let word = tail.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            result += rest[..<found.lowerBound]
            // A short word is an example; a long one is, or was, a token.
            result += word.count >= 16 ? mask : TokenSecret.prefix + word
            rest = rest[word.endIndex...]
        }
        return result + rest
    }
}

extension Answer {
    /// A copy with a token masked, which only a hostile server repeats.
    func masked(_ secret: String) -> Answer {
        Answer(
            body: body.map { Secrets.masked($0, secret) }, status: Secrets.masked(status, secret), isRefusal: isRefusal)
    }
}

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
