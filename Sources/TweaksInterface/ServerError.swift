// Says why a server cannot serve.

import Tweaks

/// Why the server cannot start.
public struct ServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Names the subject, what is wrong, and the remedy.
    public let description: String
    /// Whether another process holds the place.
    package let isTaken: Bool

    package init(_ description: String, isTaken: Bool = false) {
        // Paths and variables are quoted in it, and these hold anything.
        self.description = Quoting.sanitizedLines(description)
        self.isTaken = isTaken
    }
}
