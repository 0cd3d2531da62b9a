// Declares what a daemon needs of its panel, so that it does not need the module of the panel.

import TweaksInterface

/// A front whose address is said by the daemon, and which keeps things in the daemon's state directory.
package protocol DaemonFront: ServerFront {
    /// Takes up what an earlier run has kept. Called before it listens, and only in the process that holds the
    /// directory's lock.
    func resume(from directory: String, complain: @escaping @Sendable (String) -> Void)

    /// Keeps from now on what is to outlive a restart. Called once the server listens.
    /// - Parameters:
    ///   - directory: The state directory; nil where there is none.
    ///   - hasTokenFile: The daemon takes tokens of a file, too.
    ///   - complain: Told of trouble with the files.
    ///   - whenRotated: Told of each new token of its own, on the I/O thread.
    func keep(
        in directory: String?, _ server: TweakServer, hasTokenFile: Bool,
        complain: @escaping @Sendable (String) -> Void, whenRotated: @escaping @Sendable () -> Void)

    /// What the line says that tells where to connect; nil where it does not listen.
    /// - Parameter isOnTerminal: The line goes to a person, and not to a log.
    func text(for server: TweakServer, isOnTerminal: Bool, hasTokens: Bool) -> String?

    /// Takes back what was said. Called before the server stops.
    func retract(from server: TweakServer)

    /// Returns when everything is written. Called after the server has stopped.
    func finish()
}
