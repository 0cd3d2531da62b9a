// Defines the action of an HTTP request, before its rights are checked.

import TweaksWire

/// The action that a request asks for.
enum PanelAction: Equatable, Sendable {
    /// The page itself.
    case page
    /// A style, a module or an image of the page, by its name and the version in its address.
    case file(String, version: String)
    /// The description of the API.
    case openAPI
    /// A browser signs in with a token, or a page proves an earlier sign-in.
    case login(PanelLogin)
    /// Ends the sign-in of a browser.
    case logout
    /// Requests of the protocol, one after the other.
    case script(PanelScript)
    /// An endless stream of events: a snapshot of the tweaks that match the patterns, then each change.
    case events(patterns: [String], lastID: String?)
}

/// A step of a sign-in, or of a page that proves an earlier one.
enum PanelLogin: Equatable, Sendable {
    /// The first message of SCRAM, and the last one.
    case begin(String), finish(String)
    /// A program requests a challenge; or a page, which first wants the proof that the server knows its key, too.
    case challenge, prove(SignIn.Key, nonce: String)
    /// Either answers its challenge.
    case answer(String, [UInt8])
}

/// Requests of the protocol with one response; the first error ends the script, and is the response.
struct PanelScript: Equatable, Sendable {
    /// The content of the response.
    enum Output: Equatable, Sendable {
        /// The reply to the last request.
        case last
        /// The fields of all replies, and the items of all in one list.
        case all
        /// The reply to the last request as lines of text, as `export` prints them.
        case text
    }

    var requests: [Request]
    var output = Output.last
    /// The requests are a batch, from `begin` to `commit`: if one fails, none takes effect.
    var isBatch = false
    /// The response waits for the disk. False while a slider is dragged, and true for its final value.
    var waitsForDisk = true

    init(_ requests: [Request], output: Output = .last) { (self.requests, self.output) = (requests, output) }
}
