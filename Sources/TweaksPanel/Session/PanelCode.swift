// Makes the one-time codes that sign browsers in.

import TweaksWire

/// A code: the password of one sign-in by SCRAM, which does not send it. It is in the address that users open, which
/// browsers keep in their session files; once it is used, it is worth nothing there.
struct PanelCode {
    let text: String
    let verifier: ScramVerifier

    /// Makes a code of 128 random bits, which cannot be guessed. The page tells it from a token by its 22 letters; with a
    /// port of four digits, the address fits into a line of a terminal.
    init() {
        var generator = SystemRandomNumberGenerator()
        text = Base64.encodeForURL((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        verifier = ScramVerifier(token: text)
    }
}
