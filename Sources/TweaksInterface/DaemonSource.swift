// Defines where desired values come from beside the config file: sources, which another module opens.

package import Tweaks

extension TweakDaemon {
    /// A source of desired values for many processes, such as a fleet in etcd: `sources: [.etcd()]` with the module
    /// `TweaksFleet`. Its values lie above those of the config file, and below overrides.
    public struct Source: Sendable {
        package let open: @Sendable (SourceContext) throws(ServerError) -> (any RunningSource)?

        /// - Parameter open: Makes a source that runs, or nothing where none is configured.
        package init(open: @escaping @Sendable (SourceContext) throws(ServerError) -> (any RunningSource)?) {
            self.open = open
        }
    }
}

/// What a daemon tells its sources when it opens them.
package struct SourceContext: Sendable {
    /// The daemon's name.
    package let name: String
    package let registry: TweakRegistry
    package let environment: [String: String]
    /// Where files can be kept; nil where nothing is kept, or another process has the directory.
    package let directory: String?
    /// Logs an event of the source.
    package let log: @Sendable (TweakDaemonEvent) -> Void

    package init(
        name: String, registry: TweakRegistry, environment: [String: String], directory: String?,
        log: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        (self.name, self.registry, self.environment) = (name, registry, environment)
        (self.directory, self.log) = (directory, log)
    }
}

/// A source of a daemon that runs.
package protocol RunningSource: Sendable {
    /// Applies the last good state from disk; called once, before the sockets are open.
    func applyKept()
    /// Starts to follow.
    func start()
    /// Stops, and returns when nothing of it runs.
    func stop()
    /// Its figures in `stats`.
    var figures: [(String, JSON)] { get }
}
