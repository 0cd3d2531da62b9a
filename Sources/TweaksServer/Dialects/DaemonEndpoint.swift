// Declares what a daemon needs of its panel, so that it does not import the panel's module.

import TweaksInterface

/// An endpoint whose address the daemon announces, and which stores files in the daemon's state directory.
package protocol DaemonEndpoint: Endpoint {
    /// Restores what an earlier run has stored. Called before it listens, and only in the process that holds the
    /// directory's lock.
    func restore(from directory: String, reportProblem: @escaping @Sendable (String) -> Void)

    /// Starts to store what must survive a restart. Called once the server listens.
    /// - Parameters:
    ///   - directory: The state directory; nil if there is none.
    ///   - hasTokenFile: Whether the daemon also accepts tokens from a file.
    ///   - reportProblem: Called with problems with the files.
    ///   - announce: Called on the I/O thread with news for the log: a new token of its own, or the next address where
    ///     no file has it.
    func persist(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        reportProblem: @escaping @Sendable (String) -> Void, announce: @escaping @Sendable (String) -> Void)

    /// The text to show where clients can connect; nil if it does not listen.
    /// - Parameter isOnTerminal: Whether the text goes to a terminal rather than a log.
    func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String?

    /// Writes the file of the announcement again if something has removed it. Called on the I/O thread, which must not
    /// wait for a disk.
    /// - Parameter report: Called later, with what was done; not if the file is there, or was never written.
    func restoreAnnouncement(for server: TweakServer, report: @escaping @Sendable (String) -> Void)

    /// Withdraws what was announced. Called before the server stops.
    func withdraw(from server: TweakServer)

    /// Waits until everything is written. Called after the server has stopped.
    func finish()
}
