// What an HTTP request comes to, before anybody is asked whether it may.

import TweaksWire

/// What is to be done.
enum PanelAction: Equatable, Sendable {
    /// The page itself.
    case page
    /// A style, a module or a picture of the page, by its name and the version that the page names.
    case file(String, version: String)
    /// What the API can do.
    case openAPI
    /// A browser shows that it knows a token, or that it has done so before.
    case login(PanelLogin)
    /// The sign-in of a browser ends.
    case logout
    /// Requests of the protocol, one after the other.
    case script(PanelScript)
    /// A stream of events that does not end: everything that matches the patterns, then each change.
    case events(patterns: [String], lastID: String?)
}

/// A step of a browser that signs in, or of a page that is loaded where one is signed in.
enum PanelLogin: Equatable, Sendable {
    /// The first message of SCRAM, and the last one.
    case begin(String), finish(String)
    /// A page wants to be asked for its sign-in; and its answer.
    case ask, answer(String, [UInt8])
}

/// Requests of the protocol that make one answer; the first that fails ends it, and is the answer.
struct PanelScript: Equatable, Sendable {
    /// What is answered.
    enum Shows: Equatable, Sendable {
        /// The reply to the last one.
        case last
        /// The fields of all, and the items of all in one list.
        case all
        /// The reply to the last one as lines of text, as `export` prints them.
        case text
    }

    var requests: [Request]
    var shows = Shows.last
    /// Of several, the last one alone makes the change, and the ones before are taken back if one fails: `begin`.
    var isBatch = false
    /// The answer waits for the disk. A slider under way does not ask for that; its end does.
    var waitsForDisk = true

    init(_ requests: [Request], shows: Shows = .last) { (self.requests, self.shows) = (requests, shows) }
}
