// What an HTTP request comes to, before anybody is asked whether it may.

import TweaksWire

/// What is to be done.
enum PanelAction: Equatable, Sendable {
    /// The page itself.
    case page
    /// What the API can do.
    case openAPI
    /// The token in the body becomes a cookie.
    case login(token: String)
    /// The cookie is forgotten.
    case logout
    /// Requests of the protocol, one after the other.
    case script(PanelScript)
    /// A stream of events that does not end: everything that matches the patterns, then each change.
    case events(patterns: [String], lastID: String?)
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
    /// Where requests come from a text: the line of each, by its position. An error names it.
    var lines: [Int: Int] = [:]

    init(_ requests: [Request], shows: Shows = .last) { (self.requests, self.shows) = (requests, shows) }
}
