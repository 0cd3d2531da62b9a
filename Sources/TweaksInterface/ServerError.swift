// Describes why a server cannot start.

import Tweaks

/// Why the server cannot start.
public struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Names the subject, what is wrong, and the remedy.
    public let description: String
    /// Whether another process holds the socket or port.
    package let isTaken: Bool
    /// Whether this machine does not let this user have a socket there; another place may do.
    package let isUnavailable: Bool

    package init(_ description: String, isTaken: Bool = false, isUnavailable: Bool = false) {
        // The text quotes paths and variables, which can contain any characters.
        self.description = Quoting.sanitizedLines(description)
        self.isTaken = isTaken
        self.isUnavailable = isUnavailable
    }
}
