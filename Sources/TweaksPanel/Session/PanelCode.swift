// Makes the one-time codes that sign browsers in.

import TweaksWire

/// A code: the password of one sign-in by SCRAM, which does not send it. It is in the address that users open, which
/// browsers keep in their session files; once it is used, it is worth nothing there.
struct PanelCode {
    /// The prefix by which the page and its readers tell a code from a token.
    static let prefix = "twc_"

    let text: String
    let verifier: ScramVerifier

    /// Makes a code of 144 random bits, which cannot be guessed.
    init() {
        text = Self.prefix + Scram.makeNonce()
        verifier = ScramVerifier(token: text)
    }
}
